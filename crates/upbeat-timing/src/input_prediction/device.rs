//! Predicts the position of one device at the rate of its sensor: a pointer, a finger, a pen.
//!
//! The predictions are for content that is drawn under the device. There are none while it rests, and of a fast device
//! they fall short rather than go too far: content that overshoots is seen to come back.

use super::{MedianVelocity, PositionSample, PredictedPosition, PredictionTrust, Predictor};
use crate::defaults::DEVICE_HORIZON;
use crate::time::{Instant, Span};

/// Devices report only motion. A device that has been silent for this many of its intervals rests. The limits below
/// keep bundled reports of a fast device from counting as rest, and do not wait long for a slow device.
const SILENT_INTERVALS: i64 = 4;
const SHORTEST_SILENCE: Span = Span::from_millis(20);
const LONGEST_SILENCE: Span = Span::from_millis(40);
/// The weight of a new interval in the average (1/8).
const INTERVAL_WEIGHT: i64 = 8;

/// The last reports of a device, and how far its predictions were trusted by its later reports.
#[derive(Clone, Debug)]
pub struct DeviceHistory {
    course: MedianVelocity,
    trust: PredictionTrust,
    /// The average interval between two reports while it moves.
    interval: Span,
}

impl Default for DeviceHistory {
    fn default() -> Self {
        DeviceHistory {
            course: MedianVelocity::new(),
            trust: PredictionTrust::default(),
            interval: LONGEST_SILENCE / SILENT_INTERVALS,
        }
    }
}

impl DeviceHistory {
    /// The furthest beyond the last report that a prediction reaches.
    pub const HORIZON: Span = DEVICE_HORIZON;

    /// Adds a report of the device.
    pub fn observe(&mut self, sample: PositionSample) {
        let last = self.course.last();
        if let Some(elapsed) = last.map(|last| sample.at - last.at).filter(|elapsed| *elapsed < LONGEST_SILENCE) {
            self.interval += (elapsed.max(Span::ZERO) - self.interval) / INTERVAL_WEIGHT;
        }
        self.trust.compare(last, sample);
        self.course.observe(sample);
        if let Some(course) = self.course.course() {
            self.trust.probe(&course);
        }
    }

    /// The last report, if any.
    pub fn last(&self) -> Option<PositionSample> {
        self.course.last()
    }

    /// The position at `at`, as known at `now`, at most `horizon` after the last report. `None` while the device
    /// rests, with too few reports, and where predictions have lately been hardly better than the last report.
    pub fn predict(&self, at: Instant, now: Instant, horizon: Span) -> Option<PredictedPosition> {
        let last = self.last()?;
        let silence = (self.interval * SILENT_INTERVALS).max(SHORTEST_SILENCE).min(LONGEST_SILENCE);
        if horizon <= Span::ZERO || now - last.at > silence {
            return None;
        }
        let ahead = (at - last.at).max(Span::ZERO).min(horizon);
        self.trust.limit(&self.course.course()?, ahead)
    }

    /// Starts the next gesture of the device; learned trust is kept.
    pub fn begin(&mut self) {
        self.course.reset();
        self.trust.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defaults::{DEVICE_KNEE, DEVICE_SHARE_BEYOND};

    /// A device that moves this many pixels a millisecond and reports each `interval`; also returns the time of its
    /// last report.
    fn moved(speed: f64, interval: Span, reports: u64) -> (DeviceHistory, Instant) {
        let (mut device, mut at) = (DeviceHistory::default(), Instant::from_nanos(1_000_000_000));
        for report in 0..reports {
            at += interval;
            device.observe(PositionSample { at, x: speed * report as f64 * interval.as_millis_f64(), y: 7.0 });
        }
        (device, at)
    }

    #[test]
    fn a_stroke_goes_on_for_as_long_as_is_asked_for_and_less_far_beyond_the_knee() {
        let (device, last) = moved(0.5, Span::from_millis(4), 30);
        let x = |at: Instant, horizon| device.predict(at, last, horizon).map(|predicted| predicted.x).unwrap();
        let from = device.last().unwrap().x;
        assert!((x(last + Span::from_millis(12), DeviceHistory::HORIZON) - from - 6.0).abs() < 1e-6);
        assert!((x(last + Span::from_millis(12), Span::from_millis(4)) - from - 2.0).abs() < 1e-6);
        // 15 px, of which 3 lie beyond the knee.
        let far = x(last + Span::from_millis(30), DeviceHistory::HORIZON) - from;
        assert!((far - DEVICE_KNEE - 3.0 * DEVICE_SHARE_BEYOND).abs() < 1e-6, "{far}");
        assert_eq!(device.predict(last + Span::from_millis(12), last, Span::ZERO), None);
    }

    #[test]
    fn a_device_that_is_silent_for_longer_than_it_is_wont_to_be_rests() {
        for (interval, moves, rests) in [(1, 19, 21), (8, 31, 34), (30, 39, 41)] {
            let (device, last) = moved(0.2, Span::from_millis(interval), 40);
            let said = |after: i64| {
                let now = last + Span::from_millis(after);
                device.predict(now + Span::from_millis(10), now, DeviceHistory::HORIZON).is_some()
            };
            assert!(said(moves) && !said(rests), "{interval} ms");
        }
    }

    #[test]
    fn of_a_new_gesture_nothing_is_said_at_first_and_its_errors_are_those_of_the_last() {
        let mut device = DeviceHistory::default();
        let start = Instant::from_nanos(1_000_000_000);
        let shaky = |report: u64| 4.0 * report as f64 + 2.0 * (report as f64).sin();
        for report in 0..60 {
            device.observe(PositionSample {
                at: start + Span::from_millis(8) * report as i64,
                x: shaky(report),
                y: 0.0,
            });
        }
        let at = start + Span::from_millis(8 * 59);
        let before = device.predict(at + Span::from_millis(16), at, DeviceHistory::HORIZON).unwrap();
        assert!(before.error_x > 1.0 && before.error_y == 0.0, "{before:?}");
        device.begin();
        let again = at + Span::from_seconds(1);
        for report in 0..6 {
            let now = again + Span::from_millis(8) * report;
            device.observe(PositionSample { at: now, x: 4.0 * report as f64, y: 0.0 });
            let said = device.predict(now + Span::from_millis(16), now, DeviceHistory::HORIZON);
            assert_eq!(said.is_some(), report >= 3);
            assert!(said.is_none_or(|said| said.error_x > 1.0));
        }
    }
}
