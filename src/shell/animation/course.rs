//! A value with a goal: at rest, animated, or dragged by the user, who may release it while it moves.

use super::Shown;
use upbeat_timing::motion::pulled::Pulled;
use upbeat_timing::motion::{Motion, Sample, Style};
use upbeat_timing::time::Instant;

/// How a value gets to its goal.
#[derive(Debug, Default)]
pub(super) enum Course {
    /// The value is at its goal.
    #[default]
    Rest,
    /// An animation moves the value to its goal.
    Motion(Box<Motion>),
    /// A gesture of the user holds the value.
    Held(Box<Pulled>),
    /// The gesture released the value with this velocity; the next latch starts the animation.
    LetGo(Box<Pulled>, f64),
}

impl Course {
    /// The value in the frame presented at `present`.
    pub fn at(&self, goal: f64, present: Instant) -> f64 {
        match self {
            Course::Rest => goal,
            Course::Motion(motion) => motion.at(present).value,
            Course::Held(hand) | Course::LetGo(hand, _) => hand.at(present),
        }
    }

    pub const fn rests(&self) -> bool {
        matches!(self, Course::Rest)
    }

    /// Whether the value changes after the frame presented at `present` without further input.
    pub fn moves_after(&self, present: Instant) -> bool {
        match self {
            Course::Rest => false,
            Course::Motion(motion) => motion.settled_by() > present,
            Course::Held(hand) => hand.rests_by() > present,
            Course::LetGo(..) => true,
        }
    }

    /// The gesture that holds the value.
    pub fn hand(&mut self) -> Option<&mut Pulled> {
        if let Course::Held(hand) = self { Some(hand) } else { None }
    }

    /// The gesture releases the value at time `at`.
    pub fn let_go(&mut self, at: Instant) {
        *self = match std::mem::take(self) {
            Course::Held(hand) => {
                let velocity = hand.velocity(at);
                Course::LetGo(hand, velocity)
            }
            other => other,
        };
    }

    /// Starts or retargets the animation if the goal changed from `before` since the last latch; ends an animation that
    /// has settled.
    pub fn follow(&mut self, style: Option<Style>, shown: Shown, before: f64, goal: f64, tolerance: f64) {
        let carry_on = |from: Sample| match style {
            Some(style) => Course::Motion(Box::new(Motion::carry_on(style, shown.before, from, goal, tolerance))),
            None => Course::Rest,
        };
        *self = match std::mem::take(self) {
            Course::LetGo(hand, velocity) => carry_on(Sample { value: hand.at(shown.before), velocity }),
            other if before == goal => other,
            Course::Rest => carry_on(Sample::at_rest(before)),
            Course::Motion(motion) => Course::Motion(Box::new(motion.retarget(shown.before, goal))),
            // Another part of the compositor changed the goal: it overrides the gesture.
            Course::Held(hand) => carry_on(Sample::at_rest(hand.at(shown.before))),
        };
        if matches!(self, Course::Motion(motion) if motion.settled_by() <= shown.at) {
            *self = Course::Rest;
        }
    }

    /// Jumps to the goal, unless a gesture holds the value.
    pub fn end(&mut self) {
        if !matches!(self, Course::Held(_)) {
            *self = Course::Rest;
        }
    }
}
