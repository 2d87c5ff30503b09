//! Predicting where a finger, pen or pointer will be when a frame is seen.
//!
//! D-VSync 4.6 (IPL) and Presto 5.2.3. A frame that is drawn ahead, or late but not late enough, needs the position at
//! its target, not at its start. Each predictor fits a curve to the last samples of one gesture; [`Tracked`] adds what
//! makes a prediction usable: how far it has been off lately, and a refusal when that is too much.
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
mod pinch;

pub use device::DeviceHistory;
pub use error::{PredictionLimits, Tracked};
pub use fit::{Curve, Fit, Line, Linear, Moments, Parabola, Quadratic};
pub use kalman::Kalman;
pub use pinch::PinchDistance;

use crate::time::Instant;

/// A position at a time, in pixels (or the unit that answers are wanted in).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// When the device reported it.
    pub at: Instant,
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
}

/// A predicted position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// How far off predictions over this horizon have been lately (root mean square, same unit).
    pub error: f64,
    /// The same of the horizontal part alone.
    pub error_x: f64,
    /// And of the vertical.
    pub error_y: f64,
}

/// A curve through the last samples of one gesture. Neither method allocates.
pub trait Predictor {
    /// The next sample. Samples that are not later than the one before replace it.
    fn observe(&mut self, sample: Sample);

    /// The position at `at`, which may lie before or after the last sample; `None` without samples.
    fn position(&self, at: Instant) -> Option<(f64, f64)>;

    /// A new gesture: nothing is known.
    fn reset(&mut self);
}

/// No prediction: the last position stays. The baseline of every comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hold(Option<Sample>);

impl Predictor for Hold {
    fn observe(&mut self, sample: Sample) {
        self.0 = Some(sample);
    }

    fn position(&self, _at: Instant) -> Option<(f64, f64)> {
        self.0.map(|sample| (sample.x, sample.y))
    }

    fn reset(&mut self) {
        self.0 = None;
    }
}
