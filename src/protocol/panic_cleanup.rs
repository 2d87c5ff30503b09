//! Cleans up after a caught panic: it may have skipped the cleanup of destroyed objects, and no other code would repeat
//! that.

use smithay::reexports::wayland_server::Resource;
use smithay::wayland::compositor::CompositorHandler;

use crate::guard::panic_guard::{self, catch};
use crate::output::mode_switch;
use crate::shell;
use crate::state::State;

/// Cleans up if a panic was caught since the last call. An object that is reported as destroyed twice does no harm.
pub fn clean_up_after_panic(state: &mut State) {
    if !panic_guard::take_panic_caught() {
        return;
    }
    // A configuration that waits for displays goes on, because the displays will answer it.
    if !mode_switch::is_any_under_way(&state.outputs) {
        state.protocols.output_management.finish();
    }
    let done = catch(|| {
        shell::destroyed_objects::forget_gone(state);
        let gone = state.surfaces.iter().map(|entry| entry.surface()).filter(|surface| !surface.is_alive());
        for surface in gone.cloned().collect::<Vec<_>>() {
            CompositorHandler::destroyed(state, &surface);
        }
    });
    if let Err(panic) = done {
        panic_guard::log_panic("wl_surface", &panic);
        // Cleared, or the same panic would repeat in every turn.
        panic_guard::take_panic_caught();
    }
}
