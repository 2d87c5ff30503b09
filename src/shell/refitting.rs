//! What is left for windows becomes another area: those that fill it go along. Until a client has answered its content is
//! stretched (`Window::refitted`), so that this is seen in one frame.

use super::spaces::{self, centre};
use super::{Arrangement, WindowId, bounding, visit};
use crate::shell::Desk;
use crate::state::State;

/// Another area is left for windows: those that fill it are refitted.
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
