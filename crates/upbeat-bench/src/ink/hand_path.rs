//! Hand movements: recordings of devices, and a generated hand with a thousand reports a second. Pure.

use std::f64::consts::TAU;
use std::path::Path as File;
use std::str::FromStr;

use upbeat_lab::strokes::{self, StrokeRecording};
use upbeat_timing::input_prediction::PositionSample;
use upbeat_timing::time::{Instant, Span};

/// Name of the generated hand.
pub(super) const HAND: &str = "hand";
/// Name of the generated hand that moves up and down: only a narrow column is recorded, so recording costs little.
pub(super) const COLUMN: &str = "column";
/// Name of the generated hand that moves like a column's and counts its reports in `x`, a pixel each: so the pixel of a
/// follower tells which report it shows.
pub(super) const COMB: &str = "comb";
/// Reports of a comb until its `x` repeats.
pub(super) const COMB_REPORTS: i64 = 64;
/// Time between two reports of a generated hand.
const HAND_INTERVAL: Span = Span::from_millis(1);
/// Reach from the middle, as shares of the sheet. The periods of both axes differ, so no two rounds are the same; the
/// speed is that of a drawing hand (500 px/s).
const REACH: (f64, f64) = (0.30, 0.40);
const COLUMN_REACH: (f64, f64) = (0.02, 0.40);
const ROUND: (f64, f64) = (5.3, 3.5);
/// Largest share of the sheet that a recording covers.
const COVERED: f64 = 0.8;
/// Time between two strokes.
const PAUSE: Span = Span::from_millis(60);
/// Positions are rounded to Wayland's fixed-point numbers, because a client identifies a report by its position.
const UNIT: f64 = 256.0;

/// The device that the hand moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandDevice {
    Pointer,
    Finger,
    Pen,
}

/// A hand movement: `hand`, `column`, `comb`, or a file with the columns `t_us,x,y,state`.
#[derive(Clone, Debug, PartialEq)]
pub struct HandPath {
    pub(super) spec: String,
    recording: Option<StrokeRecording>,
}

impl FromStr for HandPath {
    type Err = strokes::StrokeError;

    fn from_str(spec: &str) -> Result<Self, Self::Err> {
        let recording = if [HAND, COLUMN, COMB].contains(&spec) { None } else { Some(strokes::read(File::new(spec))?) };
        Ok(HandPath { spec: spec.to_owned(), recording })
    }
}

/// A report of the device: its position at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HandReport {
    /// Since the start of the run.
    pub at: Span,
    pub x: f64,
    pub y: f64,
    /// First report of a stroke.
    pub begins: bool,
    /// Last report of a stroke.
    pub ends: bool,
}

impl HandPath {
    /// The name in tables: the file's name without folder and suffix.
    pub(super) fn name(&self) -> String {
        self.recording.as_ref().map_or_else(|| self.spec.clone(), |recording| recording.name.clone())
    }

    /// The device, from the file's name: `pen…` is a pen, `touch_…` and `fling…` are a finger. Touchpads and generated
    /// hands move the pointer.
    pub(super) fn device(&self) -> HandDevice {
        let name = self.name();
        let begins = |word: &str| name.starts_with(word);
        if begins("pen") {
            HandDevice::Pen
        } else if begins("touch_") || begins("fling") {
            HandDevice::Finger
        } else {
            HandDevice::Pointer
        }
    }

    /// Whether the hand is generated.
    pub(super) fn is_generated(&self) -> bool {
        self.recording.is_none()
    }

    /// The largest distance of the hand from the middle column, in pixels; `None` if it needs the whole width.
    fn narrow_reach(&self, width: usize) -> Option<usize> {
        match self.spec.as_str() {
            COLUMN => Some((width as f64 * COLUMN_REACH.0).ceil() as usize),
            COMB => Some(COMB_REPORTS as usize / 2),
            _ => None,
        }
    }

    fn generated(&self, size: (f64, f64), duration: Span) -> Vec<(Span, f64, f64)> {
        match self.spec.as_str() {
            COLUMN => hand(COLUMN_REACH, size, duration),
            COMB => comb(size, duration),
            _ => hand(REACH, size, duration),
        }
    }

    /// The first column and the number of columns that show the hand with `beside` pixels on each side. `None` if the
    /// hand needs the whole width.
    pub(super) fn columns(&self, width: usize, beside: usize) -> Option<(usize, usize)> {
        let half = self.narrow_reach(width)? + beside;
        let first = (width / 2).saturating_sub(half);
        Some((first, (2 * half).min(width - first)))
    }

    /// The reports of `duration` on a sheet of `size` pixels; a recording repeats.
    pub(super) fn reports(&self, size: (f64, f64), duration: Span) -> Vec<HandReport> {
        let strokes = match &self.recording {
            Some(recording) => fitted(recording, size),
            None => vec![self.generated(size, duration)],
        };
        let mut reports: Vec<HandReport> = Vec::new();
        let mut start = Span::ZERO;
        while start < duration {
            let before = reports.len();
            for stroke in strokes.iter().filter(|stroke| stroke.len() > 1) {
                start = add(&mut reports, stroke, start) + PAUSE;
            }
            if reports.len() == before {
                break;
            }
        }
        let last = reports.partition_point(|report| report.at < duration);
        reports.truncate(last);
        if let Some(last) = reports.last_mut() {
            last.ends = true;
        }
        reports
    }
}

/// Adds a stroke that begins at `start`, and returns its end. Reports without movement are left out, as devices do.
fn add(reports: &mut Vec<HandReport>, stroke: &[(Span, f64, f64)], start: Span) -> Span {
    let rounded = |value: f64| (value * UNIT).round() / UNIT;
    let first = reports.len();
    for &(at, x, y) in stroke {
        let report =
            HandReport { at: start + at, x: rounded(x), y: rounded(y), begins: reports.len() == first, ends: false };
        let moved = reports.last().is_none_or(|last| (last.x, last.y) != (report.x, report.y));
        if moved || report.begins {
            reports.push(report);
        }
    }
    match reports.last_mut() {
        Some(last) => {
            last.ends = true;
            last.at
        }
        None => start,
    }
}

fn hand(far: (f64, f64), (width, height): (f64, f64), duration: Span) -> Vec<(Span, f64, f64)> {
    let count = duration.as_nanos() / HAND_INTERVAL.as_nanos();
    let swing = |middle: f64, reach: f64, round: f64, seconds: f64| {
        middle * (1.0 + 2.0 * reach * (TAU * seconds / round).sin())
    };
    let report = |index: i64| {
        let at = HAND_INTERVAL * index;
        let seconds = at.as_seconds_f64();
        let x = swing(width / 2.0, far.0, ROUND.0, seconds);
        (at, x, swing(height / 2.0, far.1, ROUND.1, seconds))
    };
    (0..count).map(report).collect()
}

fn comb(size: (f64, f64), duration: Span) -> Vec<(Span, f64, f64)> {
    let tooth = |index: usize| (index as i64 % COMB_REPORTS - COMB_REPORTS / 2) as f64;
    let column = hand((0.0, COLUMN_REACH.1), size, duration).into_iter().enumerate();
    column.map(|(index, (at, x, y))| (at, x.floor() + tooth(index), y)).collect()
}

/// The strokes of a recording, each from time zero on, centred on the sheet, and scaled down where they do not fit.
fn fitted(recording: &StrokeRecording, size: (f64, f64)) -> Vec<Vec<(Span, f64, f64)>> {
    let samples = || recording.strokes.iter().flatten();
    let range = |value: fn(&PositionSample) -> f64| {
        samples().map(value).fold((f64::MAX, f64::MIN), |(low, high), of| (low.min(of), high.max(of)))
    };
    let ((left, right), (top, bottom)) = (range(|sample| sample.x), range(|sample| sample.y));
    let share = |extent: f64, of: f64| if extent > 0.0 { COVERED * of / extent } else { 1.0 };
    let scale = share(right - left, size.0).min(share(bottom - top, size.1)).min(1.0);
    let place = |sample: &PositionSample, start: Instant| {
        let x = size.0 / 2.0 + (sample.x - (left + right) / 2.0) * scale;
        (sample.at - start, x, size.1 / 2.0 + (sample.y - (top + bottom) / 2.0) * scale)
    };
    let stroke = |stroke: &Vec<PositionSample>| {
        let start = stroke.first().map_or(Instant::ZERO, |sample| sample.at);
        stroke.iter().map(|sample| place(sample, start)).collect()
    };
    recording.strokes.iter().map(stroke).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_reports_each_millisecond_and_stays_on_the_sheet() {
        let input: HandPath = HAND.parse().unwrap();
        let reports = input.reports((1280.0, 720.0), Span::from_seconds(8));
        assert!(reports.len() > 7_900 && reports[0].begins && reports.last().unwrap().ends);
        assert!(
            reports.iter().all(|report| report.x > 100.0 && report.x < 1180.0 && report.y > 60.0 && report.y < 660.0)
        );
        assert!(reports.windows(2).all(|pair| pair[1].at > pair[0].at));
        assert_eq!((input.name(), input.device()), ("hand".to_owned(), HandDevice::Pointer));
    }

    #[test]
    fn a_comb_has_a_pixel_for_each_report_of_a_while_and_is_narrow() {
        let input: HandPath = COMB.parse().unwrap();
        let (first, columns) = input.columns(1280, 120).unwrap();
        let reports = input.reports((1280.0, 720.0), Span::from_seconds(8));
        assert!(reports.len() > 7_990);
        for window in reports.windows(COMB_REPORTS as usize) {
            assert!(window[1..].iter().all(|report| report.x != window[0].x));
        }
        let covered = (first + 120) as f64..=(first + columns - 120) as f64;
        assert!(reports.iter().all(|report| covered.contains(&report.x)), "{covered:?}");
    }

    #[test]
    fn a_recording_repeats_for_the_duration_and_fits_the_sheet() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pen_any.csv");
        let text = "t_us,x,y,state\n0,0,0,down\n8000,1000,0,move\n16000,1000,0,move\n24000,1000,1000,up\n";
        std::fs::write(&file, text).unwrap();
        let input: HandPath = file.to_str().unwrap().parse().unwrap();
        assert_eq!(input.device(), HandDevice::Pen);
        let reports = input.reports((1280.0, 720.0), Span::from_millis(200));
        // A sample without movement makes no report.
        let first: Vec<_> = reports[..3].iter().map(|report| (report.at, report.begins, report.ends)).collect();
        let ms = Span::from_millis;
        assert_eq!(first, [(ms(0), true, false), (ms(8), false, false), (ms(24), false, true)]);
        assert_eq!(reports[3].at, ms(84));
        assert!(reports[3].begins && reports.iter().all(|report| report.y >= 72.0 && report.y <= 648.0));
    }
}
