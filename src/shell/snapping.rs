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
    let Some(rect) = rect_of_part(state, id, part, area) else { return };
    let Some(window) = state.shell.window_mut(id) else { return };
    window.finish_stretch();
    let before = window.snapped.map_or(before, |snapped| snapped.before);
    window.snapped = Some(Snapped { part, before });
    move_floating(state, id, rect.loc, rect.size);
}

/// The rectangle of a window that fills a part of `area`, within its size limits and below its title bar.
fn rect_of_part(
    state: &State,
    id: WindowId,
    part: SnapPart,
    area: Rectangle<i32, Logical>,
) -> Option<Rectangle<i32, Logical>> {
    let rect = state.shell.below_bar(id, part.rect_in(area));
    let size = state.shell.window(id)?.size_limits().clamp(rect.size);
    let right = if part.side == Some(HorizontalSide::Right) { rect.size.w - size.w } else { 0 };
    let down = if part.row == Some(VerticalHalf::Lower) { rect.size.h - size.h } else { 0 };
    Some(Rectangle::new(rect.loc + Point::from((right, down)), size))
}

/// Gives a snapped window its part of the new usable `area`. It stays on its workspace.
pub(super) fn refit(state: &mut State, id: WindowId, area: Rectangle<i32, Logical>) {
    let Some(Snapped { part, .. }) = state.shell.window(id).and_then(|window| window.snapped) else { return };
    let Some(rect) = rect_of_part(state, id, part, area) else { return };
    let Some(window) = state.shell.window_mut(id) else { return };
    window.finish_stretch();
    window.put_floating(rect.loc, rect.size);
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
    window.wanted = WindowArrangement::Floating;
    window.put_floating(corner, size);
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

impl Window {
    /// Sets the floating place and size. A window that is maximised or fullscreen gets them when it floats again.
    fn put_floating(&mut self, corner: Point<i32, Logical>, size: Size<i32, Logical>) {
        self.floating = corner;
        self.floating_size = Some(size);
        if self.wanted == WindowArrangement::Floating {
            self.set_pending_arrangement(WindowArrangement::Floating);
            self.motion.animate_next_move();
            self.send_pending();
        }
    }
}
