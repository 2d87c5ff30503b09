//! Everything of the seat is taken away from whoever has it: the session is locked, or unlocked.

use smithay::backend::input::ButtonState;
use smithay::input::pointer::{ButtonEvent, CursorImageStatus, MotionEvent as PointerMotion};
use smithay::utils::SERIAL_COUNTER;
use smithay::wayland::tablet_manager::TabletSeatTrait;

use super::event::Stops;
use super::{behind, drag, focus, foresight, pointer, scrolling, touch};
use crate::output;
use crate::shell::{popup, swipes};
use crate::state::State;
use crate::surface::foresight::Device;
use crate::time::{Clock, Instant};

/// Ends what is dragged, scrolled, held or grabbed, and gives the keyboard to whom it belongs now. Nothing is dropped on
/// anybody; what is still down stays without effect until it is released.
pub(super) fn let_go(state: &mut State) {
    let now = state.clock.now();
    scrolling::stop(state, now, Stops::All);
    popup::dismiss_grabs(state);
    if drag::is_active(state) {
        drag::end(state);
    }
    touch::cancel(state);
    swipes::end(state, now, true);
    let_go_of_pointer(state, now);
    let_go_of_tools(state, now);
    state.shell.set_pressed(None);
    state.input.cursor.set_status(CursorImageStatus::default_named());
    focus::update_keyboard(state);
    pointer::refresh_focus(state);
    output::cursor_changed(state);
}

fn let_go_of_pointer(state: &mut State, now: Instant) {
    behind::forget(state);
    foresight::left(state, Device::Pointer);
    state.input.pointer_focus = None;
    let given = state.input.held.swallow_all();
    let pointer = state.input.pointer.clone();
    let event = PointerMotion {
        location: pointer.current_location(),
        serial: SERIAL_COUNTER.next_serial(),
        time: now.as_wayland_millis(),
    };
    // On nothing when the grab ends: what is dragged between clients would be dropped there.
    pointer.motion(state, None, &event);
    pointer.frame(state);
    pointer.unset_grab(state, SERIAL_COUNTER.next_serial(), now.as_wayland_millis());
    // Nobody is there to hear it. Smithay ends the grab of a press when nothing is down: one that it took for down for ever
    // would hold the seat with the next click.
    for button in given {
        let (serial, time) = (SERIAL_COUNTER.next_serial(), now.as_wayland_millis());
        pointer.button(state, &ButtonEvent { serial, time, button, state: ButtonState::Released });
    }
    pointer.frame(state);
}

fn let_go_of_tools(state: &mut State, now: Instant) {
    let seat = state.input.seat.tablet_seat();
    for tool in state.input.tools.forget() {
        foresight::left(state, Device::Tool(tool.hardware_serial as u32));
        if let Some(handle) = seat.get_tool(&tool) {
            handle.proximity_out(now.as_wayland_millis());
        }
    }
}
