//! Windows that lie on a half or a quarter of their screen ([`parts`](super::parts)), and leave it.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::layout::op::Side;
use super::parts::{Part, Row, Snapped};
use super::{Arrangement, Window, WindowId, placement, spaces, visit};
use crate::shell::Desk;
use crate::state::State;

/// Puts a floating window on a part of the screen that it is on.
pub(super) fn put_on(state: &mut State, id: WindowId, part: Part) {
    let Some(rect) = state.shell.window(id).map(Window::rect) else { return };
    let Some((_, area)) = state.usable_area(Some(spaces::centre(rect))) else { return };
    put(state, id, part, area, rect);
}

/// Puts a floating window, which was like `before`, on a part of `area`.
pub(super) fn put(
    state: &mut State,
    id: WindowId,
    part: Part,
    area: Rectangle<i32, Logical>,
    before: Rectangle<i32, Logical>,
) {
    let rect = state.shell.below_bar(id, part.of(area));
    let Some(window) = state.shell.window_mut(id) else { return };
    // As large as its client says that it can be.
    let size = window.size_limits().clamp(rect.size);
    let right = if part.side == Side::Right { rect.size.w - size.w } else { 0 };
    let down = if part.row == Some(Row::Lower) { rect.size.h - size.h } else { 0 };
    window.settle();
    let before = window.snapped.map_or(before, |snapped| snapped.before);
    window.snapped = Some(Snapped { part, before });
    float(state, id, rect.loc + Point::from((right, down)), size);
}

/// A window that lies on a part of its screen is where it was before, and as large. Returns whether it lay on one.
pub(super) fn give_back(state: &mut State, id: WindowId) -> bool {
    let Some(Snapped { before, .. }) = state.shell.window(id).and_then(|window| window.snapped) else { return false };
    let area = state.usable_area(Some(spaces::centre(before))).map(|(_, area)| state.shell.below_bar(id, area));
    let Some(window) = state.shell.window_mut(id) else { return false };
    window.snapped = None;
    float(state, id, area.map_or(before.loc, |area| placement::keep_inside(before, area)), before.size);
    true
}

/// The window floats there from now on, and glides to it.
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
