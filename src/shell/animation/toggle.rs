//! Something that is there or not, and gets there gradually.

use super::Shown;
use super::course::Course;
use upbeat_timing::motion::Style;
use upbeat_timing::motion::pulled::Pulled;
use upbeat_timing::time::Instant;

/// When it counts as settled: a quarter of one of 256 levels.
const TOLERANCE: f64 = 1e-3;

/// Something that comes and goes: 0 is gone, 1 is there.
#[derive(Debug, Default)]
pub struct Toggle {
    /// Whether it is to be there.
    on: bool,
    /// What was to be at the last latch.
    known: bool,
    course: Course,
}

impl Toggle {
    /// Whether it is to be there.
    pub const fn is_on(&self) -> bool {
        self.on
    }

    /// Lets it come or go; whether it did not already.
    pub fn set(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.on, on) != on
    }

    /// Starts what changed since the last latch, and drops what is at its end.
    pub(super) fn follow(&mut self, style: Option<Style>, shown: Shown) {
        let before = std::mem::replace(&mut self.known, self.on);
        let share = |is_there: bool| f64::from(u8::from(is_there));
        self.course.follow(style, shown, share(before), share(self.on), TOLERANCE);
    }

    /// A hand has it, on its way there or back; it counts as there meanwhile.
    pub(in crate::shell) fn hold(&mut self, hand: Pulled) {
        (self.on, self.known) = (true, true);
        self.course = Course::Held(Box::new(hand));
    }

    /// The hand that has it.
    pub(in crate::shell) fn hand(&mut self) -> Option<&mut Pulled> {
        self.course.hand()
    }

    /// The hand lets it go, at `at`.
    pub(in crate::shell) fn let_go(&mut self, at: Instant) {
        self.course.let_go(at);
    }

    /// It is where it is going.
    pub(super) fn end(&mut self) {
        self.course.end();
    }

    /// How much of it is there in the frame presented at `present`; a spring may swing past 0 and 1.
    pub fn at(&self, present: Instant) -> f64 {
        self.course.at(f64::from(u8::from(self.known)), present)
    }

    /// Whether anything of it is seen in the frame presented at `present`.
    pub fn is_seen(&self, present: Instant) -> bool {
        self.known || self.moves_after(present)
    }

    /// Whether it changes after the frame presented at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        self.course.moves_after(present)
    }
}
