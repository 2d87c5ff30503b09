//! Refits maximised windows after the usable area has changed. The content is stretched (`Window::refitted`) until the
//! client answers, so that the change is complete in one frame.

use super::spaces::{self, centre};
use super::{Arrangement, WindowId, bounding, visit};
use crate::shell::Desk;
use crate::state::State;

/// Gives maximised windows the new usable area of their screen, and all other windows new bounds.
pub(super) fn refit(state: &mut State) {
    let ids: Vec<WindowId> = state.shell.windows.iter().map(|window| window.id).collect();
    for id in ids {
        let Some(window) = state.shell.window(id) else { continue };
        let filled = |arrangement: &Arrangement| matches!(arrangement, Arrangement::Maximized { .. });
        let (now, later) = (filled(&window.wanted), filled(&window.before_fullscreen));
        let on = state.shell.workspaces.place(id).and_then(|place| spaces::area_of(state, place.screen));
        let at = on.map_or_else(|| centre(window.rect()), centre);
        let Some((_, area)) = state.usable_area(Some(at)).filter(|_| now || later) else {
            bounding::follow(state, id);
            continue;
        };
        bounding::renew(state, id);
        let Some(window) = state.shell.window_mut(id) else { continue };
        if later {
            window.before_fullscreen = Arrangement::Maximized { area };
        }
        if now {
            window.want(Arrangement::Maximized { area });
            window.send_pending();
        }
        visit::update_outputs(state, id);
    }
    state.need_all();
}
