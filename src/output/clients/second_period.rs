//! Callbacks of clients with a second period of slack: the next frame's callback is sent as soon as the client has a
//! buffer to draw into.
//!
//! ```text
//!   latch k-1 ──── n is applied; n-1 is released: no scene shows it any more ──── latch k (n) ──── light k
//!       ▲              └─► callback for n+1, which is shown at k+1
//!       └ until then n waits, if it was committed before
//! ```
//!
//! So two buffers are enough where every frame is composed, and every client has two. How many buffers a client could
//! have is not known: a client that allocates on demand has allocated as many as it needed so far
//! ([`spare_buffer`](crate::output::clients::spare_buffer)).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::output::OutputState;
use crate::output::clients::blockers::clear_blockers;
use crate::output::clients::pacing;
use crate::output::clients::spare_buffer::can_draw;
use crate::state::State;
use crate::surface::SurfaceEntry;
use upbeat_timing::id::OutputId;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::Clock;

/// Called after the latch for `index`: applies updates that wait only for the following refresh. No other latch lies
/// between, so the screen shows the same, and the former buffer is released a refresh earlier.
pub(in crate::output) fn apply_next(state: &mut State, id: OutputId, index: RefreshIndex) {
    let first = state.outputs.first();
    let next = index.next();
    let mut opened: Vec<WlSurface> = Vec::new();
    state.surfaces.for_each_awake(|entry| {
        let waits = entry.queued_updates() > 0 && entry.output().or(first) == Some(id);
        opened.extend(waits.then(|| entry.open_next(next)).flatten());
    });
    if !opened.is_empty() {
        clear_blockers(state, &opened);
        send_ready_callbacks(state, id);
    }
}

/// An update of `surface` was applied or queued: sends its client the next callback if it runs ahead and can draw.
pub(in crate::output) fn committed(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get(surface) else { return };
    let Some(output) = entry.output().or(state.outputs.first()).and_then(|id| state.outputs.by_id(id)) else { return };
    if runs_ahead(entry, output) && can_draw(entry, output) {
        pacing::callback_wanted(state, surface);
    }
}

/// Buffers on output `id` may have been released: sends callbacks to clients that run ahead and waited for a buffer.
pub(in crate::output) fn send_ready_callbacks(state: &mut State, id: OutputId) {
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

/// Whether the surface's client gets its next callback before its last commit is latched, and no callback is due yet.
fn runs_ahead(entry: &SurfaceEntry, output: &OutputState) -> bool {
    let pacer = output.clients.get(&entry.client()).and_then(|pacing| output.conductor.pacer(pacing.pacer));
    pacer.is_some_and(|pacer| pacer.has_second_period() && !pacer.is_waiting())
}
