//! The motion of our own animations: values as functions of the time at which a frame is *shown*, never of the present
//! moment (DESIGN 5.5). A frame that is drawn three refreshes ahead looks the same as a frame that is drawn at the last
//! moment. Only a frame that is shown late was drawn for another time.
//!
//! ```text
//!   value
//!   goal ┤              ╭───────────────  a motion ends by `settled_by`, and is its goal exactly from then on
//!        │          ╭───╯
//!        │      ╭───╯ ← retarget(here): value and velocity stay, the goal is another
//!        │  ╭───╯
//!   from ┼──╯
//!        └──┬───────────────┬──────────► time at which the frame is shown
//!         start         settled_by
//! ```
//!
//! The caller chooses the unit of values (logical pixels, a share of 1); velocities are per second.

pub mod dragged;
pub mod easing;
pub mod spring;

use crate::time::{Instant, Span};
use easing::CubicBezier;
use spring::{Spring, SpringShape};

/// A value and its velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionSample {
    /// The value, in the caller's unit.
    pub value: f64,
    /// The change of the value per second.
    pub velocity: f64,
}

impl MotionSample {
    /// A value that does not move.
    pub const fn at_rest(value: f64) -> Self {
        MotionSample { value, velocity: 0.0 }
    }
}

/// How a value moves to its goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotionStyle {
    /// Like a mass on a spring; the duration follows from the spring.
    Spring(SpringShape),
    /// Along a curve, in a fixed time.
    Easing {
        /// The duration; more than zero.
        duration: Span,
        /// Maps the share of the time to the share of the way.
        curve: CubicBezier,
    },
}

/// The motion of one value to its goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    course: MotionCourse,
    style: MotionStyle,
    tolerance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum MotionCourse {
    Spring(Spring),
    Eased(Eased),
}

impl Motion {
    /// A motion from rest at `from`, in the frame shown at `start`, to `goal`. It is settled within `tolerance`,
    /// which is more than zero: the largest step that is invisible. A curve starts at its own slope.
    pub fn new(style: MotionStyle, start: Instant, from: f64, goal: f64, tolerance: f64) -> Self {
        let course = match style {
            MotionStyle::Spring(shape) => {
                MotionCourse::Spring(Spring::new(shape, start, MotionSample::at_rest(from), goal, tolerance))
            }
            MotionStyle::Easing { duration, curve } => {
                MotionCourse::Eased(Eased::new(duration, curve, start, from, goal, 0.0))
            }
        };
        Motion { course, style, tolerance }
    }

    /// A motion from `from`, in the frame shown at `start`, to `goal`, that keeps the velocity. A value at rest
    /// starts as with [`new`](Self::new).
    pub fn carry_on(style: MotionStyle, start: Instant, from: MotionSample, goal: f64, tolerance: f64) -> Self {
        if from.velocity == 0.0 {
            return Self::new(style, start, from.value, goal, tolerance);
        }
        let course = match style {
            MotionStyle::Spring(shape) => MotionCourse::Spring(Spring::new(shape, start, from, goal, tolerance)),
            MotionStyle::Easing { duration, curve } => {
                let own = curve.slope(0.0) * (goal - from.value) / duration.as_seconds_f64();
                MotionCourse::Eased(Eased::new(duration, curve, start, from.value, goal, from.velocity - own))
            }
        };
        Motion { course, style, tolerance }
    }

    /// The same motion with another goal from the frame shown at `present` on; value and velocity continue smoothly.
    pub fn retarget(&self, present: Instant, goal: f64) -> Self {
        Self::carry_on(self.style, present, self.at(present), goal, self.tolerance)
    }

    /// Value and velocity in the frame shown at `present`; before the start, those of the start.
    pub fn at(&self, present: Instant) -> MotionSample {
        match &self.course {
            MotionCourse::Spring(spring) => spring.at(present),
            MotionCourse::Eased(eased) => eased.at(present),
        }
    }

    /// The value that the motion ends at.
    pub const fn goal(&self) -> f64 {
        match &self.course {
            MotionCourse::Spring(spring) => spring.goal(),
            MotionCourse::Eased(eased) => eased.goal,
        }
    }

    /// The instant from which on the value is exactly the goal and does not move.
    pub const fn settled_by(&self) -> Instant {
        match &self.course {
            MotionCourse::Spring(spring) => spring.settled_by(),
            MotionCourse::Eased(eased) => eased.end,
        }
    }
}

/// A motion along a curve. Velocity that an interruption left fades out over the same time: `x(s) = from + (goal −
/// from)·curve(s) + v·T·s·(1 − s)²`. The last term has slope `v` at the start, and neither value nor slope at the end
/// (a cubic Hermite spline of that tangent alone).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Eased {
    start: Instant,
    end: Instant,
    curve: CubicBezier,
    from: f64,
    goal: f64,
    /// Velocity at the start in addition to the curve's own, per second.
    carried: f64,
}

impl Eased {
    fn new(duration: Span, curve: CubicBezier, start: Instant, from: f64, goal: f64, carried: f64) -> Self {
        Eased { start, end: start + duration, curve, from, goal, carried }
    }

    fn at(&self, present: Instant) -> MotionSample {
        if present >= self.end {
            return MotionSample::at_rest(self.goal);
        }
        let seconds = self.end.since(self.start).as_seconds_f64();
        let share = (present.since(self.start).as_seconds_f64() / seconds).max(0.0);
        let (way, left) = (self.goal - self.from, 1.0 - share);
        let value = self.from + way * self.curve.at(share) + self.carried * seconds * share * left * left;
        let velocity = way * self.curve.slope(share) / seconds + self.carried * left * (1.0 - 3.0 * share);
        MotionSample { value, velocity }
    }
}

#[cfg(test)]
mod tests;
