//! One device, followed at the rate of its sensor: a pointer, a finger, a pen.
//!
//! What is said of it is meant for clients that draw under it: it is said only while it moves, and goes no further beyond the
//! last report than a finger hides.

use super::{Linear, Predicted, Sample, Tracked};
use crate::defaults::{DEVICE_PREDICTION, DEVICE_REACH};
use crate::time::{Instant, Span};

/// Devices report what moves. One that has been silent for so many of its intervals rests; at least, and at most, for so
/// long: reports of a fast one come in bundles, and a slow one is not waited for.
const SILENT_INTERVALS: i64 = 4;
const SHORTEST_SILENCE: Span = Span::from_millis(20);
const LONGEST_SILENCE: Span = Span::from_millis(40);
/// The weight of one interval.
const INTERVAL_WEIGHT: i64 = 8;

/// The last reports of a device, and how predictions of it have been.
#[derive(Clone, Debug)]
pub struct DeviceHistory {
    tracked: Tracked<Linear>,
    last: Option<Sample>,
    /// Between two reports while it moves, on average.
    interval: Span,
}

impl Default for DeviceHistory {
    fn default() -> Self {
        DeviceHistory {
            tracked: Tracked::new(Linear::new(), DEVICE_PREDICTION),
            last: None,
            interval: LONGEST_SILENCE / SILENT_INTERVALS,
        }
    }
}

impl DeviceHistory {
    /// The furthest beyond the last report that is predicted.
    pub const HORIZON: Span = DEVICE_PREDICTION.horizon;

    /// What it reported.
    pub fn observe(&mut self, sample: Sample) {
        if let Some(elapsed) = self.last.map(|last| sample.at - last.at).filter(|elapsed| *elapsed < LONGEST_SILENCE) {
            self.interval += (elapsed.max(Span::ZERO) - self.interval) / INTERVAL_WEIGHT;
        }
        self.tracked.observe(sample);
        self.last = Some(sample);
    }

    /// Its last report.
    pub const fn last(&self) -> Option<Sample> {
        self.last
    }

    /// Where it will be at `at`, as is known at `now`, at most `horizon` after its last report. `None` while it rests, while too
    /// little is known of it, and where predictions have lately been hardly better than that report.
    pub fn predict(&self, at: Instant, now: Instant, horizon: Span) -> Option<Predicted> {
        let last = self.last?;
        let silence = (self.interval * SILENT_INTERVALS).max(SHORTEST_SILENCE).min(LONGEST_SILENCE);
        if horizon <= Span::ZERO || now - last.at > silence {
            return None;
        }
        let at = at.min(last.at + horizon);
        let predicted = self.tracked.predict(at)?;
        let (x, y) = (predicted.x - last.x, predicted.y - last.y);
        let part = (DEVICE_REACH / x.hypot(y)).min(1.0);
        Some(Predicted { x: last.x + x * part, y: last.y + y * part, ..predicted })
    }

    /// The next gesture of such a device: what was learned of errors is kept.
    pub fn begin(&mut self) {
        self.tracked.reset();
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that moves so many pixels a millisecond and reports each `interval`; until when it did.
    fn moved(speed: f64, interval: Span, reports: u64) -> (DeviceHistory, Instant) {
        let (mut device, mut at) = (DeviceHistory::default(), Instant::from_nanos(1_000_000_000));
        for report in 0..reports {
            at += interval;
            device.observe(Sample { at, x: speed * report as f64 * interval.as_millis_f64(), y: 7.0 });
        }
        (device, at)
    }

    #[test]
    fn a_stroke_goes_on_for_as_long_as_is_asked_for_and_is_cut_at_the_reach() {
        let (device, last) = moved(0.5, Span::from_millis(4), 30);
        let x = |at: Instant, horizon| device.predict(at, last, horizon).map(|predicted| predicted.x).unwrap();
        let from = device.last().unwrap().x;
        assert!((x(last + Span::from_millis(12), DeviceHistory::HORIZON) - from - 6.0).abs() < 1e-6);
        assert!((x(last + Span::from_millis(12), Span::from_millis(4)) - from - 2.0).abs() < 1e-6);
        assert!((x(last + Span::from_millis(30), DeviceHistory::HORIZON) - from - DEVICE_REACH).abs() < 1e-6);
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
            device.observe(Sample { at: start + Span::from_millis(8) * report as i64, x: shaky(report), y: 0.0 });
        }
        let at = start + Span::from_millis(8 * 59);
        let before = device.predict(at + Span::from_millis(16), at, DeviceHistory::HORIZON).unwrap();
        assert!(before.error_x > 1.0 && before.error_y == 0.0, "{before:?}");
        device.begin();
        let again = at + Span::from_seconds(1);
        for report in 0..6 {
            let now = again + Span::from_millis(8) * report;
            device.observe(Sample { at: now, x: 4.0 * report as f64, y: 0.0 });
            let said = device.predict(now + Span::from_millis(16), now, DeviceHistory::HORIZON);
            assert_eq!(said.is_some(), report == 5);
            assert!(said.is_none_or(|said| said.error_x > 1.0));
        }
    }
}
