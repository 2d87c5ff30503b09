//! Presentation times of the frame that is being latched, for animations.

use upbeat_timing::time::{Instant, Span};

/// Times of the frame that is being latched.
#[derive(Clone, Copy, Debug)]
pub struct FrameTimes {
    /// Presentation time of this frame.
    pub present: Instant,
    /// Presentation time of the previous frame, in which changes made by the user start to move.
    pub previous: Instant,
    /// Start of the animations of windows that open or close. Where frames are rendered ahead they can start later, so
    /// that their first frames, which are often the most expensive, are rendered ahead, too.
    pub open_close_start: Instant,
}

impl FrameTimes {
    /// The frame presented at `at`, one interval after the previous frame. Windows open and close `delay` later.
    pub fn new(at: Instant, interval: Span, delay: Span) -> Self {
        let before = at - interval;
        FrameTimes { present: at, previous: before, open_close_start: before + delay }
    }

    /// Whether animations of windows that open or close start delayed.
    pub fn delays_open_close(&self) -> bool {
        self.open_close_start > self.previous
    }
}
