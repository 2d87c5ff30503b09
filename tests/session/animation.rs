//! `examples/animation` in a recorded session. The pixels of every frame encode the time that it was drawn for. The
//! tests compare it with the time at which the frame was shown.
//!
//! ```text
//!  refresh       7     8     9    10    11    12    13
//!  represents    7     8     9     –    10    11    13       one drop
//!  behind        0     0     0          1     1     0        and back to 0 with the first target sent after it
//! ```
//!
//! A busy host makes frames late, and recordings lose images. On any host, frames are shown in order, no frame
//! represents a refresh in the future, and content is behind by no more than the drops before it.
//!
//! In the guest whose clock counts instructions (`tests/vm/content`) the bounds are exact. They hold from a program's
//! first frames on, when windows open slowly and memory is touched for the first time. A frame is behind by no more
//! refreshes than were dropped during the last `under_way` frames, because the frames that were being drawn then
//! recover by themselves. Nine of ten frames are exact.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use upbeat_bench::block_code::{BlockCode, PixelView};
use upbeat_record::recording::StreamReader;
use upbeat_timing::time::Span;

use crate::session::TestSession;
use crate::timed_figure::is_counted;

const FRAMES: u32 = 150;
/// Fewest frames of a useful recording.
const FEWEST: usize = 2;
/// Fewest exact frames of a program without the protocol, where times are exact.
const FEWEST_EXACT: usize = 10;
const INTERVAL: Span = Span::from_millihertz(60_000);
/// Tolerance around a whole refresh: twice the unit of time in the picture.
const EXACT: Span = Span::from_micros(200);
/// A program of `examples/`, built with the tests.
pub fn example(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_upbeat")).with_file_name("examples").join(name);
    assert!(program.exists(), "{} is missing: cargo build --examples", program.display());
    program
}

/// Runs an example in the session until it ends; returns its output.
pub fn play(session: &TestSession, name: &str, arguments: &[&str]) -> String {
    let output = Command::new(example(name))
        .args(arguments)
        .env("XDG_RUNTIME_DIR", session.directory.path())
        .env("WAYLAND_DISPLAY", "test")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

/// The first recorded image of a frame.
#[derive(Debug)]
struct RecordedFrame {
    frame: u32,
    sequence: u64,
    /// Time since the moment that the frame represents.
    age: Span,
    /// The recorder lost images before this image.
    after_gap: bool,
}

fn seen(path: &Path) -> Vec<RecordedFrame> {
    let mut recording = StreamReader::new(BufReader::new(File::open(path).unwrap())).unwrap();
    let (mut seen, mut place, mut gap): (Vec<RecordedFrame>, _, bool) = (Vec::new(), None, false);
    while let Some(image) = recording.next_image().unwrap() {
        gap |= image.dropped_before > 0;
        let width = image.pixels.width as usize;
        let picture = PixelView { pixels: &image.pixels.pixels, width, stride: width };
        let known =
            place.and_then(|(left, top)| BlockCode::read(&picture, left, top).ok().map(|code| (left, top, code)));
        let Some((left, top, code)) = known.or_else(|| BlockCode::find(&picture)) else { continue };
        place = Some((left, top));
        if seen.last().is_some_and(|last| last.frame == code.frame) {
            continue;
        }
        let (sequence, age) = (image.shown.first.sequence, code.age(image.shown.first.time));
        seen.push(RecordedFrame { frame: code.frame, sequence, age, after_gap: std::mem::take(&mut gap) });
    }
    seen
}

/// Runs an example in a recorded session; returns its output and the recorded frames.
fn recorded(name: &str, arguments: &[&str]) -> (String, Vec<RecordedFrame>) {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("film.rec");
    let session = TestSession::start(&["--output", "640x480@60", "--record-stream", film.to_str().unwrap()]);
    let frames = FRAMES.to_string();
    let said = play(&session, name, &[&["--frames", &frames], arguments].concat());
    assert!(session.quit().0.success());
    let seen = seen(&film);
    assert!(seen.len() > FEWEST, "only {} frames in the recording; {said}", seen.len());
    assert!(seen.is_sorted_by(|before, after| before.frame < after.frame), "frames are shown out of order");
    (said, seen)
}

impl RecordedFrame {
    /// Number of refreshes after its own refresh at which the frame was shown.
    fn refreshes_late(&self) -> i64 {
        let refreshes = (self.age.as_nanos() + INTERVAL.as_nanos() / 2).div_euclid(INTERVAL.as_nanos());
        let off = self.age - INTERVAL * refreshes;
        assert!(off.abs() < EXACT, "represents no refresh's time: {self:?}");
        refreshes
    }
}

/// Runs an example, and compares the recorded frames with the times that they represent. `under_way`: frames that are
/// drawn before the first of them is shown.
pub fn assert_content_matches_presentation(name: &str, arguments: &[&str], under_way: usize) {
    let (said, seen) = recorded(name, arguments);
    // A frame for a revoked target and a frame for its replacement may represent the same time.
    let twice = if !is_counted() && !said.contains(" 0 times revoked") { under_way as i64 } else { 0 };
    // Refreshes behind, and frames since the last drop. The first frame is unbounded, as if after a drop.
    let (mut behind, mut since, mut exact, mut most) = (i64::MAX, 0, 0, 0);
    let mut last = seen[0].sequence - 2;
    // Dropped refreshes before each of the last frames, newest first.
    let mut dropped = VecDeque::from([i64::MAX]);
    for (index, frame) in seen.iter().enumerate() {
        let refreshes = frame.refreshes_late();
        assert!(refreshes >= 0, "shown before its time: {frame:?}");
        let drops = (frame.sequence - last).saturating_sub(1) as i64;
        assert!(
            refreshes <= behind.saturating_add(drops + twice),
            "further behind than its drops explain: {frame:?}; {said}"
        );
        (since, behind) = if drops > 0 || frame.after_gap { (0, refreshes) } else { (since + 1, refreshes) };
        assert!(
            !is_counted() || refreshes == 0 || since <= under_way,
            "behind for too long: {:#?}; {said}",
            &seen[index.saturating_sub(8)..=index]
        );
        if index > 0 {
            dropped.push_front(if frame.after_gap { i64::MAX } else { drops });
        }
        dropped.truncate(under_way + 1);
        let lately = dropped.iter().fold(0, |sum: i64, drops| sum.saturating_add(*drops));
        assert!(
            !is_counted() || refreshes <= lately,
            "further behind than the {lately} recent drops: {frame:?}; {said}"
        );
        exact += usize::from(refreshes == 0);
        most = most.max(refreshes);
        if frame.after_gap {
            behind = i64::MAX;
        }
        last = frame.sequence;
    }
    println!("{arguments:?}: {exact} of {} frames exact, the rest up to {most} refreshes behind. {said}", seen.len());
    assert!(!is_counted() || exact > seen.len() * 9 / 10, "{exact} of {} are exact; {said}", seen.len());
}

#[test]
fn every_frame_drawn_ahead_represents_its_presentation_time() {
    assert_content_matches_presentation("animation", &["--pacing", "ahead", "--ahead", "3"], 3);
}

#[test]
fn content_recovers_from_a_drop_once_queued_frames_are_redrawn() {
    // Three frames of slack hide 50 ms; a frame of 55 ms costs a drop.
    assert_content_matches_presentation("animation", &["--pacing", "ahead", "--ahead", "3", "--heavy", "55"], 3);
}

#[test]
fn frame_drawn_just_in_time_represents_its_presentation_time() {
    assert_content_matches_presentation("animation", &["--pacing", "just-in-time"], 1);
}

#[test]
fn without_the_protocol_presentation_times_are_predicted() {
    let (said, seen) = recorded("animation", &["--predict"]);
    assert!(said.contains("0 times revoked"), "{said}");
    // From the first frames the program learns the phase of the refreshes and its frame cost. Noise of the machine
    // may repeat that.
    let exact = seen.iter().filter(|frame| frame.age.abs() < EXACT).count();
    println!("{exact} of {} frames are exact. {said}", seen.len());
    assert!(!is_counted() || exact > FEWEST_EXACT, "{exact} of {} frames are exact; {said}", seen.len());
}
