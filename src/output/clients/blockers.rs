//! Opens the gates (Smithay's blockers) of updates that waited.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::CompositorHandler;

use crate::state::State;

/// Notifies Smithay that blockers of these surfaces have cleared: once for each client, and never from within a commit.
pub(in crate::output) fn clear_blockers(state: &mut State, surfaces: &[WlSurface]) {
    let mut notified = Vec::new();
    for client in surfaces.iter().filter_map(Resource::client) {
        if !notified.contains(&client.id()) {
            notified.push(client.id());
            let display = state.display_handle.clone();
            state.client_compositor_state(&client).blocker_cleared(state, &display);
        }
    }
}
