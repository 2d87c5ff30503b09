//! Presentation times of the frame that is being latched, for animations.

use upbeat_timing::time::{Instant, Span};

/// Times of the frame that is being latched.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Presentation time of this frame.
    pub at: Instant,
    /// Presentation time of the previous frame, in which changes made by the user start to move.
    pub before: Instant,
    /// Start of the animations of windows that open or close. Where frames are rendered ahead they can start later, so
    /// that their first frames, which are often the most expensive, are rendered ahead, too.
    pub unasked: Instant,
}

impl Shown {
    /// The frame presented at `at`, one interval after the previous frame. Windows open and close `delay` later.
    pub fn new(at: Instant, interval: Span, delay: Span) -> Self {
        let before = at - interval;
        Shown { at, before, unasked: before + delay }
    }

    /// Whether animations of windows that open or close start delayed.
    pub fn waits(&self) -> bool {
        self.unasked > self.before
    }
}
