//! Figures of a run, from the reports of a hand, the frames of a client and the recorded images. Pure.

use serde::{Deserialize, Serialize};

use super::direct_method::{self, LitInk};
use super::hand::{SentReport, position};
use super::marker;
use super::recorded_images::RecordedView;
use super::sheet::{DrawnInkFrame, SheetReport};
use super::simulated::SimulatedInk;
use crate::statistics::Quantiles;
use upbeat_timing::time::{Instant, Span};

/// Median, percentiles and maximum, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PixelQuantiles {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl PixelQuantiles {
    /// Quantiles by nearest rank; `None` without values.
    pub(super) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let max = *values.last()?;
        let rank = |percent: usize| values[(percent * values.len()).div_ceil(100).max(1) - 1];
        Some(PixelQuantiles { p50: rank(50), p95: rank(95), p99: rank(99), max })
    }
}

/// Figures of a third of the screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScreenThirdFigures {
    /// `top`, `middle` or `bottom`.
    pub rows: String,
    /// From each report to the light of its row in the first image with it.
    pub event_to_row_ms: Option<Quantiles>,
    /// Age of the newest report in an image, when its row is lit for the first time.
    pub age_ms: Option<Quantiles>,
}

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InkRun {
    /// Name of the hand movement.
    pub input: String,
    /// How the client was paced, and how its pixels came to the screen.
    pub mode: String,
    /// Cost of a frame, as set by the load.
    pub cost: String,
    /// How far ahead of its last report the hand was drawn.
    pub prediction_ms: f64,
    /// Why there are no figures.
    pub unavailable: Option<String>,
    /// Reports that were found in pixels.
    pub events: usize,
    /// From each report to the light of its row in the first image with it.
    pub event_to_row_ms: Option<Quantiles>,
    /// The same without the beam's time from the top to the row.
    #[serde(default)]
    pub event_to_line_0_ms: Option<Quantiles>,
    /// Distance of the ink from the hand by the hand's speed, while the ink is lit: the direct method. Its median is
    /// event→row's where the hand moves steadily.
    #[serde(default)]
    pub direct_ms: Option<Quantiles>,
    /// The same run in the simulator, with the measured costs.
    #[serde(default)]
    pub simulated: Option<SimulatedInk>,
    /// Difference of the median to the first run with this input and cost.
    pub p50_more_ms: Option<f64>,
    /// Age of the newest report in an image, when its row is lit for the first time.
    pub age_ms: Option<Quantiles>,
    /// The figures for each third of the screen.
    pub rows: Vec<ScreenThirdFigures>,
    /// The share of refreshes that showed nothing new while the hand moved.
    pub missed: f64,
    /// The share of frames that were never shown.
    pub dropped: f64,
    /// Images whose marker is a mix of two frames.
    pub torn: usize,
    /// Images that the recorder dropped.
    pub unproven: u64,
    /// Images with fewer reports than the image before.
    #[serde(default)]
    pub backwards: usize,
    /// Distance of the dot from the hand at the light of the dot's row.
    pub position_error_px: Option<PixelQuantiles>,
    /// How far a predicted dot lies beyond the hand; 0 where it falls short.
    pub overshoot_px: Option<PixelQuantiles>,
    /// The share of frames that were drawn with a prediction.
    pub predicted: f64,
    /// Drawn frames for each shown frame.
    pub renders_per_shown: f64,
    /// CPU time of the compositor for each shown frame.
    pub compositor_cpu_ms_per_frame: Option<f64>,
    /// CPU time of the client for each shown frame.
    pub client_cpu_ms_per_frame: Option<f64>,
    /// The host's noise: 99th percentile of how late a sleeping thread was woken.
    pub sentinel_wake_p99_ms: Option<f64>,
}

/// The recorded screen. Its pictures themselves say when their rows are lit.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedScreen {
    pub size: (usize, usize),
    /// The shortest refresh interval.
    pub interval: Span,
}

impl RecordedScreen {
    /// When the beam lights `row` in the first refresh of `view`.
    pub(super) fn light(&self, view: &RecordedView, row: f64) -> Instant {
        view.rows.light(view.at, row as i32, self.size.1 as i32)
    }

    /// The middle row of the marker for a hand at `at`.
    fn row(&self, at: (f64, f64)) -> f64 {
        (marker::code_position(at, self.size).1 + marker::SIZE.1 / 2) as f64
    }

    /// The third of the screen that contains `row`, from 0.
    fn third(&self, row: f64) -> usize {
        ((3.0 * row / self.size.1.max(1) as f64) as usize).min(2)
    }
}

/// A recorded image together with the frame in it.
#[derive(Clone, Copy, Debug)]
struct IdentifiedFrame {
    view: RecordedView,
    drawn: DrawnInkFrame,
    /// Light of the marker's row.
    light: Instant,
}

/// Computes the figures of a run.
pub(super) fn count(report: &SheetReport, views: &[RecordedView], screen: RecordedScreen) -> InkRun {
    let (Some(first), Some(last)) = (report.sent.first(), report.sent.last()) else { return InkRun::default() };
    let during: Vec<RecordedView> =
        views.iter().copied().filter(|view| view.until > first.at && view.at < last.at).collect();
    let seen = identify_frames(report, &during, screen);
    let (mut rows, mut all) = (<[(Vec<Span>, Vec<Span>); 3]>::default(), (Vec::new(), Vec::new()));
    let mut to_line_0 = Vec::new();
    for (third, latency, way) in latencies(&report.sent, &seen, screen) {
        rows[third].0.push(latency);
        all.0.push(latency);
        to_line_0.push(latency - way);
    }
    for (third, age) in ages(&report.sent, &seen, screen) {
        rows[third].1.push(age);
        all.1.push(age);
    }
    let (errors, overshoots) = errors(&report.sent, &seen, screen);
    let refreshes: i64 = during.iter().map(|view| refreshes(*view, screen.interval)).sum();
    let shown = distinct(&seen).max(1) as f64;
    let numbers = (seen.first().map(|seen| seen.drawn.frame), seen.last().map(|seen| seen.drawn.frame));
    let rendered = match numbers {
        (Some(first), Some(last)) => f64::from(last.saturating_sub(first) + 1),
        _ => 0.0,
    };
    let predicted = report.frames.iter().filter(|drawn| drawn.predicted).count();
    InkRun {
        events: all.0.len(),
        event_to_row_ms: Quantiles::of(all.0),
        event_to_line_0_ms: Quantiles::of(to_line_0),
        direct_ms: Quantiles::of(direct_method::latencies(&report.sent, &lit_ink(&seen))),
        age_ms: Quantiles::of(all.1),
        rows: ["top", "middle", "bottom"]
            .into_iter()
            .zip(rows)
            .map(|(name, (events, ages))| ScreenThirdFigures {
                rows: name.to_owned(),
                event_to_row_ms: Quantiles::of(events),
                age_ms: Quantiles::of(ages),
            })
            .collect(),
        missed: (refreshes - during.len() as i64).max(0) as f64 / refreshes.max(1) as f64,
        dropped: (rendered - shown).max(0.0) / rendered.max(1.0),
        torn: during.iter().filter(|view| view.torn).count(),
        unproven: during.iter().map(|view| view.missing).sum(),
        backwards: seen.windows(2).filter(|pair| pair[1].drawn.event < pair[0].drawn.event).count(),
        position_error_px: PixelQuantiles::of(errors),
        overshoot_px: PixelQuantiles::of(overshoots),
        predicted: predicted as f64 / report.frames.len().max(1) as f64,
        renders_per_shown: rendered / shown,
        compositor_cpu_ms_per_frame: report.compositor_cpu_ms.map(|used| used / shown),
        client_cpu_ms_per_frame: report.client_cpu_ms.map(|used| used / shown),
        sentinel_wake_p99_ms: report.sentinel_wake_p99_ms,
        ..InkRun::default()
    }
}

fn identify_frames(report: &SheetReport, views: &[RecordedView], screen: RecordedScreen) -> Vec<IdentifiedFrame> {
    let of = |view: &RecordedView| {
        let code = view.code?;
        let drawn = *report.frames.get(code.frame.checked_sub(1)? as usize)?;
        let light = screen.light(view, screen.row((drawn.x, drawn.y)));
        Some(IdentifiedFrame { view: *view, drawn, light })
    };
    views.iter().filter_map(of).collect()
}

/// The ink of each image, from its light to the light of the next.
fn lit_ink(seen: &[IdentifiedFrame]) -> Vec<LitInk> {
    let next = seen.iter().skip(1).map(|next| Some(next.light)).chain([None]);
    let ink = |(seen, next): (&IdentifiedFrame, Option<Instant>)| LitInk {
        at: (seen.drawn.x, seen.drawn.y),
        light: seen.light,
        until: next.unwrap_or(seen.view.until),
    };
    seen.iter().zip(next).map(ink).collect()
}

fn distinct(seen: &[IdentifiedFrame]) -> usize {
    seen.iter().zip(seen.iter().skip(1)).filter(|(one, next)| one.drawn.frame != next.drawn.frame).count()
        + usize::from(!seen.is_empty())
}

/// Number of refreshes that a view lasts, at least one.
fn refreshes(view: RecordedView, interval: Span) -> i64 {
    let interval = interval.as_nanos().max(1);
    (((view.until - view.at).as_nanos() + interval / 2) / interval).max(1)
}

/// For each report: the third of the screen, the time to its light, and the beam's time from the top to its row. Left
/// out: reports whose first image may be missing from the recording.
fn latencies(sent: &[SentReport], seen: &[IdentifiedFrame], screen: RecordedScreen) -> Vec<(usize, Span, Span)> {
    let mut pictures = seen.iter().peekable();
    let mut latencies = Vec::new();
    for (index, report) in sent.iter().enumerate() {
        while pictures.next_if(|seen| (seen.drawn.event as usize) < index + 1).is_some() {}
        let Some(picture) = pictures.peek() else { break };
        if picture.view.missing == 0 {
            let row = screen.row((picture.drawn.x, picture.drawn.y));
            let way = picture.light - picture.view.at;
            latencies.push((screen.third(row), picture.light - report.at, way));
        }
    }
    latencies
}

/// Third of the screen and age of the newest report, for each image with a new report.
fn ages(sent: &[SentReport], seen: &[IdentifiedFrame], screen: RecordedScreen) -> Vec<(usize, Span)> {
    let mut known = 0;
    let mut ages = Vec::new();
    for picture in seen {
        let event = picture.drawn.event as usize;
        if event > known
            && let Some(report) = sent.get(event - 1)
        {
            known = event;
            let row = screen.row((picture.drawn.x, picture.drawn.y));
            ages.push((screen.third(row), picture.light - report.at));
        }
    }
    ages
}

/// Distances of the dots from the hand at their first light, and how far they lie beyond the hand.
fn errors(sent: &[SentReport], seen: &[IdentifiedFrame], screen: RecordedScreen) -> (Vec<f64>, Vec<f64>) {
    let (mut errors, mut overshoots) = (Vec::new(), Vec::new());
    let mut before = 0;
    for picture in seen {
        let DrawnInkFrame { frame, event, x, y, .. } = picture.drawn;
        if std::mem::replace(&mut before, frame) == frame || event == 0 {
            continue;
        }
        let Some(from) = sent.get(event as usize - 1) else { continue };
        let Some(truth) = position(sent, screen.light(&picture.view, y)) else { continue };
        errors.push((x - truth.0).hypot(y - truth.1));
        let (ahead_x, ahead_y) = (x - from.x, y - from.y);
        let ahead = ahead_x.hypot(ahead_y);
        let beyond = ((x - truth.0) * ahead_x + (y - truth.1) * ahead_y) / ahead.max(f64::MIN_POSITIVE);
        overshoots.push(beyond.clamp(0.0, ahead));
    }
    (errors, overshoots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_code::BlockCode;
    use upbeat_record::recording::RowTimes;

    const SCREEN: RecordedScreen = RecordedScreen { size: (400, 300), interval: Span::from_millis(10) };

    fn at(millis: i64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// A hand that moves right by a pixel a millisecond. Each frame contains the newest report 5 ms before its light.
    fn report(rows: f64, ahead: f64) -> (SheetReport, Vec<RecordedView>) {
        let sent: Vec<SentReport> = (0..100)
            .map(|index| SentReport { at: at(100 + index), x: 50.0 + index as f64, y: rows, begins: index == 0 })
            .collect();
        let (mut frames, mut views) = (Vec::new(), Vec::new());
        for frame in 1..=9_u32 {
            let present = 100 + 10 * i64::from(frame);
            let event = present - 100 - 5 + 1;
            let x = 50.0 + event as f64 - 1.0 + ahead;
            frames.push(DrawnInkFrame { frame, event: event as u32, x, y: rows, predicted: ahead > 0.0 });
            let code = Some(BlockCode { frame, event: event as u32 });
            let rows = RowTimes { first: Span::ZERO, active: Span::from_micros(9_600) };
            views.push(RecordedView { at: at(present), until: at(present + 10), rows, code, torn: false, missing: 0 });
        }
        (SheetReport { sent, frames, ..SheetReport::default() }, views)
    }

    #[test]
    fn lower_rows_are_lit_later_and_their_ink_is_older() {
        for (y, third, lines) in [(10.0, 0, 33.0), (130.0, 1, 153.0), (240.0, 2, 263.0)] {
            let (report, views) = report(y, 0.0);
            let run = count(&report, &views, SCREEN);
            let way = 9.6 * lines / 300.0;
            let age = run.rows[third].age_ms.unwrap();
            assert!((age.p50 - (5.0 + way)).abs() < 0.1, "{age:?} for {way}");
            // The newest report in a frame waits for 5 ms, the oldest for 14 ms.
            let latency = run.event_to_row_ms.unwrap();
            assert!((latency.max - (14.0 + way)).abs() < 0.1 && latency.p50 < latency.max, "{latency:?}");
            let (row, line_0) = (latency, run.event_to_line_0_ms.unwrap());
            assert!((row.p50 - line_0.p50 - way).abs() < 0.1, "{row:?} and {line_0:?} for {way}");
            assert_eq!((run.missed, run.dropped, run.torn, run.renders_per_shown), (0.0, 0.0, 0, 1.0));
        }
    }

    #[test]
    fn the_direct_method_agrees_with_the_reports_while_the_hand_moves_steadily() {
        for y in [10.0, 130.0, 240.0] {
            let (report, views) = report(y, 0.0);
            let run = count(&report, &views, SCREEN);
            let (direct, indirect) = (run.direct_ms.unwrap(), run.event_to_row_ms.unwrap());
            assert!((direct.p50 - indirect.p50).abs() <= 1.0, "{direct:?} and {indirect:?}");
            // Ink that is drawn 4 ms ahead of the newest report lies that much nearer.
            let (report, views) = self::report(y, 4.0);
            let ahead = count(&report, &views, SCREEN).direct_ms.unwrap();
            assert!((direct.p50 - ahead.p50 - 4.0).abs() < 0.1, "{ahead:?}");
        }
    }

    #[test]
    fn a_hand_that_rests_has_no_latency_by_the_direct_method() {
        let (mut report, views) = report(10.0, 0.0);
        report.sent.iter_mut().for_each(|sent| sent.x = 50.0);
        assert_eq!(count(&report, &views, SCREEN).direct_ms, None);
    }

    #[test]
    fn position_error_is_the_hand_movement_until_light() {
        let (report_without, views) = report(130.0, 0.0);
        let without = count(&report_without, &views, SCREEN).position_error_px.unwrap();
        assert!((without.p50 - (5.0 + 9.6 * 130.0 / 300.0)).abs() < 0.1, "{without:?}");
        let (report_with, views) = report(130.0, 12.0);
        let run = count(&report_with, &views, SCREEN);
        let (error, over) = (run.position_error_px.unwrap(), run.overshoot_px.unwrap());
        assert!((over.p50 - (12.0 - without.p50)).abs() < 0.1 && (error.p50 - over.p50).abs() < 0.1, "{run:?}");
        assert_eq!(run.predicted, 1.0);
    }

    #[test]
    fn an_image_with_fewer_reports_than_before_goes_backwards() {
        let (report, mut views) = report(130.0, 0.0);
        assert_eq!(count(&report, &views, SCREEN).backwards, 0);
        let (older, newer) = (views[3].code, views[4].code);
        (views[3].code, views[4].code) = (newer, older);
        assert_eq!(count(&report, &views, SCREEN).backwards, 1);
    }

    #[test]
    fn a_refresh_without_a_new_frame_is_missed_and_an_unseen_frame_is_dropped() {
        let (report, mut views) = report(130.0, 0.0);
        views.remove(4);
        views[3].until = at(160);
        let run = count(&report, &views, SCREEN);
        assert!((run.missed - 1.0 / 9.0).abs() < 1e-9 && (run.dropped - 1.0 / 9.0).abs() < 1e-9, "{run:?}");
        assert!((run.renders_per_shown - 9.0 / 8.0).abs() < 1e-9);
    }
}
