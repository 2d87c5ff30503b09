//! Input prediction: where a finger, pen or pointer will be when a frame is seen.
//!
//! D-VSync 4.6 (IPL) and Presto 5.2.3. A frame that is drawn ahead needs the position at its target, not at its start.
//! Each predictor fits a curve to the last samples of one gesture. [`ErrorTracked`] adds the recent error of its
//! predictions, and refuses a prediction when that is too large.
//!
//! ```text
//!   samples   ×  ×   ×  ×   ×            ○ predicted for the target, ± error
//!             ├───── window ─┤·············┤
//!                            last sample   └ horizon
//! ```

mod device;
mod error;
mod fit;
mod kalman;
mod median;
mod pinch;
mod trust;

pub use device::DeviceHistory;
pub use error::{ErrorTracked, PredictionLimits};
pub use fit::{Fit, FitCurve, LineCurve, Linear, ParabolaCurve, PowerSums, Quadratic};
pub use kalman::Kalman;
pub use median::MedianVelocity;
pub use pinch::PinchDistance;
pub use trust::PredictionTrust;

use crate::time::Instant;

/// A position at a time, in pixels (or the unit of the desired predictions).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PositionSample {
    /// When the device reported it.
    pub at: Instant,
    /// Horizontal position, in the caller's unit.
    pub x: f64,
    /// Vertical position, in the caller's unit.
    pub y: f64,
}

/// A predicted position with its expected error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedPosition {
    /// Horizontal position, in the samples' unit.
    pub x: f64,
    /// Vertical position, in the samples' unit.
    pub y: f64,
    /// The recent error of predictions over this horizon (root mean square, same unit).
    pub error: f64,
    /// The same for the horizontal part alone.
    pub error_x: f64,
    /// The same for the vertical part alone.
    pub error_y: f64,
}

/// A curve through the last samples of one gesture. The methods never allocate.
pub trait Predictor {
    /// Adds the next sample. A sample that is not later than the previous sample replaces it.
    fn observe(&mut self, sample: PositionSample);

    /// The position at `at`, which may lie before or after the last sample; `None` without samples.
    fn position(&self, at: Instant) -> Option<(f64, f64)>;

    /// Starts a new gesture: forgets all samples.
    fn reset(&mut self);
}

/// No prediction: the last position stays. The baseline of every comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct HoldLastPosition(Option<PositionSample>);

impl Predictor for HoldLastPosition {
    fn observe(&mut self, sample: PositionSample) {
        self.0 = Some(sample);
    }

    fn position(&self, _at: Instant) -> Option<(f64, f64)> {
        self.0.map(|sample| (sample.x, sample.y))
    }

    fn reset(&mut self) {
        self.0 = None;
    }
}
