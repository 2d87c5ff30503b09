//! How far the predictions of a device are trusted, learned from its later reports.
//!
//! ```text
//!   distance by the course ─► × share that came true ─► above 12 px: × 0.6 ─► at most the reach ─► shown
//!         probe 16 ms ahead ─► compared with the report of that time ─► share, reach, error
//! ```

use super::median::DeviceCourse;
use super::{PositionSample, PredictedPosition};
use crate::defaults::{DEVICE_KNEE, DEVICE_LEAST_SHARE, DEVICE_OVERSHOOT, DEVICE_SHARE_BEYOND};
use crate::fixed_queue::FixedQueue;
use crate::time::Span;

/// The horizon over which predictions are compared with later reports: one refresh at 60 Hz.
const PROBE_HORIZON: Span = Span::from_millis(16);
/// Probes under way: 16 ms of a device with 1000 reports a second.
const MOST_PROBES: usize = 20;
/// The weight of one comparison.
const WEIGHT: f64 = 1.0 / 16.0;
/// The reach after an overshoot, as a share of the distance that overshot; and its growth with each probe without.
const REACH_LOWERED: f64 = 0.7;
const REACH_RAISED: f64 = 1.02;
/// Bounds of the reach over [`PROBE_HORIZON`], in pixels: the distance that is never cut, and a distance that no hand
/// covers.
const LEAST_REACH: f64 = DEVICE_KNEE;
const LONGEST_REACH: f64 = 400.0;
/// The error grows with this power of the horizon: 1 for a wrong velocity, 2 for an acceleration that was not seen.
const ERROR_GROWTH: f64 = 1.5;

/// A prediction that waits for the report of its time.
#[derive(Clone, Copy, Debug, Default)]
struct TrustProbe {
    from: PositionSample,
    direction: (f64, f64),
    /// Pixels by the course alone, and as shown.
    course: f64,
    shown: f64,
}

/// What later reports have told about the predictions of a device.
#[derive(Clone, Debug)]
pub struct PredictionTrust {
    probes: FixedQueue<TrustProbe, MOST_PROBES>,
    /// Means of predicted × true and of predicted × predicted distance: their ratio is the share that came true.
    came_true: f64,
    predicted: f64,
    /// The most that is shown over [`PROBE_HORIZON`], in pixels.
    reach: f64,
    /// Mean squares of the error in x and in y over [`PROBE_HORIZON`].
    squares: (f64, f64),
}

impl Default for PredictionTrust {
    fn default() -> Self {
        PredictionTrust {
            probes: FixedQueue::new(),
            came_true: 0.0,
            predicted: 0.0,
            reach: LONGEST_REACH,
            squares: (0.0, 0.0),
        }
    }
}

impl PredictionTrust {
    /// Compares the due probes with the way from `last` to the new report.
    pub(super) fn compare(&mut self, last: Option<PositionSample>, sample: PositionSample) {
        let Some(last) = last else { return };
        while let Some(probe) = self.probes.get(0).copied().filter(|probe| probe.due() <= sample.at) {
            self.probes.pop();
            let length = (sample.at - last.at).as_seconds_f64();
            let part = if length > 0.0 { (probe.due() - last.at).as_seconds_f64() / length } else { 1.0 };
            let part = part.clamp(0.0, 1.0);
            let truth = (last.x + part * (sample.x - last.x), last.y + part * (sample.y - last.y));
            self.learn(&probe, truth);
        }
    }

    fn learn(&mut self, probe: &TrustProbe, (x, y): (f64, f64)) {
        let (dx, dy) = (x - probe.from.x, y - probe.from.y);
        if ![dx, dy, probe.course].into_iter().all(f64::is_finite) {
            return;
        }
        let along = dx * probe.direction.0 + dy * probe.direction.1;
        self.came_true += WEIGHT * (probe.course * along - self.came_true);
        self.predicted += WEIGHT * (probe.course * probe.course - self.predicted);
        let off = (probe.direction.0 * probe.shown - dx, probe.direction.1 * probe.shown - dy);
        self.squares.0 += WEIGHT * (off.0 * off.0 - self.squares.0);
        self.squares.1 += WEIGHT * (off.1 * off.1 - self.squares.1);
        // A hand that turned back is overshot by the whole distance, and by no more.
        let overshoot = (probe.shown - along).clamp(0.0, probe.shown);
        self.reach = if overshoot > DEVICE_OVERSHOOT {
            (REACH_LOWERED * self.reach.min(probe.shown)).max(LEAST_REACH)
        } else {
            (REACH_RAISED * self.reach).min(LONGEST_REACH)
        };
    }

    /// Remembers the prediction of `course`, to compare it with a later report.
    pub(super) fn probe(&mut self, course: &DeviceCourse) {
        let distance = course.distance(PROBE_HORIZON);
        let shown = self.shown(distance, PROBE_HORIZON);
        let (from, direction) = (course.from, course.direction);
        // A full queue means a device with more than 1000 reports a second: a missing probe does no harm.
        let _ = self.probes.push(TrustProbe { from, direction, course: distance, shown });
    }

    /// The position after `ahead`; `None` where too little of what was predicted came true.
    pub(super) fn limit(&self, course: &DeviceCourse, ahead: Span) -> Option<PredictedPosition> {
        if self.share() < DEVICE_LEAST_SHARE {
            return None;
        }
        let (x, y) = course.position(self.shown(course.distance(ahead), ahead));
        let growth = probes(ahead).powf(ERROR_GROWTH);
        let (error_x, error_y) = (self.squares.0.sqrt() * growth, self.squares.1.sqrt() * growth);
        let error = (self.squares.0 + self.squares.1).sqrt() * growth;
        Some(PredictedPosition { x, y, error, error_x, error_y })
    }

    /// Starts a new gesture: what was learned belongs to the device and the hand, and stays.
    pub(super) fn begin(&mut self) {
        self.probes.clear();
    }

    /// The share of a predicted distance that came true; 1 before any comparison.
    fn share(&self) -> f64 {
        if self.predicted > 0.0 { (self.came_true / self.predicted).clamp(0.0, 1.0) } else { 1.0 }
    }

    fn shown(&self, distance: f64, ahead: Span) -> f64 {
        let trusted = distance * self.share();
        let beyond = (trusted - DEVICE_KNEE).max(0.0);
        (trusted.min(DEVICE_KNEE) + DEVICE_SHARE_BEYOND * beyond).min(self.reach * probes(ahead))
    }
}

impl TrustProbe {
    fn due(&self) -> crate::time::Instant {
        self.from.at + PROBE_HORIZON
    }
}

/// `ahead` in units of [`PROBE_HORIZON`].
fn probes(ahead: Span) -> f64 {
    ahead.as_seconds_f64() / PROBE_HORIZON.as_seconds_f64()
}
