//! Predicts where fingers that drag a view will be when a frame is seen.
//!
//! A view that lags behind its fingers is late, as without a prediction. A view that overshoots has to come back, which
//! is visible. So a prediction goes no further than fingers on recordings nearly always did: less far while there are
//! few samples, and less far in time where predictions have been wrong.

use super::view_course::ScrollDistance;
use crate::defaults::SCROLL_PREDICTION;
use crate::input_prediction::{ErrorTracked, Linear, PositionSample, Predictor};
use crate::time::{Instant, Span};

/// How far ahead the prediction lies from which the speed of a drag is computed.
const SPEED_HORIZON: Span = Span::from_millis(10);
/// The furthest that a prediction goes beyond the last sample, in pixels, while this drag has few samples.
const FURTHEST_OF_FEW: f64 = 12.0;
/// Up to this many samples are few: a fifth of a second, in which hands start and flings end.
const FEW: u32 = 24;
/// The furthest that any prediction goes beyond the last sample, in pixels.
const FURTHEST: f64 = 24.0;

/// Follows the fingers of a drag.
#[derive(Clone, Debug)]
pub(super) struct DragPrediction {
    line: Linear,
    tracked: ErrorTracked<Linear>,
    last: PositionSample,
    samples: u32,
}

impl DragPrediction {
    /// A predictor without any samples.
    pub fn new() -> Self {
        let tracked = ErrorTracked::new(Linear::new(), SCROLL_PREDICTION);
        DragPrediction { line: Linear::new(), tracked, last: PositionSample::default(), samples: 0 }
    }

    /// Starts a new drag. Learned errors of predictions are kept.
    pub fn begin(&mut self) {
        self.line.reset();
        self.tracked.reset();
        self.samples = 0;
    }

    /// Adds a position of the fingers.
    pub fn observe(&mut self, at: Instant, (x, y): (f64, f64)) {
        self.last = PositionSample { at, x, y };
        self.line.observe(self.last);
        self.tracked.observe(self.last);
        self.samples = self.samples.saturating_add(1);
    }

    /// The predicted position at `at`, if any.
    pub fn at(&self, at: Instant) -> Option<(f64, f64)> {
        let guess = self.tracked.predict(at)?;
        let (x, y) = (guess.x - self.last.x, guess.y - self.last.y);
        let furthest = if self.samples < FEW { FURTHEST_OF_FEW } else { FURTHEST };
        let part = (furthest / x.hypot(y)).min(1.0);
        Some((self.last.x + x * part, self.last.y + y * part))
    }

    /// The latest speed, in pixels per second.
    pub fn speed(&self) -> ScrollDistance {
        let at = self.last.at;
        let (now, later) = (self.line.position(at), self.line.position(at + SPEED_HORIZON));
        let Some(((x, y), (later_x, later_y))) = now.zip(later) else { return ScrollDistance::default() };
        let seconds = SPEED_HORIZON.as_seconds_f64();
        ScrollDistance { x: (later_x - x) / seconds, y: (later_y - y) / seconds }
    }
}
