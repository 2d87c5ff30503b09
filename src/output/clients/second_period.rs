//! When a client with a second period of slack is called back for its next frame: as soon as it has a buffer to draw it into.
//!
//! ```text
//!   latch k-1 ──── n is applied, and n-1 goes back: nothing shows it any more ──── latch k (n) ──── light k
//!       ▲              └─► called back for n+1, which is shown at k+1
//!       └ until then n waits, if it was committed before
//! ```
//!
//! So two buffers are enough where all is composed, and nobody has fewer. How many a client could have is not known: one that
//! makes them when it needs them has made as many as it needed so far ([`spare_buffer`](crate::output::clients::spare_buffer)).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::output::OutputState;
use crate::output::clients::gates::clear_blockers;
use crate::output::clients::pacing;
use crate::output::clients::spare_buffer::can_draw;
use crate::state::State;
use crate::surface::Entry;
use upbeat_timing::id::OutputId;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::Clock;

/// The latch for `index` is over: what waits only for the refresh behind it is applied now. No latch lies between, and what
/// was shown before goes back to its client a refresh earlier.
pub(in crate::output) fn apply_next(state: &mut State, id: OutputId, index: RefreshIndex) {
    let first = state.outputs.first();
    let next = index.next();
    let mut opened: Vec<WlSurface> = Vec::new();
    state.surfaces.for_each_awake(|entry| {
        let waits = entry.waiting() > 0 && entry.output().or(first) == Some(id);
        opened.extend(waits.then(|| entry.open_next(next)).flatten());
    });
    if !opened.is_empty() {
        clear_blockers(state, &opened);
        resume(state, id);
    }
}

/// An update of `surface` was applied, or waits: its client is called back if it runs ahead and can draw.
pub(in crate::output) fn committed(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get(surface) else { return };
    let Some(output) = entry.output().or(state.outputs.first()).and_then(|id| state.outputs.by_id(id)) else { return };
    if runs_ahead(entry, output) && can_draw(entry, output) {
        pacing::callback_wanted(state, surface);
    }
}

/// Buffers of clients on output `id` may have gone back: those that run ahead and waited for that are called back.
pub(in crate::output) fn resume(state: &mut State, id: OutputId) {
    let now = state.clock.now();
    let State { surfaces, outputs, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    for entry in surfaces.awake().filter(|entry| entry.output() == Some(id) && entry.wants_callback()) {
        if runs_ahead(entry, output)
            && can_draw(entry, output)
            && let Some(pacing) = output.clients.get(&entry.client())
            && let Some(pacer) = output.conductor.pacer_mut(pacing.pacer)
        {
            pacer.callback_due(now);
        }
    }
}

/// Whether the client of a surface is to be called back before what it committed is latched, and is not yet.
fn runs_ahead(entry: &Entry, output: &OutputState) -> bool {
    let pacer = output.clients.get(&entry.client()).and_then(|pacing| output.conductor.pacer(pacing.pacer));
    pacer.is_some_and(|pacer| pacer.runs_ahead() && !pacer.is_waiting())
}
