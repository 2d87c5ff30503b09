//! A value with a goal: at rest, animated, or dragged by the user, who may release it while it moves.

use super::FrameTimes;
use upbeat_timing::motion::dragged::DraggedValue;
use upbeat_timing::motion::{Motion, MotionSample, MotionStyle};
use upbeat_timing::time::Instant;

/// How a value gets to its goal.
#[derive(Debug, Default)]
pub(super) enum AnimatedValue {
    /// The value is at its goal.
    #[default]
    AtGoal,
    /// An animation moves the value to its goal.
    Motion(Box<Motion>),
    /// A gesture of the user holds the value.
    HeldByGesture(Box<DraggedValue>),
    /// The gesture released the value with this velocity; the next latch starts the animation.
    Released(Box<DraggedValue>, f64),
}

impl AnimatedValue {
    /// The value in the frame presented at `present`.
    pub fn at(&self, goal: f64, present: Instant) -> f64 {
        match self {
            AnimatedValue::AtGoal => goal,
            AnimatedValue::Motion(motion) => motion.at(present).value,
            AnimatedValue::HeldByGesture(gesture) | AnimatedValue::Released(gesture, _) => gesture.at(present),
        }
    }

    pub const fn is_at_rest(&self) -> bool {
        matches!(self, AnimatedValue::AtGoal)
    }

    /// Whether the value changes after the frame presented at `present` without further input.
    pub fn moves_after(&self, present: Instant) -> bool {
        match self {
            AnimatedValue::AtGoal => false,
            AnimatedValue::Motion(motion) => motion.settled_by() > present,
            AnimatedValue::HeldByGesture(gesture) => gesture.settled_by() > present,
            AnimatedValue::Released(..) => true,
        }
    }

    /// The gesture that holds the value.
    pub fn gesture(&mut self) -> Option<&mut DraggedValue> {
        if let AnimatedValue::HeldByGesture(gesture) = self { Some(gesture) } else { None }
    }

    /// The gesture releases the value at time `at`.
    pub fn release(&mut self, at: Instant) {
        *self = match std::mem::take(self) {
            AnimatedValue::HeldByGesture(gesture) => {
                let velocity = gesture.velocity(at);
                AnimatedValue::Released(gesture, velocity)
            }
            other => other,
        };
    }

    /// Starts or retargets the animation if the goal changed from `before` since the last latch; ends an animation that
    /// has settled.
    pub fn update(&mut self, style: Option<MotionStyle>, shown: FrameTimes, before: f64, goal: f64, tolerance: f64) {
        let carry_on = |from: MotionSample| match style {
            Some(style) => {
                AnimatedValue::Motion(Box::new(Motion::carry_on(style, shown.previous, from, goal, tolerance)))
            }
            None => AnimatedValue::AtGoal,
        };
        *self = match std::mem::take(self) {
            AnimatedValue::Released(gesture, velocity) => {
                carry_on(MotionSample { value: gesture.at(shown.previous), velocity })
            }
            other if before == goal => other,
            AnimatedValue::AtGoal => carry_on(MotionSample::at_rest(before)),
            AnimatedValue::Motion(motion) => AnimatedValue::Motion(Box::new(motion.retarget(shown.previous, goal))),
            // Another part of the compositor changed the goal: it overrides the gesture.
            AnimatedValue::HeldByGesture(gesture) => carry_on(MotionSample::at_rest(gesture.at(shown.previous))),
        };
        if matches!(self, AnimatedValue::Motion(motion) if motion.settled_by() <= shown.present) {
            *self = AnimatedValue::AtGoal;
        }
    }

    /// Jumps to the goal, unless a gesture holds the value.
    pub fn finish(&mut self) {
        if !matches!(self, AnimatedValue::HeldByGesture(_)) {
            *self = AnimatedValue::AtGoal;
        }
    }
}
