//! Where a view goes: a function of time, not a velocity. What a fling will need is known when it begins.

use crate::time::Span;

/// A way over the document in pixels; positive to the right and down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// A motion that goes on, seen from now. Along each axis it never turns back.
pub trait Course {
    /// How far the view will have moved after so long.
    fn way(&self, after: Span) -> Way;

    /// How far it moves until it rests. Infinite where it does not by itself.
    fn rest(&self) -> Way;
}

/// The same speed for ever, in pixels per second: a finger that pulls, or nothing at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steady(pub Way);

impl Course for Steady {
    fn way(&self, after: Span) -> Way {
        let seconds = after.as_seconds_f64();
        Way { x: self.0.x * seconds, y: self.0.y * seconds }
    }

    fn rest(&self) -> Way {
        let far = |speed: f64| if speed == 0.0 { 0.0 } else { f64::INFINITY.copysign(speed) };
        Way { x: far(self.0.x), y: far(self.0.y) }
    }
}
