//! The future course of a view, as a function of time instead of a velocity, so that the whole need of a fling is known
//! when it begins.

use crate::time::Span;

/// A distance over the document in pixels; positive to the right and down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScrollDistance {
    /// Distance to the right, in pixels.
    pub x: f64,
    /// Distance downwards, in pixels.
    pub y: f64,
}

/// A motion from now on. Along each axis it never turns back.
pub trait ViewCourse {
    /// How far the view will have moved `after` this time.
    fn distance_after(&self, after: Span) -> ScrollDistance;

    /// How far the view moves until it rests; infinite if it does not rest by itself.
    fn distance_to_rest(&self) -> ScrollDistance;
}

/// A constant speed without end, in pixels per second: a finger that drags, or a view at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyCourse(pub ScrollDistance);

impl ViewCourse for SteadyCourse {
    fn distance_after(&self, after: Span) -> ScrollDistance {
        let seconds = after.as_seconds_f64();
        ScrollDistance { x: self.0.x * seconds, y: self.0.y * seconds }
    }

    fn distance_to_rest(&self) -> ScrollDistance {
        let far = |speed: f64| if speed == 0.0 { 0.0 } else { f64::INFINITY.copysign(speed) };
        ScrollDistance { x: far(self.0.x), y: far(self.0.y) }
    }
}
