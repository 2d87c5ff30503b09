//! Interactive move and resize, on the side of the seat: which device holds the window, and when it is released.

use smithay::input::pointer::{CursorIcon, MotionEvent};
use smithay::utils::{Logical, Point, SERIAL_COUNTER};

use super::{data_drag_grabs, prediction_feed, touch_points};
use crate::output;
use crate::shell::resize::Edges;
use crate::shell::{self, WindowId};
use crate::state::State;
use crate::surface::input_prediction::TrackedDevice;
use upbeat_timing::time::{Clock, Instant};

/// The device that holds the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DragSource {
    /// The pointer, with a button down.
    Pointer,
    /// A finger, by its slot.
    Touch(u32),
}

pub fn is_active(state: &State) -> bool {
    state.input.drag.is_some()
}

/// Whether a window may be dragged now. A drag of data lasts until its own press is released.
pub fn may_begin(state: &State) -> bool {
    !is_active(state) && !data_drag_grabs::is_active(state)
}

/// Whether the pointer drags a window: then it is on no client's surface.
pub fn holds_pointer(state: &State) -> bool {
    state.input.drag == Some(DragSource::Pointer)
}

/// Whether the finger `slot` drags a window.
pub fn holds_touch(state: &State, slot: u32) -> bool {
    state.input.drag == Some(DragSource::Touch(slot))
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

/// Resizes by the edges nearest to the pointer or finger: a corner, or a single edge if the position is in the middle
/// third of that edge.
pub fn begin_resize_nearest(state: &mut State, id: WindowId, source: DragSource) {
    let Some((place, window)) = position(state, source).zip(state.shell.window(id)) else { return };
    let edges = Edges::nearest(window.rect(), place);
    begin_resize(state, id, source, edges);
}

pub(super) fn resize_cursor(edges: Edges) -> CursorIcon {
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

/// Takes the pointer or the finger away from its client.
pub(super) fn hold(state: &mut State, source: DragSource, icon: CursorIcon) {
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
        DragSource::Touch(_) => touch_points::cancel_client_touches(state),
    }
}

fn leave(state: &mut State, now: Instant) {
    let pointer = state.input.pointer.clone();
    let location = pointer.current_location();
    let event = MotionEvent { location, serial: SERIAL_COUNTER.next_serial(), time: now.as_wayland_millis() };
    pointer.motion(state, None, &event);
    pointer.frame(state);
    prediction_feed::device_left(state, TrackedDevice::Pointer);
}

fn position(state: &State, source: DragSource) -> Option<Point<f64, Logical>> {
    match source {
        DragSource::Pointer => Some(super::pointer_position(state)),
        DragSource::Touch(slot) => state.input.touches.position(slot),
    }
}

/// The device that holds a window moved.
pub fn moved(state: &mut State) {
    if state.shell.resizes_tile() {
        output::schedule_repaint_all(state);
    } else {
        latch(state);
    }
}

/// Moves or resizes the held window to the present position of the device. Returns whether that changed it.
pub fn latch(state: &mut State) -> bool {
    let Some(position) = state.input.drag.and_then(|source| position(state, source)) else { return false };
    let changed = shell::drag::latch(state, position);
    if changed {
        output::schedule_repaint_all(state);
    }
    changed
}

/// The user released the window. The caller has to update the focus.
pub fn end(state: &mut State) {
    latch(state);
    shell::drag::end(state);
    forget(state);
}

/// The window was closed during the drag. The caller has to update the focus.
pub fn forget(state: &mut State) {
    state.input.drag = None;
    state.input.cursor.set_override(None);
    output::cursor_changed(state);
}
