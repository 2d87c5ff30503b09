//! Cleans up after a caught panic: it may have skipped the cleanup of destroyed objects, and no other code would repeat
//! that.

use smithay::reexports::wayland_server::Resource;
use smithay::wayland::compositor::CompositorHandler;

use crate::guard::floor::{self, catch};
use crate::output::mode_switch;
use crate::shell;
use crate::state::State;

/// Cleans up if a panic was caught since the last call. An object that is reported as destroyed twice does no harm.
pub fn after_a_bug(state: &mut State) {
    if !floor::take_half_done() {
        return;
    }
    // A configuration that waits for displays goes on, because the displays will answer it.
    if !mode_switch::is_any_under_way(&state.outputs) {
        state.protocols.output_management.give_up();
    }
    let done = catch(|| {
        shell::sweep::forget_gone(state);
        let gone = state.surfaces.iter().map(|entry| entry.surface()).filter(|surface| !surface.is_alive());
        for surface in gone.cloned().collect::<Vec<_>>() {
            CompositorHandler::destroyed(state, &surface);
        }
    });
    if let Err(panic) = done {
        floor::report("wl_surface", &panic);
        // Cleared, or the same panic would repeat in every turn.
        floor::take_half_done();
    }
}
