//! Figures of a scroll run.

use serde::{Deserialize, Serialize};

use super::held_content::HeldPixels;
use upbeat_timing::record::{FrameOutcome, FrameRecord};
use upbeat_timing::time::{Instant, Span};

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScrollRun {
    /// A speed in pixels per second, `wheel`, or a recording.
    pub input: String,
    /// How the document is moved: `view`, `viewport` or `frames`.
    pub mode: String,
    /// Distance from the view's near edge to the end of the content rendered ahead, in lengths of the view; 1 where
    /// each frame is rendered.
    pub n: f64,
    /// Whether the display had overlay planes.
    #[serde(default)]
    pub is_on_planes: bool,
    /// Refresh rate of a virtual display, in Hz.
    #[serde(default)]
    pub refresh_hz: f64,
    /// Rest after each second at a constant speed, in seconds.
    #[serde(default)]
    pub pause_s: f64,
    /// Pixels per second with fingers down.
    pub speed: f64,
    /// Median time of a render, from the request to its commit.
    pub render_ms: f64,
    /// Number of renders.
    pub renders: u64,
    /// Renders per second of motion.
    pub client_fps: f64,
    /// Expected renders per second: `v / ((N − 1) H − v t)`; `None` if a render takes longer than the content ahead
    /// lasts.
    pub formula_fps: Option<f64>,
    /// Commits of the client per second of motion.
    pub commits_per_s: f64,
    /// Rows of the window without a row of the document, in all recorded images; `None` without a recording.
    pub blank_rows: Option<u64>,
    /// Number of recorded images.
    pub pictures: u64,
    /// From the newest report that an image shows to its light: the median of all images. Only without prediction and
    /// at a constant speed.
    #[serde(default)]
    pub sample_to_light_ms: Option<f64>,
    /// Distance between the document's position in an image and the fingers' position at its light, in pixels: the 95th
    /// percentile. Only for fingers on a touchpad.
    #[serde(default)]
    pub position_error_px: Option<f64>,
    /// Median time from a frame's latch to its light.
    #[serde(default)]
    pub latched_to_light_ms: Option<f64>,
    /// How often the view reached the end of the rendered content.
    pub stalls: u64,
    /// Refreshes without a change while the fingers moved.
    pub drops: u64,
    /// Drops per second of motion.
    pub drops_per_s: f64,
    /// Causes of late frames from the frame log, with their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_because: Vec<(String, u64)>,
    /// Wake-ups of the client for each rendered frame.
    pub client_wakeups_per_frame: f64,
    /// Wake-ups of the compositor per second of the run.
    pub compositor_wakeups_per_s: Option<f64>,
    /// CPU time of the client for each scrolled length of the view.
    pub client_cpu_ms_per_screen: f64,
    /// CPU time of the compositor for each scrolled length of the view, including its input.
    pub compositor_cpu_ms_per_screen: Option<f64>,
    /// Lengths of the view that were scrolled with fingers down.
    pub screens: f64,
    /// Memory of the client's buffers, if it draws to all of them.
    pub buffer_megabytes: f64,
    /// Memory of the rendered content that lies ahead of the view, at its largest after a commit, in megabytes (10⁶
    /// bytes). At rest it is the side that the view moves to next. The view's offset is computed from the input.
    #[serde(default)]
    pub ahead_megabytes: f64,
    /// Memory of the rendered content that lies behind the view, like `ahead_megabytes`.
    #[serde(default)]
    pub behind_megabytes: f64,
    /// Memory of buffers that have been drawn to and that no content shows, like `ahead_megabytes`.
    #[serde(default)]
    pub spare_megabytes: f64,
    /// From the configured window to the light of the first whole screen, on `CLOCK_MONOTONIC`: the client allocates its
    /// buffers, renders, and waits for the presentation time of that commit. With a recording: to the first image that
    /// shows it. `None` if the commit was never presented.
    #[serde(default)]
    pub first_screen_ms: Option<f64>,
    /// Start of `first_screen_ms`.
    #[serde(default)]
    pub launched: Option<Instant>,
    /// CPU time of the client for one render beyond the first screen: the median, with those before the motion. `None`
    /// where each frame is rendered.
    #[serde(default)]
    pub extended_render_ms: Option<f64>,
    /// The same as a multiple of the CPU time to render one screen.
    #[serde(default)]
    pub extended_render_screens: Option<f64>,
    /// The same as a multiple of the refresh interval.
    #[serde(default)]
    pub extended_render_refreshes: Option<f64>,
    /// The part of the frames in motion for which the compositor copied pixels; less than 1 only with planes.
    #[serde(default)]
    pub composed_part: Option<f64>,
    /// Intervals in which each refresh must show the document at a new position.
    pub moving: Vec<(Instant, Instant)>,
}

impl ScrollRun {
    /// Counts the refreshes that were missed while the fingers moved, from the frame log.
    pub(super) fn count_drops(&mut self, records: &[FrameRecord]) {
        let mut shown: Vec<(Instant, u64, Span)> = records
            .iter()
            .filter(|record| record.outcome == FrameOutcome::Presented)
            .filter_map(|record| Some((record.presented?, record.sequence?, record.interval)))
            .collect();
        shown.sort_unstable_by_key(|(_, sequence, _)| *sequence);
        let missed = |pair: &[(Instant, u64, Span)]| {
            let is_moving = |(from, to): &(Instant, Instant)| pair[0].0 >= *from && pair[1].0 <= *to;
            let gap = (pair[1].1 - pair[0].1).saturating_sub(1);
            if self.moving.iter().any(is_moving) { gap } else { 0 }
        };
        self.drops = shown.windows(2).map(missed).sum();
        let lasting: Span = self.moving.iter().map(|(from, to)| (*to - *from).max(Span::ZERO)).sum();
        self.drops_per_s = self.drops as f64 / lasting.as_seconds_f64().max(1e-3);
        let mut late = std::collections::BTreeMap::new();
        let is_in = |at: Instant| self.moving.iter().any(|(from, to)| (*from..*to).contains(&at));
        for miss in records.iter().filter(|record| is_in(record.present)).filter_map(|record| record.miss) {
            let name = format!("{miss:?}");
            *late.entry(name.split([' ', '{', '(']).next().unwrap_or_default().to_owned()).or_insert(0) += 1;
        }
        self.late_because = late.into_iter().collect();
    }

    /// Computes the part of the frames in motion that were composed, from the frame log.
    pub(super) fn note_composed(&mut self, records: &[FrameRecord]) {
        let is_in = |at: Instant| self.moving.iter().any(|(from, to)| (*from..*to).contains(&at));
        let shown = records.iter().filter(|record| record.presented.is_some_and(is_in));
        let (all, composed) =
            shown.fold((0u64, 0u64), |(all, composed), record| (all + 1, composed + u64::from(record.damage > 0)));
        self.composed_part = (all > 0).then(|| composed as f64 / all as f64);
    }

    /// Computes the time to the light of the first screen.
    pub(super) fn note_first_screen(&mut self, launched: Instant, light: Option<Instant>) {
        self.launched = Some(launched);
        self.first_screen_ms = light.map(|light| (light - launched).as_millis_f64());
    }

    /// Computes the cost of a render beyond the first screen. `screen`: CPU time of the first screen.
    pub(super) fn note_render_costs(&mut self, screen: Span, costs: &[Span]) {
        self.extended_render_ms = median_ms(costs.to_vec());
        let screen = Some(screen.as_millis_f64()).filter(|screen| *screen > 0.0);
        self.extended_render_screens = self.extended_render_ms.zip(screen).map(|(render, screen)| render / screen);
    }

    /// Computes the cost of such a render beside a refresh.
    pub(super) fn note_refresh(&mut self, hertz: f64) {
        self.extended_render_refreshes = self.extended_render_ms.map(|ms| ms * hertz / 1e3);
    }

    /// Computes the memory of pixels along the scroll axis that are `beside` wide.
    pub(super) fn note_memory(&mut self, held: HeldPixels, beside: i64) {
        let megabytes = |pixels: i64| (pixels * beside * PIXEL_BYTES) as f64 / 1e6;
        self.ahead_megabytes = megabytes(held.ahead);
        self.behind_megabytes = megabytes(held.behind);
        self.spare_megabytes = megabytes(held.spare);
    }

    /// Computes the age of the newest finger report in each image. `tops` has time and document position of each image,
    /// `reports` has time and finger position of each report.
    pub(super) fn note_age(&mut self, tops: &[(Instant, f64)], reports: &[(Instant, f64)], records: &[FrameRecord]) {
        let is_in = |at: Instant| self.moving.iter().any(|(from, to)| (*from..*to).contains(&at));
        let age = |(seen, way): &(Instant, f64)| {
            let newest = reports.iter().rev().find(|(_, gone)| gone.abs() <= way.abs() + HALF_A_PIXEL)?;
            Some(*seen - newest.0)
        };
        self.sample_to_light_ms = median_ms(tops.iter().filter(|(at, _)| is_in(*at)).filter_map(age).collect());
        let waits = records.iter().filter(|record| record.outcome == FrameOutcome::Presented).filter_map(|record| {
            let presented = record.presented.filter(|at| is_in(*at))?;
            Some(presented - record.latched)
        });
        self.latched_to_light_ms = median_ms(waits.collect());
    }

    /// Computes the distance between document and fingers in each image; parameters as in [`Self::note_age`].
    pub(super) fn note_error(&mut self, tops: &[(Instant, f64)], reports: &[(Instant, f64)]) {
        let is_in = |at: Instant| self.moving.iter().any(|(from, to)| (*from..*to).contains(&at));
        let error = |(seen, way): &(Instant, f64)| {
            let after = reports.iter().position(|(at, _)| at > seen).filter(|after| *after > 0)?;
            let ((from, before), (to, gone)) = (reports[after - 1], reports[after]);
            let part = (*seen - from).as_seconds_f64() / (to - from).as_seconds_f64();
            Some((before + (gone - before) * part - way).abs())
        };
        let mut errors: Vec<f64> = tops.iter().filter(|(at, _)| is_in(*at)).filter_map(error).collect();
        errors.sort_unstable_by(f64::total_cmp);
        self.position_error_px = errors.get((errors.len() * 95 / 100).min(errors.len().saturating_sub(1))).copied();
    }

    /// Renders per second that the formula predicts for a view of `height`; `None` if a render takes longer than the
    /// content ahead lasts.
    pub(super) fn formula(&self, height: f64) -> Option<f64> {
        let left = (self.n - 1.0) * height - self.speed * self.render_ms / 1e3;
        (left > 0.0).then(|| self.speed / left)
    }
}

/// Bytes of a pixel in the client's buffers.
const PIXEL_BYTES: i64 = 4;
/// Tolerance, because the compositor shows the document at whole pixels.
const HALF_A_PIXEL: f64 = 0.5;

fn median_ms(mut spans: Vec<Span>) -> Option<f64> {
    spans.sort_unstable();
    spans.get(spans.len() / 2).map(|span| span.as_millis_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_are_missed_only_while_the_fingers_move() {
        let at = |millis: i64| Instant::ZERO + Span::from_millis(millis);
        let record = |sequence: u64| FrameRecord {
            outcome: FrameOutcome::Presented,
            presented: Some(at(10 * sequence as i64)),
            sequence: Some(sequence),
            interval: Span::from_millis(10),
            ..FrameRecord::default()
        };
        let mut run = ScrollRun { moving: vec![(at(100), at(200))], ..ScrollRun::default() };
        run.count_drops(&[1, 5, 10, 11, 14, 15, 16, 19, 20, 30].map(record));
        assert_eq!((run.drops, run.drops_per_s), (4, 40.0));
    }

    #[test]
    fn a_picture_is_as_old_as_the_last_report_that_it_shows() {
        let at = |millis: i64| Instant::ZERO + Span::from_millis(millis);
        let reports = [(at(8), 8.0), (at(16), 16.0), (at(24), 24.0)];
        let mut run = ScrollRun { moving: vec![(at(0), at(100))], ..ScrollRun::default() };
        run.note_age(&[(at(20), 8.0), (at(36), 24.0), (at(200), 8.0)], &reports, &[]);
        assert_eq!((run.sample_to_light_ms, run.latched_to_light_ms), (Some(12.0), None));
    }

    #[test]
    fn position_error_is_the_finger_movement_since_the_image() {
        let at = |millis: i64| Instant::ZERO + Span::from_millis(millis);
        let reports = [(at(8), 8.0), (at(16), 16.0), (at(24), 24.0)];
        let mut run = ScrollRun { moving: vec![(at(0), at(100))], ..ScrollRun::default() };
        run.note_error(&[(at(12), 12.0), (at(20), 16.0), (at(30), 0.0)], &reports);
        assert_eq!(run.position_error_px, Some(4.0));
    }

    #[test]
    fn a_render_is_compared_with_a_screen_and_with_a_refresh() {
        let mut run = ScrollRun::default();
        let millis = Span::from_millis;
        run.note_render_costs(millis(4), &[millis(2), millis(6), millis(10)]);
        run.note_refresh(50.0);
        let figures = (run.extended_render_ms, run.extended_render_screens, run.extended_render_refreshes);
        assert_eq!(figures, (Some(6.0), Some(1.5), Some(0.3)));
        run.note_render_costs(millis(4), &[]);
        run.note_refresh(50.0);
        assert_eq!((run.extended_render_ms, run.extended_render_refreshes), (None, None));
    }

    #[test]
    fn only_frames_in_motion_with_damage_were_composed() {
        let at = |millis: i64| Instant::ZERO + Span::from_millis(millis);
        let record =
            |millis: i64, damage: u64| FrameRecord { presented: Some(at(millis)), damage, ..FrameRecord::default() };
        let mut run = ScrollRun { moving: vec![(at(100), at(200))], ..ScrollRun::default() };
        run.note_composed(&[record(50, 9), record(110, 0), record(120, 7), record(130, 0), record(190, 0)]);
        assert_eq!(run.composed_part, Some(0.25));
    }

    #[test]
    fn the_formula_uses_the_content_ahead() {
        let run = ScrollRun { n: 2.0, speed: 1_000.0, render_ms: 100.0, ..ScrollRun::default() };
        assert_eq!((run.formula(600.0), run.formula(100.0)), (Some(2.0), None));
    }
}
