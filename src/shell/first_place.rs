//! The first place of a floating window.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{WindowId, placement};
use crate::state::State;

/// Places a new window in the usable `area` of its output: over its parent, or where it covers the least of the other
/// windows of its workspace.
pub(super) fn place_new(state: &mut State, id: WindowId, area: Rectangle<i32, Logical>) {
    let shell = &state.shell;
    let Some(window) = shell.window(id) else { return };
    let above = shell.height_above(window);
    let size = window.ruled_size() + Size::from((0, above));
    let parent = window.toplevel.parent().and_then(|parent| Some(shell.window_of(&parent)?.rect()));
    let place = shell.workspaces.place(id);
    let others = shell.windows().filter(|other| other.id != id && !other.is_hidden_tab);
    let others = others.filter(|other| shell.workspaces.place(other.id) == place);
    let (mut shown, mut minimised) = (Vec::new(), Vec::new());
    for other in others {
        let list = if shell.is_minimised(other.id) { &mut minimised } else { &mut shown };
        list.extend(Some(shell.with_title_bar(other)).filter(|rect| rect.overlaps(area)));
    }
    let corner = match parent {
        Some(parent) => placement::centre_over(size, parent, area),
        None => placement::place(size, area, &shown),
    };
    // A minimised window comes back to where it lay: that place is taken.
    shown.extend(minimised);
    let corner = placement::apart(Rectangle::new(corner, size), area, &shown);
    if let Some(window) = state.shell.window_mut(id) {
        window.floating = corner + Point::from((0, above));
        window.placed = true;
    }
}
