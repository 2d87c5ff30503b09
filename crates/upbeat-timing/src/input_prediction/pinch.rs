//! Predicts the distance of two fingers at a target: the zoom of a frame that is drawn ahead.

use super::{Linear, PositionSample, Predictor};
use crate::time::Instant;

/// D-VSync's zoom distance predictor (ZDP, 6.5): a line through the recent distances of two fingers.
///
/// Zoom is a ratio of distances, so the predicted distance is never less than one pixel.
#[derive(Clone, Debug, Default)]
pub struct PinchDistance {
    line: Linear,
}

impl PinchDistance {
    /// A predictor without samples.
    pub const fn new() -> Self {
        PinchDistance { line: Linear::new() }
    }

    /// Adds the positions of both fingers at one moment, in pixels.
    pub fn observe(&mut self, at: Instant, first: (f64, f64), second: (f64, f64)) {
        let distance = (first.0 - second.0).hypot(first.1 - second.1);
        self.line.observe(PositionSample { at, x: distance, y: 0.0 });
    }

    /// The distance at `at` in pixels, at least one; `None` without samples.
    pub fn distance(&self, at: Instant) -> Option<f64> {
        self.line.position(at).map(|(distance, _)| distance.max(1.0))
    }

    /// Starts a new gesture: forgets all samples.
    pub fn reset(&mut self) {
        self.line.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn spreading_fingers_go_on_spreading_and_closing_ones_stop_at_one_pixel() {
        let mut pinch = PinchDistance::new();
        assert_eq!(pinch.distance(Instant::ZERO), None);
        let mut at = Instant::from_nanos(1_000_000_000);
        for step in 0..10 {
            at += Span::from_millis(8);
            pinch.observe(at, (100.0 - step as f64, 0.0), (200.0 + step as f64, 0.0));
        }
        let ahead = pinch.distance(at + Span::from_millis(40)).unwrap();
        assert!((ahead - 128.0).abs() < 1e-6, "{ahead}");
        pinch.reset();
        for step in 0..10 {
            at += Span::from_millis(8);
            pinch.observe(at, (0.0, 0.0), (0.0, 100.0 - 10.0 * step as f64));
        }
        assert_eq!(pinch.distance(at + Span::from_millis(40)), Some(1.0));
    }
}
