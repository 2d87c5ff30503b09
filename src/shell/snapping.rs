//! Snapping of windows to a half or a quarter of their screen ([`snap_targets`](super::snap_targets)), and back.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::layout::op::HorizontalSide;
use super::snap_targets::{SnapPart, Snapped, VerticalHalf};
use super::{Window, WindowArrangement, WindowId, placement, surface_outputs, workspace_actions};
use crate::shell::ShellOutputs;
use crate::state::State;
use upbeat_record::ipc::message::SnappedPart;

/// Snaps a floating window to a part of its screen.
pub(super) fn snap(state: &mut State, id: WindowId, part: SnapPart) {
    let Some(rect) = state.shell.window(id).map(Window::rect) else { return };
    let Some((_, area)) = workspace_actions::usable_area_of(state, id) else { return };
    snap_in_area(state, id, part, area, rect);
}

/// Snaps a floating window to a part of `area`. `before` is its rectangle, for when it is restored.
pub(super) fn snap_in_area(
    state: &mut State,
    id: WindowId,
    part: SnapPart,
    area: Rectangle<i32, Logical>,
    before: Rectangle<i32, Logical>,
) {
    let rect = state.shell.below_bar(id, part.rect_in(area));
    let Some(window) = state.shell.window_mut(id) else { return };
    // Respect the client's size limits.
    let size = window.size_limits().clamp(rect.size);
    let right = if part.side == Some(HorizontalSide::Right) { rect.size.w - size.w } else { 0 };
    let down = if part.row == Some(VerticalHalf::Lower) { rect.size.h - size.h } else { 0 };
    window.finish_stretch();
    let before = window.snapped.map_or(before, |snapped| snapped.before);
    window.snapped = Some(Snapped { part, before });
    move_floating(state, id, rect.loc + Point::from((right, down)), size);
}

/// Gives a snapped window its part of the new usable `area`.
pub(super) fn refit(state: &mut State, id: WindowId, area: Rectangle<i32, Logical>) {
    let Some(Snapped { part, before }) = state.shell.window(id).and_then(|window| window.snapped) else { return };
    if state.shell.window(id).is_some_and(|window| window.wanted == WindowArrangement::Floating) {
        return snap_in_area(state, id, part, area, before);
    }
    // It is maximised or fullscreen now, and snapped again after that.
    let rect = state.shell.below_bar(id, part.rect_in(area));
    if let Some(window) = state.shell.window_mut(id) {
        (window.floating, window.floating_size) = (rect.loc, Some(window.size_limits().clamp(rect.size)));
    }
}

/// Restores the place and size of a window before it was snapped. Returns whether it was snapped.
pub(super) fn unsnap(state: &mut State, id: WindowId) -> bool {
    let Some(Snapped { before, .. }) = state.shell.window(id).and_then(|window| window.snapped) else { return false };
    let area =
        state.usable_area(Some(workspace_actions::centre(before))).map(|(_, area)| state.shell.below_bar(id, area));
    let Some(window) = state.shell.window_mut(id) else { return false };
    window.snapped = None;
    move_floating(state, id, area.map_or(before.loc, |area| placement::keep_inside(before, area)), before.size);
    true
}

/// Moves a floating window to a new place and size, with an animation.
pub(super) fn move_floating(state: &mut State, id: WindowId, corner: Point<i32, Logical>, size: Size<i32, Logical>) {
    let Some(window) = state.shell.window_mut(id) else { return };
    window.floating = corner;
    window.floating_size = Some(size);
    window.set_pending_arrangement(WindowArrangement::Floating);
    window.motion.animate_next_move();
    window.send_pending();
    workspace_actions::assign_to_output(state, id);
    surface_outputs::update_outputs(state, id);
    state.schedule_repaint_all();
}

impl Window {
    /// The half or quarter of its screen that it fills, or will fill when its client answers.
    pub fn snapped_part(&self) -> Option<SnappedPart> {
        use HorizontalSide::{Left, Right};
        use VerticalHalf::{Lower, Upper};
        let part = self.snapped.filter(|_| self.wanted == WindowArrangement::Floating)?.part;
        Some(match (part.side, part.row) {
            (None, None) => return None,
            (Some(Left), None) => SnappedPart::Left,
            (Some(Right), None) => SnappedPart::Right,
            (None, Some(Upper)) => SnappedPart::Top,
            (None, Some(Lower)) => SnappedPart::Bottom,
            (Some(Left), Some(Upper)) => SnappedPart::TopLeft,
            (Some(Right), Some(Upper)) => SnappedPart::TopRight,
            (Some(Left), Some(Lower)) => SnappedPart::BottomLeft,
            (Some(Right), Some(Lower)) => SnappedPart::BottomRight,
        })
    }
}
