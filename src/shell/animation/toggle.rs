//! Something that is there or not, and gets there gradually.

use super::Shown;
use crate::time::Instant;
use crate::timing::motion::{Motion, Style};

/// When it counts as settled: a quarter of one of 256 levels.
const TOLERANCE: f64 = 1e-3;

/// Something that comes and goes: 0 is gone, 1 is there.
#[derive(Debug, Default)]
pub struct Toggle {
    /// Whether it is to be there.
    on: bool,
    /// What was to be at the last latch.
    known: bool,
    motion: Option<Motion>,
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
        if std::mem::replace(&mut self.known, self.on) != self.on {
            let goal = f64::from(u8::from(self.on));
            self.motion = match (self.motion, style) {
                (Some(motion), _) => Some(motion.retarget(shown.before, goal)),
                (None, Some(style)) => Some(Motion::new(style, shown.before, 1.0 - goal, goal, TOLERANCE)),
                (None, None) => None,
            };
        }
        self.motion = self.motion.filter(|motion| motion.settled_by() > shown.at);
    }

    /// It is where it is going.
    pub(super) fn end(&mut self) {
        self.motion = None;
    }

    /// How much of it is there in the frame presented at `present`; a spring may swing past 0 and 1.
    pub fn at(&self, present: Instant) -> f64 {
        self.motion.map_or(f64::from(u8::from(self.known)), |motion| motion.at(present).value)
    }

    /// Whether anything of it is seen in the frame presented at `present`.
    pub fn is_seen(&self, present: Instant) -> bool {
        self.known || self.moves_after(present)
    }

    /// Whether it changes after the frame presented at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        self.motion.is_some_and(|motion| motion.settled_by() > present)
    }
}
