//! Interactive move and resize.
//!
//! Both are a function of the *last* pointer position at the latch ([`Shell::latch_grabs`]), not of the events in
//! between and not of the client's commits meanwhile: the window is drawn where the pointer is. A resize asks the
//! client for one size at a time. Until the client answers, its content is stretched (see
//! [`Window::rect`](super::Window::rect)).
//!
//! ```text
//!   pointer ──●────●──●───────────●── last position before latch_at ─► rectangle drawn in this frame
//!              └► configure ─► client … commit ─► next configure, for where the pointer is by then
//! ```

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel;
use smithay::utils::{Logical, Point, Rectangle};

use super::resize::{self, Edges};
use super::snap_targets::{self, SnapPreview, SnapTarget};
use super::tiling::TilingMode;
use super::tiling::pointer::TileResize;
use super::window::ResizeStretch;
use super::workspaces::WorkspaceId;
use super::{
    Shell, Window, WindowArrangement, WindowId, arrangement_requests, snapping, surface_outputs, tiling, window_rules,
    workspace_actions,
};
use crate::shell::{ShellOutputs, ShellSeat, geometry};
use crate::state::State;

/// A move or resize of a window by the pointer or a finger.
#[derive(Clone, Debug)]
pub struct WindowDrag {
    pub window: WindowId,
    pub kind: DragKind,
    /// Position of the pointer or finger at the start (global logical coordinates).
    pub start: Point<f64, Logical>,
}

#[derive(Clone, Debug)]
pub enum DragKind {
    /// A tile that stays in its column until the pointer has moved far enough.
    Lift,
    Move {
        /// Top left corner of the window geometry at the start (global logical coordinates).
        corner: Point<i32, Logical>,
        /// It was a tile, and becomes a tile again where it is released over columns.
        is_from_strip: bool,
    },
    ResizeTile(TileResize),
    Resize {
        /// The edges that follow the pointer.
        edges: Edges,
    },
}

/// Distance, in logical pixels, after which a tile leaves its column: a press that slips a little does not rearrange the
/// strip.
const LIFT: f64 = 12.0;

impl WindowDrag {
    /// Whether the window goes along when the user switches to another workspace. A tile in its column stays there.
    pub const fn takes_window_along(&self) -> bool {
        matches!(self.kind, DragKind::Move { .. } | DragKind::Resize { .. })
    }
}

impl Shell {
    /// Whether edges of a tile are dragged: they are moved at a latch, because each move arranges all windows.
    pub fn resizes_tile(&self) -> bool {
        self.drag.as_ref().is_some_and(|drag| matches!(drag.kind, DragKind::ResizeTile(_)))
    }

    /// The drag in progress.
    pub fn drag(&self) -> Option<&WindowDrag> {
        self.drag.as_ref()
    }

    /// Moves or resizes the dragged window to `pointer`. Called at every latch, so that the window is drawn at the last
    /// known position; harmless at any other time. Returns whether anything changed.
    pub fn latch_grabs(&mut self, pointer: Point<f64, Logical>) -> bool {
        let Some(drag) = self.drag.clone() else { return false };
        let delta = pointer - drag.start;
        let Some(window) = self.window_mut(drag.window) else { return false };
        match drag.kind {
            DragKind::Lift | DragKind::ResizeTile(_) => false,
            DragKind::Move { corner, .. } => {
                let moved = corner + delta.to_i32_round();
                std::mem::replace(&mut window.floating, moved) != moved
            }
            DragKind::Resize { edges } => window.resize_to(edges, delta),
        }
    }
}

impl Window {
    fn resize_to(&mut self, edges: Edges, delta: Point<f64, Logical>) -> bool {
        let limits = self.size_limits();
        let Some(stretch) = &mut self.stretch else { return false };
        let wanted = resize::resized(stretch.start, edges, delta, limits);
        if std::mem::replace(&mut stretch.wanted, wanted) == wanted {
            return false;
        }
        self.send_wanted_size();
        true
    }

    /// Sends the size that the pointer asks for, unless an earlier size is unanswered: a slow client then gets the
    /// newest size next, instead of a list of old sizes. Returns whether a configure was sent.
    pub(super) fn send_wanted_size(&mut self) -> bool {
        let Some(stretch) = &self.stretch else { return false };
        if !stretch.released && self.sent.iter().any(|sent| sent.resizing) {
            return false;
        }
        let (size, released) = (stretch.wanted.size, stretch.released);
        self.toplevel.with_pending_state(|pending| {
            pending.size = Some(size);
            if released {
                pending.states.unset(xdg_toplevel::State::Resizing)
            } else {
                pending.states.set(xdg_toplevel::State::Resizing)
            }
        });
        self.send_pending()
    }

    /// Ends the stretch after the client has answered the last size: the edges that did not follow the pointer stay in
    /// place.
    pub(super) fn finish_stretch(&mut self) {
        if let Some(stretch) = self.stretch.take() {
            self.floating = resize::anchored(stretch.start, stretch.edges, self.geometry.size).loc;
            self.floating_size = Some(self.geometry.size);
        }
    }
}

/// Starts to move `id` with the pointer, which is at `start`. Returns whether it does: fullscreen windows are not
/// moved.
pub fn begin_move(state: &mut State, id: WindowId, start: Point<f64, Logical>) -> bool {
    let Some(window) = state.shell.window(id).filter(|window| window.mapped) else { return false };
    if window.is_fullscreen() || matches!(window.wanted, WindowArrangement::Fullscreen { .. }) {
        return false;
    }
    if window.in_strip {
        state.shell.drag = Some(WindowDrag { window: id, kind: DragKind::Lift, start });
        return true;
    }
    begin_floating_move(state, id, start, false);
    true
}

fn begin_floating_move(state: &mut State, id: WindowId, start: Point<f64, Logical>, is_from_strip: bool) {
    let Some(window) = state.shell.window_mut(id) else { return };
    let mut corner = window.rect().loc;
    let snapped = window.snapped.take();
    if matches!(window.wanted, WindowArrangement::Maximized { .. }) || snapped.is_some() {
        window.floating_size = snapped.map(|snapped| snapped.before.size).or(window.floating_size);
        corner = restore_floating_size(window, start);
    }
    window.finish_stretch();
    window.floating = corner;
    state.shell.drag = Some(WindowDrag { window: id, kind: DragKind::Move { corner, is_from_strip }, start });
    window_rules::state_changed(state, id);
    state.schedule_repaint_all();
}

/// Moves or resizes the dragged window to `pointer`, and marks where it would go if it were released there. Returns
/// whether the window changed.
pub fn latch(state: &mut State, pointer: Point<f64, Logical>) -> bool {
    lift(state, pointer);
    update_snap_preview(state, pointer);
    resize_tile(state, pointer) || state.shell.latch_grabs(pointer)
}

fn resize_tile(state: &mut State, pointer: Point<f64, Logical>) -> bool {
    let Some(WindowDrag { window, kind: DragKind::ResizeTile(resize), start }) = &mut state.shell.drag else {
        return false;
    };
    let changed = resize.moved((pointer - *start).to_i32_round());
    let (id, resize) = (*window, *resize);
    if changed {
        tiling::pointer::apply(state, id, resize);
    }
    changed
}

/// Takes a tile out of its column if `pointer` has moved far enough.
fn lift(state: &mut State, pointer: Point<f64, Logical>) {
    let Some(WindowDrag { window, kind: DragKind::Lift, start }) = state.shell.drag().cloned() else { return };
    let way = pointer - start;
    // It may have become fullscreen, or left the strip, since the press.
    let is_tile = |window: &Window| {
        window.in_strip && !window.is_fullscreen() && !matches!(window.wanted, WindowArrangement::Fullscreen { .. })
    };
    if way.x.hypot(way.y) >= LIFT && state.shell.window(window).is_some_and(is_tile) {
        tiling::actions::detach_from_strip(state, window);
        begin_floating_move(state, window, start, true);
    }
}

/// Restores the floating size of a maximised or snapped window that is dragged away. The pointer stays over the same
/// relative part of the window.
fn restore_floating_size(window: &mut Window, pointer: Point<f64, Logical>) -> Point<i32, Logical> {
    let rect = window.rect();
    let size = window.floating_size.unwrap_or(rect.size);
    window.set_pending_arrangement(WindowArrangement::Floating);
    window.send_pending();
    // Show it floating at once, because waiting for the client would make the window jump away from the pointer.
    window.applied = WindowArrangement::Floating;
    let along = |pointer: f64, start: i32, length: i32, new: i32| {
        let share = (pointer - f64::from(start)) / f64::from(length.max(1));
        (pointer - share * f64::from(new)).round() as i32
    };
    let left = along(pointer.x, rect.loc.x, rect.size.w, size.w);
    Point::from((left, along(pointer.y, rect.loc.y, rect.size.h, size.h)))
}

/// Starts to move edges of `id` with the pointer. Returns whether it does: the sizes of maximised and fullscreen windows
/// are given.
pub fn begin_resize(state: &mut State, id: WindowId, edges: Edges, start: Point<f64, Logical>) -> bool {
    if state.shell.is_tile(id) {
        let resize = tiling::pointer::begin_resize(&state.shell, id, edges);
        state.shell.drag = resize.map(|resize| WindowDrag { window: id, kind: DragKind::ResizeTile(resize), start });
        return state.shell.drag.is_some();
    }
    let Some(window) = state.shell.window_mut(id).filter(|window| window.mapped) else { return false };
    if window.wanted != WindowArrangement::Floating || window.applied != WindowArrangement::Floating || edges.is_empty()
    {
        return false;
    }
    window.finish_stretch();
    if window.snapped.take().is_some() {
        // A window that is no longer snapped has free edges; the first size tells the client so.
        window.set_pending_arrangement(WindowArrangement::Floating);
    }
    let rect = window.rect();
    window.stretch = Some(ResizeStretch { edges, start: rect, wanted: rect, answered: rect.size, released: false });
    state.shell.drag = Some(WindowDrag { window: id, kind: DragKind::Resize { edges }, start });
    state.schedule_repaint_all();
    true
}

/// Ends the drag when the user releases the window.
pub fn end(state: &mut State) {
    let Some(drag) = state.shell.drag.take() else { return };
    if let Some(window) = state.shell.window_mut(drag.window)
        && let Some(stretch) = &mut window.stretch
    {
        stretch.released = true;
        if !window.send_wanted_size() {
            // No size was ever sent, because the pointer has not moved.
            window.finish_stretch();
        }
    }
    match (drag.kind, state.shell.snap_preview.take()) {
        (DragKind::Move { corner, .. }, Some(aim)) => snap_released(state, drag.window, aim, corner),
        (DragKind::Move { is_from_strip, .. }, None) => {
            workspace_actions::assign_to_output(state, drag.window);
            if is_from_strip {
                tiling::pointer::put_back(state, drag.window);
            }
        }
        _ => {}
    }
    workspace_actions::assign_to_output(state, drag.window);
    surface_outputs::update_outputs(state, drag.window);
    state.schedule_repaint_all();
}

/// Updates where the dragged window would be snapped if it were released at `pointer`.
fn update_snap_preview(state: &mut State, pointer: Point<f64, Logical>) {
    let aim = snap_preview_at(state, pointer);
    if std::mem::replace(&mut state.shell.snap_preview, aim) != aim {
        state.schedule_repaint_all();
    }
}

fn snap_preview_at(state: &State, pointer: Point<f64, Logical>) -> Option<SnapPreview> {
    let drag = state.shell.drag()?;
    let DragKind::Move { is_from_strip, .. } = drag.kind else { return None };
    state.shell.window(drag.window).filter(|window| !window.has_one_size())?;
    let (output, area) = state.usable_area(Some(pointer))?;
    let workspaces = &state.shell.workspaces;
    let screen = workspaces.screen(&output.name())?;
    let place = WorkspaceId { screen, number: workspaces.active(screen) };
    if state.shell.strips.mode(place) == TilingMode::Strip {
        // A window that floats above columns goes on floating there.
        return if is_from_strip { tiling::pointer::drop_preview(&state.shell, place, pointer) } else { None };
    }
    let is_screen = |point| state.output_areas().any(|(_, area)| area.to_f64().contains(point));
    let target = snap_targets::target(pointer, geometry(&output), is_screen)?;
    Some(SnapPreview { target, area })
}

/// Snaps or maximises a window that was released at a screen edge. `corner` is its corner before the drag.
fn snap_released(state: &mut State, id: WindowId, aim: SnapPreview, corner: Point<i32, Logical>) {
    let Some(window) = state.shell.window_mut(id) else { return };
    match aim.target {
        SnapTarget::Whole => {
            // Unmaximising restores the position before the drag.
            window.floating = corner;
            let surface = window.surface().clone();
            arrangement_requests::maximize(state, &surface);
        }
        SnapTarget::Part(part) => {
            let before = Rectangle::new(corner, window.rect().size);
            snapping::snap_in_area(state, id, part, aim.area, before);
        }
        SnapTarget::Strip { place, target } => tiling::pointer::drop_on_strip(state, id, place, target),
    }
}

/// Aborts the drag because the window is gone.
pub fn cancel(state: &mut State) {
    if let Some(drag) = state.shell.drag.take()
        && let Some(window) = state.shell.window_mut(drag.window)
    {
        window.stretch = None;
    }
    state.shell.snap_preview = None;
    state.end_drag();
}
