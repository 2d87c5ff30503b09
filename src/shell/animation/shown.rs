//! The frame that is being chosen, by its times.

use upbeat_timing::time::{Instant, Span};

/// Which frame is being chosen.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// When it is presented.
    pub at: Instant,
    /// When the frame before it is: what somebody changed since then starts to move there.
    pub before: Instant,
    /// Where that starts to move which answers nobody: a window that opens or goes. Where frames are rendered ahead it can
    /// wait, so that the first frames of the motion, which are often the dearest, are not the ones that have no time.
    pub unasked: Instant,
}

impl Shown {
    /// The frame presented at `at`, an interval after the one before; what answers nobody starts `delay` later.
    pub fn new(at: Instant, interval: Span, delay: Span) -> Self {
        let before = at - interval;
        Shown { at, before, unasked: before + delay }
    }

    /// Whether what answers nobody waits.
    pub fn waits(&self) -> bool {
        self.unasked > self.before
    }
}
