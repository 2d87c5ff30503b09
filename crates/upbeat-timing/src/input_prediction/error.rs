//! Learns the error of predictions while they are made, and refuses a prediction when its error is too large.

use super::{PositionSample, PredictedPosition, Predictor};
use crate::defaults::{PREDICTION, PREDICTION_UNDOUBTED};
use crate::fixed_queue::FixedQueue;
pub use crate::settings::PredictionLimits;
use crate::time::{Instant, Span};

/// The horizon over which predictions are compared with later samples: one refresh at 60 Hz.
const PROBE_HORIZON: Span = Span::from_millis(16);
/// Probes under way: 16 ms of a 1 kHz device.
const MOST_PROBES: usize = 20;
/// The weight of one comparison.
const ERROR_WEIGHT: f64 = 1.0 / 16.0;
/// The error grows with this power of the horizon: 1 for a wrong velocity, 2 for an acceleration that was not seen.
const ERROR_GROWTH: f64 = 1.5;

impl Default for PredictionLimits {
    fn default() -> Self {
        PREDICTION
    }
}

/// A prediction to compare with later samples, and the position when it was made.
#[derive(Clone, Copy, Debug, Default)]
struct PredictionProbe {
    predicted: PositionSample,
    held: (f64, f64),
}

/// A predictor that knows its recent error, and refuses a prediction where the last position has been better.
#[derive(Clone, Debug)]
pub struct ErrorTracked<P> {
    predictor: P,
    limits: PredictionLimits,
    probes: FixedQueue<PredictionProbe, MOST_PROBES>,
    /// Mean square of the error over [`PROBE_HORIZON`] in x and in y.
    mean_squares: (f64, f64),
    /// The same for holding the last position: no prediction.
    held_square: f64,
    last: Option<PositionSample>,
    samples: u32,
}

impl<P: Predictor> ErrorTracked<P> {
    /// Wraps `predictor`, which may go as far as `limits`.
    pub fn new(predictor: P, limits: PredictionLimits) -> Self {
        ErrorTracked {
            predictor,
            limits,
            probes: FixedQueue::new(),
            mean_squares: (0.0, 0.0),
            held_square: 0.0,
            last: None,
            samples: 0,
        }
    }

    /// The next sample of the gesture.
    pub fn observe(&mut self, sample: PositionSample) {
        self.compare(sample);
        self.predictor.observe(sample);
        self.samples = self.samples.saturating_add(1);
        self.last = Some(sample);
        if self.samples < self.limits.samples {
            return;
        }
        let at = sample.at + PROBE_HORIZON;
        if let Some((x, y)) = self.predictor.position(at) {
            // A full queue means a device faster than 1 kHz: a missing probe does no harm.
            let _ = self
                .probes
                .push(PredictionProbe { predicted: PositionSample { at, x, y }, held: (sample.x, sample.y) });
        }
    }

    /// The position of the gesture at `at`. `None` with too few samples, or when holding the last position has
    /// lately been more accurate (two fingers reported as one, a device that jumps).
    pub fn predict(&self, at: Instant) -> Option<PredictedPosition> {
        if self.is_worse_than_none() {
            return None;
        }
        let last = self.last.filter(|_| self.samples >= self.limits.samples)?;
        let horizon = (at - last.at).max(Span::ZERO).min(self.affordable_horizon());
        let (x, y) = self.predictor.position(last.at + horizon)?;
        let growth = growth(horizon);
        let (error_x, error_y) = (self.mean_squares.0.sqrt() * growth, self.mean_squares.1.sqrt() * growth);
        Some(PredictedPosition { x, y, error: self.mean_square().sqrt() * growth, error_x, error_y })
    }

    /// Starts a new gesture. The learned error stays, since it belongs to the device and the hand.
    pub fn reset(&mut self) {
        self.predictor.reset();
        self.probes.clear();
        self.last = None;
        self.samples = 0;
    }

    fn is_worse_than_none(&self) -> bool {
        let square = self.mean_square();
        square > PREDICTION_UNDOUBTED * PREDICTION_UNDOUBTED && square >= self.limits.worth * self.held_square
    }

    fn mean_square(&self) -> f64 {
        self.mean_squares.0 + self.mean_squares.1
    }

    fn affordable_horizon(&self) -> Span {
        let probe_error = self.mean_square().sqrt();
        if probe_error <= 0.0 {
            return self.limits.horizon;
        }
        let ratio = (self.limits.error / probe_error).powf(1.0 / ERROR_GROWTH).min(1e3);
        self.limits.horizon.min(Span::from_millis_f64(PROBE_HORIZON.as_millis_f64() * ratio))
    }

    /// Compares the due probes with the path between the last two samples.
    fn compare(&mut self, sample: PositionSample) {
        let Some(last) = self.last else { return };
        while let Some(probe) = self.probes.get(0).copied().filter(|probe| probe.predicted.at <= sample.at) {
            self.probes.pop();
            let length = (sample.at - last.at).as_seconds_f64();
            let way = if length > 0.0 {
                ((probe.predicted.at - last.at).as_seconds_f64() / length).clamp(0.0, 1.0)
            } else {
                1.0
            };
            let (x, y) = (last.x + way * (sample.x - last.x), last.y + way * (sample.y - last.y));
            let squares = |(px, py): (f64, f64)| ((px - x).powi(2), (py - y).powi(2));
            let (off_x, off_y) = squares((probe.predicted.x, probe.predicted.y));
            self.mean_squares.0 += ERROR_WEIGHT * (off_x - self.mean_squares.0);
            self.mean_squares.1 += ERROR_WEIGHT * (off_y - self.mean_squares.1);
            let (held_x, held_y) = squares(probe.held);
            self.held_square += ERROR_WEIGHT * (held_x + held_y - self.held_square);
        }
    }
}

/// The ratio of the error over `horizon` to the error over [`PROBE_HORIZON`].
fn growth(horizon: Span) -> f64 {
    (horizon.as_seconds_f64() / PROBE_HORIZON.as_seconds_f64()).powf(ERROR_GROWTH)
}

#[cfg(test)]
mod tests {
    use super::super::Linear;
    use super::*;

    fn drive(tracked: &mut ErrorTracked<Linear>, count: u64, path: impl Fn(u64) -> f64) -> Instant {
        let mut at = Instant::ZERO;
        for index in 0..count {
            at = Instant::from_nanos(1_000_000_000 + index * 8_000_000);
            tracked.observe(PositionSample { at, x: path(index), y: 0.0 });
        }
        at
    }

    #[test]
    fn a_steady_hand_is_predicted_with_a_small_error_and_a_shaky_one_with_a_large() {
        let mut steady = ErrorTracked::new(Linear::new(), PredictionLimits::default());
        let at = drive(&mut steady, 60, |index| 5.0 * index as f64) + Span::from_millis(16);
        let calm = steady.predict(at).unwrap();
        assert!((calm.x - 305.0).abs() < 1e-6 && calm.error < 1e-3, "{calm:?}");
        let mut shaky = ErrorTracked::new(Linear::new(), PredictionLimits::default());
        let at =
            drive(&mut shaky, 60, |index| 12.0 * index as f64 + 15.0 * (index as f64).sin()) + Span::from_millis(16);
        assert!(shaky.predict(at).unwrap().error > 3.0);
    }

    #[test]
    fn the_horizon_is_limited_by_time_and_by_error() {
        let limits = PredictionLimits { horizon: Span::from_millis(32), error: 2.0, samples: 3, worth: 1.0 };
        let mut tracked = ErrorTracked::new(Linear::new(), limits);
        let at = drive(&mut tracked, 40, |index| 8.0 * index as f64);
        let far = tracked.predict(at + Span::from_seconds(1)).unwrap();
        assert!((far.x - (39.0 * 8.0 + 32.0)).abs() < 1e-6, "{far:?}");
        let mut shaky = ErrorTracked::new(Linear::new(), limits);
        let at = drive(&mut shaky, 60, |index| 15.0 * index as f64 + 20.0 * (index as f64).sin());
        assert!(shaky.predict(at + Span::from_seconds(1)).unwrap().error < 2.01);
    }

    #[test]
    fn where_predictions_are_worse_than_none_there_is_none() {
        // Two fingers reported as one: the position jumps between them.
        let mut tracked = ErrorTracked::new(Linear::new(), PredictionLimits::default());
        let at = drive(&mut tracked, 60, |index| if index % 3 == 0 { 0.0 } else { 80.0 });
        assert_eq!(tracked.predict(at + Span::from_millis(16)), None);
        // A single finger again: predictions are trusted again.
        let at = drive(&mut tracked, 200, |index| 6.0 * index as f64);
        assert!(tracked.predict(at + Span::from_millis(16)).is_some());
    }

    #[test]
    fn two_samples_are_too_few() {
        let mut tracked = ErrorTracked::new(Linear::new(), PredictionLimits::default());
        let at = drive(&mut tracked, 2, |index| index as f64);
        assert_eq!(tracked.predict(at), None);
        tracked.reset();
        assert_eq!(tracked.predict(at), None);
    }
}
