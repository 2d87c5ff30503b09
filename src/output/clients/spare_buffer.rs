//! Whether a client has a buffer to draw into while others are held.
//!
//! Clients that draw in shared memory must not be left without one: some end then. Those that draw in a device's memory wait,
//! or make another.

use crate::output::OutputState;
use crate::surface::{BufferMemory, Entry};
use upbeat_timing::pacing::Class;

/// Updates of which a client in a device's memory can spare the buffers, beside what is on screen and what is in flight.
const MOST_WAITING_IN_DEVICE: usize = 1;

/// Whether the client of a surface has a buffer to draw the next frame into.
pub(in crate::output) fn can_draw(entry: &Entry, output: &OutputState) -> bool {
    let pacing = output.clients.get(&entry.client()).and_then(|pacing| output.conductor.pacer(pacing.pacer));
    // It commits what it has drawn already, and wants another buffer at once.
    let has_drawn = pacing.is_some_and(|pacer| pacer.class() == Class::Gated);
    match entry.memory() {
        BufferMemory::Device => entry.waiting() <= MOST_WAITING_IN_DEVICE,
        // Beside those that wait: what is applied, and what is being drawn if that is another.
        BufferMemory::Shared => {
            let held = entry.waiting() + 1 + usize::from(output.is_drawing());
            entry.buffers() > held + usize::from(has_drawn)
        }
    }
}

/// Whether the client of a surface may be called back for it. `runs_ahead`: while what it committed waits, if it can draw.
pub(in crate::output) fn may_be_called(entry: &Entry, output: &OutputState, runs_ahead: bool) -> bool {
    !runs_ahead || entry.waiting() == 0 || can_draw(entry, output)
}
