//! Motion of our own animations: values as functions of the time at which a frame is *shown*, never of the present
//! moment (DESIGN 5.5). A frame that is drawn three refreshes ahead and one that is drawn at the last moment look the
//! same, and a frame that is shown late is the one that was drawn for another time.
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
//! Units of value are the caller's (logical pixels, a share of 1); velocities are per second.

pub mod easing;
pub mod pulled;
pub mod spring;

use crate::time::{Instant, Span};
use easing::CubicBezier;
use spring::{Spring, SpringShape};

/// A value and how fast it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The value.
    pub value: f64,
    /// Its change per second.
    pub velocity: f64,
}

impl Sample {
    /// A value that stays.
    pub const fn at_rest(value: f64) -> Self {
        Sample { value, velocity: 0.0 }
    }
}

/// How something gets to its goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Style {
    /// As a mass on a spring does: it takes the time that it takes.
    Spring(SpringShape),
    /// Along a curve, in a stated time.
    Easing {
        /// How long it takes; more than zero.
        duration: Span,
        /// Which share of the way is done after which share of the time.
        curve: CubicBezier,
    },
}

/// One value on its way to a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    course: Course,
    style: Style,
    tolerance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Course {
    Spring(Spring),
    Eased(Eased),
}

impl Motion {
    /// From rest at `from` in the frame shown at `start`, to `goal`. It counts as settled within `tolerance`, which is
    /// more than zero: the largest step that nobody sees. A curve starts at its own slope.
    pub fn new(style: Style, start: Instant, from: f64, goal: f64, tolerance: f64) -> Self {
        let course = match style {
            Style::Spring(shape) => Course::Spring(Spring::new(shape, start, Sample::at_rest(from), goal, tolerance)),
            Style::Easing { duration, curve } => Course::Eased(Eased::new(duration, curve, start, from, goal, 0.0)),
        };
        Motion { course, style, tolerance }
    }

    /// From `from` in the frame shown at `start` to `goal`: the velocity, if there is any, stays. What is at rest starts
    /// as [`new`](Self::new) has it.
    pub fn carry_on(style: Style, start: Instant, from: Sample, goal: f64, tolerance: f64) -> Self {
        if from.velocity == 0.0 {
            return Self::new(style, start, from.value, goal, tolerance);
        }
        let course = match style {
            Style::Spring(shape) => Course::Spring(Spring::new(shape, start, from, goal, tolerance)),
            Style::Easing { duration, curve } => {
                let own = curve.slope(0.0) * (goal - from.value) / duration.as_seconds_f64();
                Course::Eased(Eased::new(duration, curve, start, from.value, goal, from.velocity - own))
            }
        };
        Motion { course, style, tolerance }
    }

    /// The same motion with another goal from the frame shown at `present` on: value and velocity there stay.
    pub fn retarget(&self, present: Instant, goal: f64) -> Self {
        Self::carry_on(self.style, present, self.at(present), goal, self.tolerance)
    }

    /// Value and velocity in the frame shown at `present`; before the start, those of the start.
    pub fn at(&self, present: Instant) -> Sample {
        match &self.course {
            Course::Spring(spring) => spring.at(present),
            Course::Eased(eased) => eased.at(present),
        }
    }

    /// Where it is going.
    pub const fn goal(&self) -> f64 {
        match &self.course {
            Course::Spring(spring) => spring.goal(),
            Course::Eased(eased) => eased.goal,
        }
    }

    /// The instant from which on the value is the goal exactly and does not move.
    pub const fn settled_by(&self) -> Instant {
        match &self.course {
            Course::Spring(spring) => spring.settled_by(),
            Course::Eased(eased) => eased.end,
        }
    }
}

/// A motion along a curve. What an interruption left of velocity fades out over the same time:
/// `x(s) = from + (goal − from)·curve(s) + v·T·s·(1 − s)²`, whose last term has slope `v` at the start and neither
/// value nor slope at the end (a cubic Hermite spline of that tangent alone).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Eased {
    start: Instant,
    end: Instant,
    curve: CubicBezier,
    from: f64,
    goal: f64,
    /// Velocity at the start beyond the curve's own, per second.
    carried: f64,
}

impl Eased {
    fn new(duration: Span, curve: CubicBezier, start: Instant, from: f64, goal: f64, carried: f64) -> Self {
        Eased { start, end: start + duration, curve, from, goal, carried }
    }

    fn at(&self, present: Instant) -> Sample {
        if present >= self.end {
            return Sample::at_rest(self.goal);
        }
        let seconds = self.end.since(self.start).as_seconds_f64();
        let share = (present.since(self.start).as_seconds_f64() / seconds).max(0.0);
        let (way, left) = (self.goal - self.from, 1.0 - share);
        let value = self.from + way * self.curve.at(share) + self.carried * seconds * share * left * left;
        let velocity = way * self.curve.slope(share) / seconds + self.carried * left * (1.0 - 3.0 * share);
        Sample { value, velocity }
    }
}

#[cfg(test)]
mod tests;
