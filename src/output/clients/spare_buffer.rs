//! Whether a client has a free buffer to draw into while the compositor holds others.
//!
//! A client that draws in shared memory must always have a free buffer, because some exit without one. Clients that
//! draw on a device wait or allocate another.

use crate::output::OutputState;
use crate::surface::{BufferMemory, SurfaceEntry};
use upbeat_timing::pacing::ClientClass;

/// Waiting updates whose buffers a client that draws on a device can spare, beside the buffers on screen and in flight.
const MOST_WAITING_IN_DEVICE: usize = 1;

/// Whether the client of a surface has a buffer to draw the next frame into.
pub(in crate::output) fn can_draw(entry: &SurfaceEntry, output: &OutputState) -> bool {
    let pacing = output.clients.get(&entry.client()).and_then(|pacing| output.conductor.pacer(pacing.pacer));
    // A gated client commits a frame that it has already drawn, and needs another buffer at once.
    let has_drawn = pacing.is_some_and(|pacer| pacer.class() == ClientClass::Gated);
    match entry.memory() {
        BufferMemory::Device => entry.queued_updates() <= MOST_WAITING_IN_DEVICE,
        // Held beside the waiting updates: the applied buffer, and the buffer of a frame that is being drawn.
        BufferMemory::Shared => {
            let held = entry.queued_updates() + 1 + usize::from(output.is_drawing());
            entry.buffers() > held + usize::from(has_drawn)
        }
    }
}

/// Whether the surface's client may get a callback. `runs_ahead`: it may, even while its last commit waits, if it can
/// draw.
pub(in crate::output) fn may_be_called(entry: &SurfaceEntry, output: &OutputState, runs_ahead: bool) -> bool {
    !runs_ahead || entry.queued_updates() == 0 || can_draw(entry, output)
}
