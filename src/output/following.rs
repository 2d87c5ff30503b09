//! A client with two periods of slack is called back for its next frame while the one before still waits
//! ([`second_period`](super::second_period) says whether it has a buffer for it).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::pacing;
use super::second_period::has_buffer;
use crate::state::State;
use crate::time::Clock;
use crate::timing::id::OutputId;

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
