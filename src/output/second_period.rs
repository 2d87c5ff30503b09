//! When a client with two periods of slack is called back for its next frame: as soon as it has a buffer to draw it into.
//!
//! ```text
//!   commit n ─► called back for n+1, if a buffer is left
//!                 └ none is: when the frame in flight lands, and what was shown before it is released
//!                     └ none is even then: at the latch of n
//! ```
//!
//! Mesa's software rasteriser, which has four buffers, crashes when it finds none of them free.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::pacing;
use crate::state::State;
use crate::surface::Entry;
use crate::time::Clock;
use crate::timing::id::OutputId;

/// Updates that may wait behind one that is latched: that of the next refresh.
const MOST_BEHIND_LATCH: usize = 1;

/// An update was committed by a client that runs ahead, and is not in the queue yet.
pub(super) fn committed(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get(surface) else { return };
    let output = entry.output.or(state.outputs.first()).and_then(|id| state.outputs.by_id(id));
    let in_flight = output.is_some_and(|output| output.conductor.output().is_busy());
    if has_buffer(entry, entry.waiting() + 1, in_flight) {
        pacing::callback_wanted(state, surface);
    }
}

/// A frame of output `id` reached light: what the one before it showed is released, and may be drawn into.
pub(super) fn landed(state: &mut State, id: OutputId) {
    let now = state.clock.now();
    let State { surfaces, outputs, .. } = state;
    let Some(output) = outputs.by_id_mut(id).filter(|output| !output.conductor.output().is_busy()) else { return };
    for entry in surfaces.iter().filter(|entry| entry.output == Some(id) && entry.wants_callback()) {
        let waiting = entry.waiting() + usize::from(entry.is_fresh());
        let Some(pacing) = output.clients.get(&entry.client).filter(|_| has_buffer(entry, waiting, false)) else {
            continue;
        };
        let pacer = pacing.pacer;
        if output.conductor.pacer(pacer).is_some_and(|pacer| pacer.runs_ahead() && !pacer.is_waiting())
            && let Some(pacer) = output.conductor.pacer_mut(pacer)
        {
            pacer.callback_due(now);
        }
    }
}

/// Whether the client of a surface that was just latched may draw one more frame while others wait.
pub(super) fn may_follow(entry: &Entry, runs_ahead: bool) -> bool {
    !runs_ahead
        || entry.waiting() == 0
        || (entry.waiting() <= MOST_BEHIND_LATCH && has_buffer(entry, entry.waiting(), true))
}

/// Whether there is a buffer to draw into beside those of updates that wait, of what is on screen and in flight.
fn has_buffer(entry: &Entry, waiting: usize, in_flight: bool) -> bool {
    entry.buffers() > waiting + 1 + usize::from(in_flight)
}
