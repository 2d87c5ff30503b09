//! After a bug: what is kept for objects that are gone is let go of, since nobody else will.

use smithay::reexports::wayland_server::Resource;
use smithay::wayland::compositor::CompositorHandler;

use crate::guard::floor::{self, catch};
use crate::output::mode_switch;
use crate::shell;
use crate::state::State;

/// Does so if anything was caught since the last call. Whoever is told twice that an object is gone does nothing.
pub fn after_a_bug(state: &mut State) {
    if !floor::take_half_done() {
        return;
    }
    // One that waits for displays is told by them.
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
        // Else it is met in every turn.
        floor::take_half_done();
    }
}
