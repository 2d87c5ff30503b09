//! Something that fades in and out, such as the overview.

use super::FrameTimes;
use super::animated_value::AnimatedValue;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::dragged::DraggedValue;
use upbeat_timing::time::Instant;

/// Distance to the goal that counts as settled: a quarter of one of 256 levels.
const TOLERANCE: f64 = 1e-3;

/// An animated switch: 0 is hidden, 1 is shown.
#[derive(Debug, Default)]
pub struct AnimatedToggle {
    on: bool,
    /// The state at the last latch.
    last_latch: bool,
    value: AnimatedValue,
}

impl AnimatedToggle {
    /// Whether it is shown or fades in.
    pub const fn is_on(&self) -> bool {
        self.on
    }

    /// Shows or hides it. Returns whether that is a change.
    pub fn set(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.on, on) != on
    }

    /// Starts the animation for a change since the last latch and ends it once it has settled.
    pub(in crate::shell) fn update(&mut self, style: Option<MotionStyle>, shown: FrameTimes) {
        let before = std::mem::replace(&mut self.last_latch, self.on);
        let share = |is_there: bool| f64::from(u8::from(is_there));
        self.value.update(style, shown, share(before), share(self.on), TOLERANCE);
    }

    /// A gesture starts to hold it; until the release it counts as shown.
    pub(in crate::shell) fn hold(&mut self, gesture: DraggedValue) {
        (self.on, self.last_latch) = (true, true);
        self.value = AnimatedValue::HeldByGesture(Box::new(gesture));
    }

    /// The gesture that holds it.
    pub(in crate::shell) fn gesture(&mut self) -> Option<&mut DraggedValue> {
        self.value.gesture()
    }

    /// The gesture releases it at time `at`.
    pub(in crate::shell) fn release(&mut self, at: Instant) {
        self.value.release(at);
    }

    /// Jumps to the goal, unless a gesture holds it.
    pub(in crate::shell) fn finish(&mut self) {
        self.value.finish();
    }

    /// Visible share in the frame presented at `present`. A spring may overshoot 0 and 1.
    pub fn at(&self, present: Instant) -> f64 {
        self.value.at(f64::from(u8::from(self.last_latch)), present)
    }

    /// Whether it is visible in the frame presented at `present`.
    pub fn is_seen(&self, present: Instant) -> bool {
        self.last_latch || self.moves_after(present)
    }

    /// Whether it changes after the frame presented at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        self.value.moves_after(present)
    }
}
