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
    let others = others.filter(|other| !shell.is_minimised(other.id) && shell.workspaces.place(other.id) == place);
    let others: Vec<_> = others.map(|other| shell.with_title_bar(other)).filter(|other| other.overlaps(area)).collect();
    let corner = match parent {
        Some(parent) => {
            let corner = placement::centre_over(size, parent, area);
            placement::apart(Rectangle::new(corner, size), area, &others)
        }
        None => placement::place(size, area, &others),
    };
    if let Some(window) = state.shell.window_mut(id) {
        window.floating = corner + Point::from((0, above));
        window.placed = true;
    }
}
