//! Recordings and probes contain exactly the images that were on screen.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};

use expect_test::expect;
use proptest::prelude::*;

use super::stage::{options, plan};
use crate::backend::headless::grid::RecordedRefresh;
use crate::backend::headless::panel_watch::ScreenTime;
use crate::backend::headless::record::{ProbeLog, Recording, RecordingError};
use crate::backend::headless::{HeadlessBackend, HeadlessOutput, OutputOptions};
use crate::backend::{BufferStorage, Display, FrameId, PixelBuffer, PixelRect, PlanChange, VideoMode};
use upbeat_record::recording::{
    ImageSink, PngFolder, RecordedImage, RecordingTotals, RowTimes, StreamError, StreamFile, StreamReader,
};
use upbeat_timing::time::{Instant, SimulatedClock, Span};

/// 10 ms a refresh.
const MODE: VideoMode = VideoMode { width: 5, height: 3, refresh: 100_000 };

/// An output on a clock that the test advances.
struct Studio {
    clock: Rc<SimulatedClock>,
    _backend: HeadlessBackend,
    output: HeadlessOutput,
}

impl Studio {
    fn new() -> Self {
        let clock = Rc::new(SimulatedClock::default());
        let mut backend = HeadlessBackend::with_clock(clock.clone()).expect("a backend");
        let options = OutputOptions { front_buffer: true, ..options() };
        let output = backend.add_output("HEADLESS-1", MODE, options).expect("an output");
        Studio { clock, _backend: backend, output }
    }

    /// Composes a picture and waits until it is on screen; `pixel` returns a pixel's colour by its index.
    fn show(&mut self, frame: u64, pixel: impl Fn(u32) -> u32) {
        let mut buffer = self.output.acquire().expect("a free buffer");
        let BufferStorage::Memory(memory) = &mut buffer.storage else { panic!("not in memory") };
        (0..).zip(&mut memory.pixels).for_each(|(index, to)| *to = pixel(index));
        let plan = plan(frame, PlanChange::Compose { buffer, damage: Vec::new() });
        self.output.submit(plan).map_err(|(error, _)| error).expect("taken");
        self.clock.set(self.output.next_event().expect("a frame waits"));
        self.output.dispatch();
    }

    fn wait(&self, millis: i64) {
        self.clock.advance(Span::from_millis(millis));
        self.output.dispatch();
    }
}

fn colours(frame: u32) -> impl Fn(u32) -> u32 {
    move |index| if index % 5 < frame { 0x0011_0000 * frame + index } else { 0x0000_00ff }
}

#[test]
fn a_folder_holds_each_image_that_was_on_screen_and_when() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut studio = Studio::new();
    let recording =
        Recording::start(&studio.output, PngFolder::create(folder.path()).expect("a sink")).expect("a recorder");
    for frame in 1..=3 {
        studio.show(u64::from(frame), colours(frame));
        studio.wait(i64::from(frame) * 10 + 2);
    }
    studio.show(4, colours(3));
    studio.wait(5);
    assert_eq!(recording.finish().expect("recorded"), RecordingTotals { recorded: 4, dropped: 0 });
    let index = fs::read_to_string(folder.path().join("index.jsonl")).expect("an index");
    expect![[r#"
        {"refresh":1,"present_ns":10000000,"until_ns":30000000,"frame":1,"file":"00000001.png","dropped_before":0,"first_row_ns":10000000,"rows_ns":7500000}
        {"refresh":3,"present_ns":30000000,"until_ns":60000000,"frame":2,"file":"00000003.png","dropped_before":0,"first_row_ns":30000000,"rows_ns":7500000}
        {"refresh":6,"present_ns":60000000,"until_ns":100000000,"frame":3,"file":"00000006.png","dropped_before":0,"first_row_ns":60000000,"rows_ns":7500000}
        {"refresh":10,"present_ns":100000000,"until_ns":105000000,"frame":4,"file":"00000006.png","dropped_before":0,"first_row_ns":100000000,"rows_ns":7500000}
        {"recorded":4,"dropped":0}
    "#]]
    .assert_eq(&index);
    for (frame, line) in [1, 2, 3, 3].into_iter().zip(index.lines()) {
        let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let file = File::open(folder.path().join(entry["file"].as_str().expect("a name"))).expect("an image");
        let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a PNG");
        let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut rgb).expect("pixels");
        let expected: Vec<_> = (0..15).flat_map(|index| colours(frame)(index).to_be_bytes()[1..].to_vec()).collect();
        assert_eq!(rgb, expected);
    }
    assert!(PngFolder::create(folder.path()).is_err(), "a recording must not overwrite another");
}

#[test]
fn a_stream_holds_each_image_that_was_on_screen_and_when_across_a_change_of_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session.upbeat");
    let mut studio = Studio::new();
    let recording = Recording::start(&studio.output, StreamFile::create(&path).expect("a sink")).expect("a recorder");
    studio.show(1, colours(1));
    studio.show(2, colours(1));
    studio.wait(3);
    studio.output.set_mode(VideoMode { width: 2, ..MODE }).expect("a mode");
    studio.wait(40);
    studio.show(3, |index| index);
    studio.wait(4);
    assert_eq!(recording.finish().expect("recorded"), RecordingTotals { recorded: 3, dropped: 0 });
    let mut reader = StreamReader::new(BufReader::new(File::open(&path).expect("a file"))).expect("a stream");
    let mut seen = String::new();
    while let Some(image) = reader.next_image().expect("readable") {
        let RecordedImage { shown, pixels, .. } = image;
        let (first, width, frame) = (shown.first, pixels.width, shown.frame.0);
        seen += &format!("refresh {} {}..{}: frame {frame}, width {width}\n", first.sequence, first.time, shown.until);
        let expected: Vec<u32> =
            (0..).map(|n| if frame < 3 { colours(1)(n) } else { n }).take(pixels.pixels.len()).collect();
        assert_eq!(pixels.pixels, expected);
    }
    expect![[r#"
        refresh 1 10.000000ms..20.000000ms: frame 1, width 5
        refresh 2 20.000000ms..23.000000ms: frame 2, width 5
        refresh 8 73.000000ms..77.000000ms: frame 3, width 2
    "#]]
    .assert_eq(&seen);
    assert_eq!(reader.tally(), Some(RecordingTotals { recorded: 3, dropped: 0 }));
}

#[test]
fn a_recording_says_when_its_rows_are_lit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut studio = Studio::new();
    let beam = studio.output.capabilities().scan.expect("a scan");
    let mut recordings = Vec::new();
    let part = PixelRect { x: 1, y: 1, width: 2, height: 2 };
    for (index, part) in [None, Some(part)].into_iter().enumerate() {
        let path = folder.path().join(index.to_string());
        let sink = StreamFile::create(&path).expect("a sink");
        recordings.push((path, part, Recording::start_of(&studio.output, part, sink).expect("a recorder")));
    }
    studio.show(1, colours(1));
    studio.wait(12);
    for (path, part, recording) in recordings {
        recording.finish().expect("recorded");
        let mut reader = StreamReader::new(BufReader::new(File::open(&path).expect("a file"))).expect("a stream");
        let image = reader.next_image().expect("readable").expect("an image");
        let (rows, start) = (image.rows.expect("times of rows"), image.shown.first.time);
        let top = part.map_or(0, |part| part.y);
        for row in 0..image.pixels.height {
            assert_eq!(
                rows.light(start, row, image.pixels.height),
                beam.line_start(start, top + row),
                "{part:?} {row}"
            );
        }
    }
}

/// A sink that blocks before each image until the test permits it, like a stuck disk.
struct StuckSink {
    leave: Receiver<()>,
    missing: u64,
}

impl ImageSink for StuckSink {
    fn image(&mut self, image: &RecordedImage) -> io::Result<()> {
        let _ = self.leave.recv();
        self.missing += image.dropped_before;
        Ok(())
    }

    fn finish(&mut self, tally: RecordingTotals) -> io::Result<()> {
        assert!(self.missing <= tally.dropped);
        Ok(())
    }
}

#[test]
fn a_stuck_disk_costs_images_and_no_frame_and_each_is_counted() {
    let (leave, stuck) = channel();
    let mut studio = Studio::new();
    let recording = Recording::start(&studio.output, StuckSink { leave: stuck, missing: 0 }).expect("a recorder");
    for frame in 1..=30 {
        studio.show(frame, colours(1)); // would not return if anything waited for the sink
    }
    assert_eq!(recording.tally(), RecordingTotals { recorded: 0, dropped: 29 - 8 }, "eight may be on their way");
    drop(leave);
    let tally = recording.finish().expect("recorded");
    assert_eq!(tally.recorded + tally.dropped, 30, "and the last one came from the screen");
    assert!(tally.recorded >= 8, "the queued images are recorded: {tally:?}");
}

/// A sink that fails after two images, like a full disk.
struct FullDisk(u32);

impl ImageSink for FullDisk {
    fn image(&mut self, _: &RecordedImage) -> io::Result<()> {
        self.0 += 1;
        if self.0 > 2 { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    }

    fn finish(&mut self, _: RecordingTotals) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_ends_the_recording_with_its_reason_and_count() {
    let mut studio = Studio::new();
    let recording = Recording::start(&studio.output, FullDisk(0)).expect("a recorder");
    (1..=5).for_each(|frame| studio.show(frame, colours(1)));
    let Err(RecordingError::Sink { tally, message }) = recording.finish() else { panic!("it did not fail") };
    assert_eq!((tally, message.as_str()), (RecordingTotals { recorded: 2, dropped: 3 }, "no storage space"));
}

#[test]
fn a_probe_tells_when_a_place_on_the_panel_changes_and_when_its_row_was_lit() {
    let mut studio = Studio::new();
    let (log, probe) = ProbeLog::new(PixelRect { x: 4, y: 2, width: 9, height: 9 }, 2);
    studio.output.add_watch(probe);
    studio.show(1, |_| 7);
    studio.show(2, |index| if index == 14 { 7 } else { 8 }); // the corner is as it was
    studio.show(3, |index| index);
    let first = log.pop().expect("a sample");
    assert_eq!((first.refresh.sequence, &first.pixels[..]), (1, &[7][..]));
    let rows_above = first.light.since(first.refresh.time);
    assert!(rows_above > Span::ZERO && rows_above < MODE.interval(), "row 2 is lit after row 0: {rows_above}");
    let second = log.pop().expect("a sample");
    assert_eq!((second.refresh.sequence, &second.pixels[..], log.pop()), (3, &[14][..], None));

    // Written into the front buffer ahead of the beam: the same refresh gets a second sample that replaces the first.
    studio.show(4, |_| 1);
    let rect = PixelRect { x: 4, y: 2, width: 1, height: 1 };
    studio
        .output
        .submit(plan(5, PlanChange::FrontRectangle { rect, pixels: vec![9] }))
        .map_err(|e| e.0)
        .expect("taken");
    let sample = log.pop().expect("a sample");
    assert_eq!((sample.refresh.sequence, &sample.pixels[..], log.pop()), (4, &[9][..], None));
    (6..9).for_each(|frame| studio.show(frame, |_| frame as u32));
    assert_eq!((log.forgotten(), log.pop().map(|sample| sample.pixels)), (1, Some(vec![7])));
}

fn recorded(images: &[(u64, u64, u32)]) -> Vec<RecordedImage> {
    let image = |&(gap, duration, colour): &(u64, u64, u32)| {
        let first = RecordedRefresh { time: Instant::from_nanos(gap), sequence: gap / 3 };
        let until = first.time + Span::from_nanos(duration as i64);
        let (width, height) = if colour % 5 == 0 { (7, 2) } else { (3, 4) };
        let pixels = (0..(width * height) as u32).map(|n| if n % 3 == 0 { colour } else { n }).collect();
        let shown = ScreenTime { first, until, frame: FrameId(gap / 2) };
        let rows = RowTimes {
            first: Span::from_nanos(gap as i64 % 7),
            active: Span::from_nanos((duration % 1_000_000_000) as i64),
        };
        RecordedImage {
            shown,
            rows: Some(rows),
            dropped_before: duration % 3,
            pixels: PixelBuffer { width, height, pixels },
        }
    };
    images.iter().map(image).collect()
}

fn stream(images: &[RecordedImage], tally: Option<RecordingTotals>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = StreamFile::new(&mut bytes).expect("a stream");
    images.iter().for_each(|image| file.image(image).expect("written"));
    tally.into_iter().for_each(|tally| file.finish(tally).expect("written"));
    drop(file);
    bytes
}

fn read(bytes: &[u8]) -> Result<(Vec<RecordedImage>, Option<RecordingTotals>), StreamError> {
    let mut reader = StreamReader::new(bytes)?;
    let mut images = Vec::new();
    while let Some(image) = reader.next_image()? {
        images.push(image.clone());
    }
    Ok((images, reader.tally()))
}

fn images() -> impl Strategy<Value = Vec<RecordedImage>> {
    let image = (any::<u64>(), 0..u64::MAX / 4, 0u32..0x00ff_ffff);
    let image = image.prop_map(|(present, duration, colour)| (present / 2, duration, colour));
    prop::collection::vec(image, 0..6).prop_map(|images| recorded(&images))
}

proptest! {
    #[test]
    fn a_stream_reads_as_it_was_written(images in images(), dropped in any::<u64>()) {
        let tally = RecordingTotals { recorded: images.len() as u64, dropped };
        prop_assert_eq!(read(&stream(&images, Some(tally))).expect("readable"), (images, Some(tally)));
    }

    #[test]
    fn a_stream_that_was_cut_off_is_good_up_to_there(images in images(), cut in 8usize..4_000) {
        let whole = stream(&images, Some(RecordingTotals::default()));
        let (before, tally) = read(&whole[..cut.min(whole.len() - 1)]).expect("readable");
        prop_assert_eq!(tally, None);
        prop_assert_eq!(&images[..before.len()], &before);
    }

    #[test]
    fn a_damaged_stream_is_an_error_or_another_stream_and_never_a_panic(
        images in images(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = stream(&images, None);
        damage.iter().for_each(|(index, byte)| *index.get_mut(&mut bytes) = *byte);
        let _ = read(&bytes);
    }
}

#[test]
fn a_file_of_another_kind_or_version_is_refused_with_the_reason() {
    let error = |bytes: &[u8]| read(bytes).expect_err("refused").to_string();
    assert_eq!(error(b"\x89PNG\r\n\x1a\n"), "this is not a recording (it does not start with UPBEATR)");
    assert_eq!(error(b"UPB"), "this is not a recording (it does not start with UPBEATR)");
    assert_eq!(error(b"UPBEATR\x02"), "the recording has format 2; this program reads format 1");
    assert_eq!(
        error(b"UPBEATR\x01\x01\x02\0\0\0\x05\0"),
        "the recording is damaged at byte 8: the size is cut off or out of range"
    );
}
