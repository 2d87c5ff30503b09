//! Interactive move and resize, seen from the seat: who holds the window, and when it is let go.

use smithay::input::pointer::{CursorIcon, MotionEvent};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, SERIAL_COUNTER, Serial};

use crate::output;
use crate::shell::resize::Edges;
use crate::shell::{self, WindowId};
use crate::state::State;
use crate::time::{Clock, Instant};

/// What holds the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DragSource {
    /// The pointer, with a button down.
    Pointer,
    /// A finger.
    Touch(u32),
}

/// Whether a window is being dragged.
pub fn is_active(state: &State) -> bool {
    state.input.drag.is_some()
}

/// Whether the pointer drags a window: then no client sees it.
pub fn holds_pointer(state: &State) -> bool {
    state.input.drag == Some(DragSource::Pointer)
}

/// Whether the finger `slot` drags a window.
pub fn holds_touch(state: &State, slot: u32) -> bool {
    state.input.drag == Some(DragSource::Touch(slot))
}

/// A client wants its window moved, in answer to the press `serial`.
pub fn move_requested(state: &mut State, surface: &WlSurface, serial: Serial) {
    // A window in a column is taken out of it by the person alone, with `Mod`: its title bar is easily caught.
    let held = held_by(state, surface, serial).filter(|(id, ..)| !state.shell.is_tile(*id));
    if let Some((id, source, start)) = held
        && shell::drag::begin_move(state, id, start)
    {
        hold(state, source, CursorIcon::Grabbing);
    }
}

/// A client wants its window resized, in answer to the press `serial`.
pub fn resize_requested(state: &mut State, surface: &WlSurface, serial: Serial, edges: Edges) {
    if let Some((id, source, start)) = held_by(state, surface, serial)
        && shell::drag::begin_resize(state, id, edges, start)
    {
        hold(state, source, resize_cursor(edges));
    }
}

/// What holds the window of `surface` down: a finger that touched with this serial, or the pointer with a button
/// down on a surface of the same client; and where that went down (global logical coordinates). `None` when nobody does: a
/// client cannot take a window along by itself.
fn held_by(state: &State, surface: &WlSurface, serial: Serial) -> Option<(WindowId, DragSource, Point<f64, Logical>)> {
    if is_active(state) || !state.input.is_recent_action(serial) {
        return None;
    }
    let id = state.shell.window_of(surface)?.id;
    if let Some(slot) = state.input.touches.slot_of(serial, surface) {
        return Some((id, DragSource::Touch(slot), state.input.touches.pressed_at(slot)?));
    }
    let start = state.input.pointer.grab_start_data()?;
    let place = start.location;
    let same_client = start.focus.is_some_and(|(focus, _)| focus.id().same_client_as(&surface.id()));
    (same_client && state.input.held.any()).then_some((id, DragSource::Pointer, place))
}

/// Lets a window follow the pointer or a finger.
pub fn begin_move(state: &mut State, id: WindowId, source: DragSource) {
    let Some(start) = position(state, source) else { return };
    if shell::drag::begin_move(state, id, start) {
        hold(state, source, CursorIcon::Grabbing);
    }
}

/// Lets the edges of a window follow the pointer or a finger.
pub fn begin_resize(state: &mut State, id: WindowId, source: DragSource, edges: Edges) {
    let Some(start) = position(state, source) else { return };
    if shell::drag::begin_resize(state, id, edges, start) {
        hold(state, source, resize_cursor(edges));
    }
}

/// Lets the edges of a window that lie nearest to what holds it follow that: a corner, or an edge where that is in the middle
/// third of one.
pub fn begin_resize_nearest(state: &mut State, id: WindowId, source: DragSource) {
    let Some((place, window)) = position(state, source).zip(state.shell.window(id)) else { return };
    let edges = Edges::nearest(window.rect(), place);
    begin_resize(state, id, source, edges);
}

fn resize_cursor(edges: Edges) -> CursorIcon {
    match (edges.left, edges.right, edges.top, edges.bottom) {
        (true, _, true, _) => CursorIcon::NwResize,
        (_, true, true, _) => CursorIcon::NeResize,
        (true, _, _, true) => CursorIcon::SwResize,
        (_, true, _, true) => CursorIcon::SeResize,
        (true, ..) => CursorIcon::WResize,
        (_, true, ..) => CursorIcon::EResize,
        (_, _, true, _) => CursorIcon::NResize,
        _ => CursorIcon::SResize,
    }
}

/// Takes pointer or finger away from the client.
fn hold(state: &mut State, source: DragSource, icon: CursorIcon) {
    state.input.drag = Some(source);
    match source {
        DragSource::Pointer => {
            let now = state.clock.now();
            let serial = SERIAL_COUNTER.next_serial();
            let pointer = state.input.pointer.clone();
            pointer.unset_grab(state, serial, now.as_wayland_millis());
            leave(state, now);
            state.input.cursor.set_override(Some(icon));
            output::cursor_changed(state);
        }
        DragSource::Touch(_) => state.input.touch.clone().cancel(state),
    }
}

fn leave(state: &mut State, now: Instant) {
    let pointer = state.input.pointer.clone();
    let location = pointer.current_location();
    let event = MotionEvent { location, serial: SERIAL_COUNTER.next_serial(), time: now.as_wayland_millis() };
    pointer.motion(state, None, &event);
    pointer.frame(state);
}

fn position(state: &State, source: DragSource) -> Option<Point<f64, Logical>> {
    match source {
        DragSource::Pointer => Some(super::pointer_position(state)),
        DragSource::Touch(slot) => state.input.touches.position(slot),
    }
}

/// Moves or resizes the held window to where its holder is now.
pub fn latch(state: &mut State) -> bool {
    let Some(position) = state.input.drag.and_then(|source| position(state, source)) else { return false };
    shell::drag::aim(state, position);
    let changed = state.shell.latch_grabs(position);
    if changed {
        output::need_all(state);
    }
    changed
}

/// The person let go. The focus is to be given anew.
pub fn end(state: &mut State) {
    latch(state);
    shell::drag::end(state);
    forget(state);
}

/// The window went away in the middle. Whoever notices gives the focus anew.
pub fn forget(state: &mut State) {
    state.input.drag = None;
    state.input.cursor.set_override(None);
    output::cursor_changed(state);
}
