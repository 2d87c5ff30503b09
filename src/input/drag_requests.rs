//! Interactive move and resize that clients request, in answer to a press.

use smithay::input::pointer::CursorIcon;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Serial};

use super::drag::{DragSource, hold, may_begin, resize_cursor};
use super::tablet;
use crate::shell::resize::Edges;
use crate::shell::{self, WindowId};
use crate::state::State;
use upbeat_timing::time::Clock as _;

/// `xdg_toplevel.move`, in answer to the press `serial`.
pub fn move_requested(state: &mut State, surface: &WlSurface, serial: Serial) {
    if let Some(DragPress { window, source, start, tool }) = holder(state, surface, serial)
        && shell::drag::begin_move(state, window, start)
    {
        take_tool(state, tool);
        hold(state, source, CursorIcon::Grabbing);
    }
}

/// `xdg_toplevel.resize`, in answer to the press `serial`.
pub fn resize_requested(state: &mut State, surface: &WlSurface, serial: Serial, edges: Edges) {
    if let Some(DragPress { window, source, start, tool }) = holder(state, surface, serial)
        && shell::drag::begin_resize(state, window, edges, start)
    {
        take_tool(state, tool);
        hold(state, source, resize_cursor(edges));
    }
}

/// The press that a client names in its request.
struct DragPress {
    window: WindowId,
    source: DragSource,
    /// Where the press began (global logical coordinates). The pointer may have moved on since: the window follows
    /// from here.
    start: Point<f64, Logical>,
    /// The serial and the window's surface, if a tablet tool pressed.
    tool: Option<(Serial, WlSurface)>,
}

/// The press on the window of `surface`: a finger or a tool that touched with this serial, or the pointer with a button
/// down on a surface of the same client. `None` without a press: a client cannot move a window by itself.
fn holder(state: &State, surface: &WlSurface, serial: Serial) -> Option<DragPress> {
    if !may_begin(state) || !state.input.is_recent_action(serial) {
        return None;
    }
    let window = state.shell.window_of(surface)?.id;
    if let Some(slot) = state.input.touches.slot_of(serial, surface) {
        let start = state.input.touches.pressed_at(slot)?;
        return Some(DragPress { window, source: DragSource::Touch(slot), start, tool: None });
    }
    let source = DragSource::Pointer;
    if let Some(start) = state.input.tools.pressed_at(serial, surface) {
        return Some(DragPress { window, source, start, tool: Some((serial, surface.clone())) });
    }
    let pressed = state.input.pointer.grab_start_data()?;
    let start = pressed.location;
    let same_client = pressed.focus.is_some_and(|(focus, _)| focus.id().same_client_as(&surface.id()));
    (same_client && state.input.held_buttons.any()).then_some(DragPress { window, source, start, tool: None })
}

/// A tool that drags a window becomes the pointer for the drag.
fn take_tool(state: &mut State, tool: Option<(Serial, WlSurface)>) {
    if let Some((serial, surface)) = tool {
        let now = state.clock.now();
        tablet::become_pointer(state, now, serial, &surface);
    }
}
