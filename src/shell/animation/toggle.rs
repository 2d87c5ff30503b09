//! Something that fades in and out, such as the overview.

use super::Shown;
use super::course::Course;
use upbeat_timing::motion::Style;
use upbeat_timing::motion::pulled::Pulled;
use upbeat_timing::time::Instant;

/// Distance to the goal that counts as settled: a quarter of one of 256 levels.
const TOLERANCE: f64 = 1e-3;

/// An animated switch: 0 is hidden, 1 is shown.
#[derive(Debug, Default)]
pub struct Toggle {
    on: bool,
    /// The state at the last latch.
    known: bool,
    course: Course,
}

impl Toggle {
    /// Whether it is shown or fades in.
    pub const fn is_on(&self) -> bool {
        self.on
    }

    /// Shows or hides it. Returns whether that is a change.
    pub fn set(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.on, on) != on
    }

    /// Starts the animation for a change since the last latch and ends it once it has settled.
    pub(super) fn follow(&mut self, style: Option<Style>, shown: Shown) {
        let before = std::mem::replace(&mut self.known, self.on);
        let share = |is_there: bool| f64::from(u8::from(is_there));
        self.course.follow(style, shown, share(before), share(self.on), TOLERANCE);
    }

    /// A gesture starts to hold it; until the release it counts as shown.
    pub(in crate::shell) fn hold(&mut self, hand: Pulled) {
        (self.on, self.known) = (true, true);
        self.course = Course::Held(Box::new(hand));
    }

    /// The gesture that holds it.
    pub(in crate::shell) fn hand(&mut self) -> Option<&mut Pulled> {
        self.course.hand()
    }

    /// The gesture releases it at time `at`.
    pub(in crate::shell) fn let_go(&mut self, at: Instant) {
        self.course.let_go(at);
    }

    /// Jumps to the goal, unless a gesture holds it.
    pub(super) fn end(&mut self) {
        self.course.end();
    }

    /// Visible share in the frame presented at `present`. A spring may overshoot 0 and 1.
    pub fn at(&self, present: Instant) -> f64 {
        self.course.at(f64::from(u8::from(self.known)), present)
    }

    /// Whether it is visible in the frame presented at `present`.
    pub fn is_seen(&self, present: Instant) -> bool {
        self.known || self.moves_after(present)
    }

    /// Whether it changes after the frame presented at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        self.course.moves_after(present)
    }
}
