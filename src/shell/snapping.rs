//! Snapping of windows to a half or a quarter of their screen ([`parts`](super::parts)), and back.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::layout::op::Side;
use super::parts::{Part, Row, Snapped};
use super::{Arrangement, Window, WindowId, placement, spaces, visit};
use crate::shell::Desk;
use crate::state::State;

/// Snaps a floating window to a part of its screen.
pub(super) fn put_on(state: &mut State, id: WindowId, part: Part) {
    let Some(rect) = state.shell.window(id).map(Window::rect) else { return };
    let Some((_, area)) = state.usable_area(Some(spaces::centre(rect))) else { return };
    put(state, id, part, area, rect);
}

/// Snaps a floating window to a part of `area`. `before` is its rectangle, for when it is restored.
pub(super) fn put(
    state: &mut State,
    id: WindowId,
    part: Part,
    area: Rectangle<i32, Logical>,
    before: Rectangle<i32, Logical>,
) {
    let rect = state.shell.below_bar(id, part.of(area));
    let Some(window) = state.shell.window_mut(id) else { return };
    // Respect the client's size limits.
    let size = window.size_limits().clamp(rect.size);
    let right = if part.side == Side::Right { rect.size.w - size.w } else { 0 };
    let down = if part.row == Some(Row::Lower) { rect.size.h - size.h } else { 0 };
    window.settle();
    let before = window.snapped.map_or(before, |snapped| snapped.before);
    window.snapped = Some(Snapped { part, before });
    float(state, id, rect.loc + Point::from((right, down)), size);
}

/// Restores the place and size of a window before it was snapped. Returns whether it was snapped.
pub(super) fn give_back(state: &mut State, id: WindowId) -> bool {
    let Some(Snapped { before, .. }) = state.shell.window(id).and_then(|window| window.snapped) else { return false };
    let area = state.usable_area(Some(spaces::centre(before))).map(|(_, area)| state.shell.below_bar(id, area));
    let Some(window) = state.shell.window_mut(id) else { return false };
    window.snapped = None;
    float(state, id, area.map_or(before.loc, |area| placement::keep_inside(before, area)), before.size);
    true
}

/// Moves a floating window to a new place and size, with an animation.
pub(super) fn float(state: &mut State, id: WindowId, corner: Point<i32, Logical>, size: Size<i32, Logical>) {
    let Some(window) = state.shell.window_mut(id) else { return };
    window.floating = corner;
    window.floating_size = Some(size);
    window.want(Arrangement::Floating);
    window.motion.glide();
    window.send_pending();
    spaces::settle(state, id);
    visit::update_outputs(state, id);
    state.need_all();
}
