//! Measures input→light from recorded pixels, and checks `wp_presentation` against them. Pure, but for reading the two
//! files.
//!
//! ```text
//!  probe     ── journal: input 7 injected at t₇ · frame 42 reported at refresh 311 ──┐
//!                                                                                   ├─▶ same refresh, same time?
//!  display   ── recording: refresh 311 at time T shows the code (frame 42, event 7) ─┘   t₇ → T is input→light
//! ```
//!
//! The virtual display records its scan-out, and the client writes a journal of the events that it received. The two
//! have nothing in common but the clock.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::block_code::{BLOCK, BlockCode, HEIGHT, PixelView};
use crate::statistics::Quantiles;
use upbeat_record::pixels::PixelBuffer;
use upbeat_record::recording::RecordedImage;
use upbeat_record::recording::stream::{StreamError, StreamReader};
use upbeat_timing::time::{Instant, Span};

/// Rows from the top of a window's first band to the top of its second: the probe's window is three bands high.
const SECOND_BAND: usize = 2 * HEIGHT;

/// Inputs and frames of the probe, as `upbeat bench probe --journal` writes them (JSON). Times are on the monotonic
/// clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeJournal {
    /// The inputs injected while the measured frames were drawn, in order.
    pub inputs: Vec<InjectedInput>,
    /// The measured frames that were presented, in the order of their commits.
    pub frames: Vec<ReportedFrame>,
    /// Numbers of the measured frames that the compositor reported as discarded.
    pub discarded: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectedInput {
    pub event: u32,
    /// When the injector sent it.
    pub at: Instant,
}

/// A frame and its `wp_presentation` feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFrame {
    /// Its number, as drawn in its code.
    pub frame: u32,
    /// Start of the first scan-out of this frame.
    pub at: Instant,
    /// The display's refresh counter at `at`.
    pub sequence: u64,
}

/// Result of the comparison of pixels with `wp_presentation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PixelCheck {
    /// Number of compared frames.
    pub frames: u64,
    /// Frames for which the pixels contradict `wp_presentation`: shown at another refresh or another time, reported but
    /// not shown, or shown but reported as discarded.
    pub disagree: u64,
    /// Frames that cannot be compared, because the recorder dropped the images that would show them.
    pub unrecorded: u64,
    /// From the injection of an input to the first refresh whose pixels show it or a later input, in ms.
    pub input_to_light_ms: Option<Quantiles>,
}

/// Why the pixels cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum PixelError {
    /// One of the files cannot be read.
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    /// The journal is not valid JSON of this shape.
    #[error("the probe's journal cannot be read: {0}")]
    Journal(#[from] serde_json::Error),
    /// The recording is damaged.
    #[error(transparent)]
    Recording(#[from] StreamError),
    /// The recording breaks off.
    #[error("the recording has no end: it was cut off")]
    CutOff,
    /// The recording was made by a version that did not write the times of rows.
    #[error("the recording does not say when its rows are lit: record it again")]
    NoRowTimes,
}

/// Compares the recording of a session with the journal of the probe in it.
pub fn check_files(recording: &Path, journal: &Path) -> Result<PixelCheck, PixelError> {
    let open = |path: &Path| {
        File::open(path).map(BufReader::new).map_err(|source| PixelError::File { path: path.to_owned(), source })
    };
    let journal: ProbeJournal = serde_json::from_reader(open(journal)?)?;
    Ok(Sightings::read(StreamReader::new(open(recording)?)?)?.check(&journal))
}

/// The first image with a given code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sighting {
    code: BlockCode,
    at: Instant,
    sequence: u64,
}

/// All codes in a recording, in the order in which they came on screen, and where the recording has gaps.
#[derive(Debug, Default)]
struct Sightings {
    codes: Vec<Sighting>,
    /// Times without an image: from inclusive, to exclusive.
    gaps: Vec<(Instant, Instant)>,
    /// The window's last known position: searched first.
    place: Option<(usize, usize)>,
    end: Option<Instant>,
}

impl Sightings {
    fn read(mut recording: StreamReader<impl Read>) -> Result<Self, PixelError> {
        let mut sightings = Sightings::default();
        while let Some(image) = recording.next_image()? {
            sightings.look_at(image);
        }
        recording.tally().map(|_| sightings).ok_or(PixelError::CutOff)
    }

    fn look_at(&mut self, image: &RecordedImage) {
        let first = image.shown.first;
        if image.dropped_before > 0 {
            self.gaps.push((self.end.unwrap_or(Instant::ZERO), first.time));
        }
        self.end = Some(image.shown.until);
        let Some(code) = self.code_in(&image.pixels) else { return };
        if self.codes.last().is_none_or(|last| last.code != code) {
            self.codes.push(Sighting { code, at: first.time, sequence: first.sequence });
        }
    }

    /// The code of the probe's window; `None` without a window, or when its two bands differ (torn).
    fn code_in(&mut self, pixels: &PixelBuffer) -> Option<BlockCode> {
        let width = usize::try_from(pixels.width).ok()?;
        let picture = PixelView { pixels: &pixels.pixels, width, stride: width };
        let at = |(left, top): (usize, usize)| BlockCode::read(&picture, left, top).ok();
        let (place, code) = match self.place.and_then(|place| Some((place, at(place)?))) {
            Some(found) => found,
            None => BlockCode::find(&picture).map(|(left, top, code)| ((left, top), code))?,
        };
        self.place = Some(place);
        at((place.0, place.1 + SECOND_BAND)).filter(|second| *second == code)
    }

    fn check(&self, journal: &ProbeJournal) -> PixelCheck {
        let mut first: HashMap<u32, Sighting> = HashMap::new();
        for sighting in &self.codes {
            first.entry(sighting.code.frame).or_insert(*sighting);
        }
        let mut check = PixelCheck { frames: journal.frames.len() as u64, ..PixelCheck::default() };
        for reported in &journal.frames {
            let seen = first.get(&reported.frame);
            if seen.is_some_and(|seen| (seen.at, seen.sequence) == (reported.at, reported.sequence)) {
                continue;
            }
            // A later image of the same frame does not tell when the frame was shown first.
            let is_lost = self.gaps.iter().any(|(from, to)| (*from..*to).contains(&reported.at))
                && seen.is_none_or(|seen| seen.at > reported.at);
            check.unrecorded += u64::from(is_lost);
            check.disagree += u64::from(!is_lost);
        }
        check.disagree += journal.discarded.iter().filter(|frame| first.contains_key(frame)).count() as u64;
        check.input_to_light_ms = Quantiles::of(self.input_to_light(&journal.inputs));
        check
    }

    /// For each input the time to the first image with it or a later input. Left out: inputs that no image shows, and
    /// inputs whose first image may be missing.
    fn input_to_light(&self, inputs: &[InjectedInput]) -> Vec<Span> {
        let mut codes = self.codes.iter().peekable();
        let mut latencies = Vec::new();
        for input in inputs {
            while codes.next_if(|sighting| sighting.code.event < input.event).is_some() {}
            let Some(sighting) = codes.peek() else { break };
            if !self.gaps.iter().any(|(from, to)| *to >= input.at && *from < sighting.at) {
                latencies.push(sighting.at - input.at);
            }
        }
        latencies
    }
}

const _: () = assert!(SECOND_BAND.is_multiple_of(BLOCK), "the second band lies on the grid of blocks");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_code::WIDTH;
    use upbeat_record::recording::RecordedRefresh;
    use upbeat_record::recording::ScreenTime;
    use upbeat_timing::id::FrameId;

    const SCREEN: (usize, usize) = (400, 300);
    const PLACE: (usize, usize) = (40, 17);

    fn at(millis: i64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// An image of refresh `sequence`, 10 ms long, with the window's upper and lower band.
    fn image(sequence: u64, upper: BlockCode, lower: BlockCode) -> RecordedImage {
        let mut pixels = PixelBuffer::new(SCREEN.0 as i32, SCREEN.1 as i32);
        for (code, offset) in [(upper, 0), (lower, SECOND_BAND)] {
            let mut band = vec![0; WIDTH * HEIGHT];
            code.draw(&mut band, WIDTH, 0);
            for (y, row) in band.chunks(WIDTH).enumerate() {
                pixels.pixels[(PLACE.1 + offset + y) * SCREEN.0 + PLACE.0..][..WIDTH].copy_from_slice(row);
            }
        }
        let time = at(10 * sequence as i64);
        let shown = ScreenTime {
            first: RecordedRefresh { time, sequence },
            until: time + Span::from_millis(10),
            frame: FrameId(sequence),
        };
        RecordedImage { shown, rows: None, dropped_before: 0, pixels }
    }

    fn shows(sequence: u64, frame: u32, event: u32) -> RecordedImage {
        image(sequence, BlockCode { frame, event }, BlockCode { frame, event })
    }

    fn seen(images: &[RecordedImage]) -> Sightings {
        let mut sightings = Sightings::default();
        images.iter().for_each(|image| sightings.look_at(image));
        sightings
    }

    fn reported(frame: u32, sequence: u64) -> ReportedFrame {
        ReportedFrame { frame, at: at(10 * sequence as i64), sequence }
    }

    fn journal(frames: &[ReportedFrame]) -> ProbeJournal {
        ProbeJournal { frames: frames.to_vec(), ..ProbeJournal::default() }
    }

    fn verdict(images: &[RecordedImage], journal: &ProbeJournal) -> (u64, u64) {
        let check = seen(images).check(journal);
        (check.disagree, check.unrecorded)
    }

    #[test]
    fn frames_that_are_where_they_were_reported_agree() {
        let images = [shows(1, 1, 0), shows(2, 1, 0), shows(3, 2, 0)];
        assert_eq!(verdict(&images, &journal(&[reported(1, 1), reported(2, 3)])), (0, 0));
    }

    #[test]
    fn a_refresh_too_early_too_late_or_never_is_a_disagreement() {
        let images = [shows(1, 1, 0), shows(2, 2, 0), shows(3, 4, 0)];
        let claims = [reported(1, 2), reported(2, 1), reported(3, 3), reported(4, 3)];
        assert_eq!(verdict(&images, &journal(&claims)), (3, 0));
    }

    #[test]
    fn a_frame_that_was_shown_and_called_discarded_is_a_disagreement() {
        let claims = ProbeJournal { discarded: vec![2, 3], ..journal(&[reported(1, 1)]) };
        assert_eq!(verdict(&[shows(1, 1, 0), shows(2, 2, 0)], &claims), (1, 0));
    }

    #[test]
    fn a_torn_picture_shows_no_frame() {
        let torn = image(1, BlockCode { frame: 2, event: 0 }, BlockCode { frame: 1, event: 0 });
        assert_eq!(verdict(&[torn, shows(2, 2, 0)], &journal(&[reported(2, 1)])), (1, 0));
    }

    #[test]
    fn dropped_images_prove_nothing() {
        let after = RecordedImage { dropped_before: 1, ..shows(3, 3, 2) };
        let images = [shows(1, 1, 0), after, shows(4, 4, 3)];
        let inputs = [(1, 5), (2, 15), (3, 32)].map(|(event, ms)| InjectedInput { event, at: at(ms) }).to_vec();
        let claims = ProbeJournal { inputs, ..journal(&[reported(1, 1), reported(2, 2), reported(3, 3)]) };
        assert_eq!(verdict(&images, &claims), (0, 1));
        let latency = seen(&images).check(&claims).input_to_light_ms.unwrap();
        assert_eq!((latency.p50, latency.max), (8.0, 8.0));
    }

    #[test]
    fn an_input_is_lit_by_the_first_picture_with_it_or_a_later_one() {
        let images = [shows(1, 1, 0), shows(2, 2, 2), shows(4, 3, 3)];
        let inputs = [(1, 5), (2, 8), (3, 21), (4, 35)].map(|(event, ms)| InjectedInput { event, at: at(ms) });
        let latencies = seen(&images).input_to_light(&inputs);
        assert_eq!(latencies, [15, 12, 19].map(Span::from_millis));
    }
}
