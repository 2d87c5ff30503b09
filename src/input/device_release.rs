//! Takes all devices of the seat away from their clients when the session is locked or unlocked.

use smithay::input::pointer::CursorImageStatus;

use super::event::StopScope;
use super::{drag, focus, pointer, pointer_release, prediction_feed, scrolling, touch};
use crate::output;
use crate::shell::{popup, region_selection, swipes};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

/// Ends all drags, scrolling, presses and grabs, and updates the keyboard focus. Dragged data is not dropped on any
/// client. Buttons and fingers that are still down have no effect until they are released.
pub(super) fn release_devices(state: &mut State) {
    let now = state.clock.now();
    scrolling::stop(state, now, StopScope::All);
    popup::dismiss_grabs(state);
    // A later release of the button must not end the region that it began.
    region_selection::cancel(state);
    if drag::is_active(state) {
        drag::end(state);
    }
    touch::cancel(state);
    swipes::end(state, now, true);
    pointer_release::release_pointer(state, now);
    let_go_of_tools(state, now);
    state.shell.set_pressed(None);
    state.input.cursor.set_status(CursorImageStatus::default_named());
    focus::update_keyboard(state);
    pointer::refresh_focus(state);
    output::cursor_changed(state);
}

fn let_go_of_tools(state: &mut State, now: Instant) {
    for tool in state.input.tools.forget_all(now) {
        prediction_feed::device_left(state, tool);
    }
}
