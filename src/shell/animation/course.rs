//! What moves one value: nothing, itself, or a hand, which may let it go.

use super::Shown;
use upbeat_timing::motion::pulled::Pulled;
use upbeat_timing::motion::{Motion, Sample, Style};
use upbeat_timing::time::Instant;

/// What moves a value that has a goal.
#[derive(Debug, Default)]
pub(super) enum Course {
    /// It is at its goal.
    #[default]
    Rest,
    /// It is on its way.
    Motion(Box<Motion>),
    /// A hand has it.
    Held(Box<Pulled>),
    /// A hand let it go that was so fast, and nobody has looked since.
    LetGo(Box<Pulled>, f64),
}

impl Course {
    /// Where it is in the frame presented at `present`, with `goal` to get to.
    pub fn at(&self, goal: f64, present: Instant) -> f64 {
        match self {
            Course::Rest => goal,
            Course::Motion(motion) => motion.at(present).value,
            Course::Held(hand) | Course::LetGo(hand, _) => hand.at(present),
        }
    }

    /// Whether it is at its goal.
    pub const fn rests(&self) -> bool {
        matches!(self, Course::Rest)
    }

    /// Whether it is elsewhere after the frame presented at `present`, if nobody does anything.
    pub fn moves_after(&self, present: Instant) -> bool {
        match self {
            Course::Rest => false,
            Course::Motion(motion) => motion.settled_by() > present,
            Course::Held(hand) => hand.rests_by() > present,
            Course::LetGo(..) => true,
        }
    }

    /// The hand that has it.
    pub fn hand(&mut self) -> Option<&mut Pulled> {
        if let Course::Held(hand) = self { Some(hand) } else { None }
    }

    /// The hand lets it go, at `at`.
    pub fn let_go(&mut self, at: Instant) {
        *self = match std::mem::take(self) {
            Course::Held(hand) => {
                let velocity = hand.velocity(at);
                Course::LetGo(hand, velocity)
            }
            other => other,
        };
    }

    /// Starts what changed since the latch before, when its goal was `before`, and is at rest at the end of its way.
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
            // Somebody else wants it elsewhere.
            Course::Held(hand) => carry_on(Sample::at_rest(hand.at(shown.before))),
        };
        if matches!(self, Course::Motion(motion) if motion.settled_by() <= shown.at) {
            *self = Course::Rest;
        }
    }

    /// It is at its goal at once, unless a hand has it.
    pub fn end(&mut self) {
        if !matches!(self, Course::Held(_)) {
            *self = Course::Rest;
        }
    }
}
