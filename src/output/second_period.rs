//! When a client with two periods of slack is called back for its next frame: as soon as it has a buffer to draw it into.
//!
//! ```text
//!   commit n ─► called back for n+1, if a buffer is left
//!                 └ none is: when the frame in flight lands, and what was shown before it is released
//!                     └ none is even then: at the latch of n
//! ```
//!
//! Mesa's software rasteriser, which has four buffers, crashes when it finds none of them free.

use crate::surface::Entry;

/// Updates that may wait behind one that is latched: that of the next refresh.
const MOST_BEHIND_LATCH: usize = 1;

/// Whether the client of a surface that was just latched may draw one more frame while others wait.
pub(super) fn may_follow(entry: &Entry, runs_ahead: bool) -> bool {
    !runs_ahead
        || entry.waiting() == 0
        || (entry.waiting() <= MOST_BEHIND_LATCH && has_buffer(entry, entry.waiting(), true))
}

/// Whether there is a buffer to draw into beside those of updates that wait, of what is on screen and in flight.
pub(super) fn has_buffer(entry: &Entry, waiting: usize, in_flight: bool) -> bool {
    entry.buffers() > waiting + 1 + usize::from(in_flight)
}
