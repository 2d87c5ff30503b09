//! Refits maximised windows after the usable area has changed. The content is stretched (`Window::refitted`) until the
//! client answers, so that the change is complete in one frame.

use super::workspace_actions::{self, centre};
use super::{WindowArrangement, WindowId, configure_bounds, surface_outputs};
use crate::shell::ShellOutputs;
use crate::state::State;

/// Gives maximised windows the new usable area of their screen, and all other windows new bounds.
pub(super) fn refit(state: &mut State) {
    let ids: Vec<WindowId> = state.shell.windows.iter().map(|window| window.id).collect();
    for id in ids {
        let Some(window) = state.shell.window(id) else { continue };
        let filled = |arrangement: &WindowArrangement| matches!(arrangement, WindowArrangement::Maximized { .. });
        let (now, later) = (filled(&window.wanted), filled(&window.before_fullscreen));
        let on = state.shell.workspaces.place(id).and_then(|place| workspace_actions::area_of(state, place.screen));
        let at = on.map_or_else(|| centre(window.rect()), centre);
        let Some((_, area)) = state.usable_area(Some(at)).filter(|_| now || later) else {
            configure_bounds::update_bounds(state, id);
            continue;
        };
        configure_bounds::set_pending_bounds(state, id);
        let Some(window) = state.shell.window_mut(id) else { continue };
        if later {
            window.before_fullscreen = WindowArrangement::Maximized { area };
        }
        if now {
            window.set_pending_arrangement(WindowArrangement::Maximized { area });
            window.send_pending();
        }
        surface_outputs::update_outputs(state, id);
    }
    state.schedule_repaint_all();
}
