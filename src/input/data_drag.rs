//! Drag-and-drop between clients: which press may begin it, and how it is cancelled.

use smithay::input::pointer::{Focus as Clears, GrabStartData as PointerStart};
use smithay::input::touch::GrabStartData as TouchStart;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::Serial;

pub use super::data_drag_grabs::is_active;
use super::data_drag_grabs::{DraggedData, PointerDrag, TouchDrag};
use super::{drag, pointer, pointer_release, scroll_view_grab, tablet, touch_drag};
use crate::output;
use crate::state::State;
use upbeat_timing::time::Clock as _;

/// Whether the press `serial` on a surface of the client of `surface` may become a drag of data: it is still held, and
/// it has begun no drag. A tablet tool becomes the pointer for that.
pub fn may_start(state: &mut State, serial: Serial, surface: &WlSurface) -> bool {
    if is_active(state) || drag::is_active(state) {
        return false;
    }
    if state.input.is_held_by(serial, surface) {
        return state.input.pointer.has_grab(serial) || state.input.touch.has_grab(serial);
    }
    if state.input.pointer.is_grabbed() {
        return false;
    }
    let now = state.clock.now();
    let Some(focus) = tablet::become_pointer(state, now, serial, surface) else { return false };
    scroll_view_grab::begin_for_tool(state, focus, serial);
    true
}

/// Lets the device that pressed with `serial` drag the data, if it [may](may_start). The grab names no surface, because
/// Smithay would end it, as if the button were released, when that surface is destroyed during the drag.
pub fn begin(state: &mut State, serial: Serial, carried: Box<dyn DraggedData>) {
    let (pointer, touch) = (state.input.pointer.clone(), state.input.touch.clone());
    if let Some(start) = pointer.grab_start_data().filter(|_| pointer.has_grab(serial)) {
        let start = PointerStart { focus: None, ..start };
        pointer.set_grab(state, PointerDrag { start, carried }, serial, Clears::Clear);
    } else if let Some(start) = touch.grab_start_data().filter(|_| touch.has_grab(serial)) {
        let start = TouchStart { focus: None, ..start };
        touch_drag::begin(state);
        touch.set_grab(state, TouchDrag { start, carried }, serial);
    }
}

/// Ends the drag without a drop. Its client gets none of the releases that follow.
pub fn cancel(state: &mut State) {
    if touch_drag::finger_position(state).is_some() {
        touch_drag::cancel(state);
    } else {
        let now = state.clock.now();
        pointer_release::release_pointer(state, now);
        pointer::refresh_focus(state);
        output::cursor_changed(state);
    }
}
