//! What a driver wants before its own deadline, beyond what it says.

use crate::time::Span;

/// How much one unexplained miss adds.
const STEP: Span = Span::from_micros(250);
/// A driver that wants more takes a refresh longer, not a margin.
const LIMIT: Span = Span::from_millis(3);
/// Frames in time after which one part in sixteen is given back.
const PATIENCE: u32 = 600;

/// A margin that grows with each frame that was in time by our count and missed all the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DriverMargin {
    now: Span,
    quiet: u32,
}

impl DriverMargin {
    /// What to add to the display's lead.
    pub const fn get(self) -> Span {
        self.now
    }

    /// A frame was shown: late although it was in time, or not.
    pub fn learn(&mut self, unexplained_miss: bool) {
        if unexplained_miss {
            *self = DriverMargin { now: (self.now + STEP).min(LIMIT), quiet: 0 };
            return;
        }
        self.quiet += 1;
        if self.quiet >= PATIENCE {
            *self = DriverMargin { now: self.now - self.now / 16, quiet: 0 };
        }
    }
}
