//! `xdg_toplevel.configure_bounds`: the usable area of an output, for clients that would otherwise open larger than the
//! screen.

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel;
use smithay::reexports::wayland_server::Resource as _;
use smithay::utils::{Logical, Size};

use super::workspaces::{ScreenId, WorkspaceId};
use super::{Window, WindowId, chosen_screen};
use crate::shell::ShellOutputs;
use crate::state::State;

/// Sets the bounds for the first configure of a window: those of the output on which it will appear, beside its parent
/// or where it is `expected`.
pub(super) fn set_initial_bounds(state: &mut State, id: WindowId, expected: Option<WorkspaceId>) {
    let parent = || state.shell.workspaces.place(state.shell.parent_of(id)?);
    let place = parent().or(expected);
    let on_screen = place.and_then(|place| of_screen(state, place.screen));
    let bounds = on_screen.or_else(|| Some(chosen_screen::used_area(state)?.1.size));
    if let Some(window) = state.shell.windows.get_mut_quietly(id) {
        let bounds = bounds.map(|bounds| within(window, bounds));
        window.toplevel.with_pending_state(|pending| pending.bounds = bounds);
    }
}

/// Sends the bounds again if the window is on another output or its output has changed. For a tiled window they go with
/// the next size from its strip.
pub(super) fn update_bounds(state: &mut State, id: WindowId) {
    if set_pending_bounds(state, id)
        && let Some(window) = state.shell.windows.get_mut_quietly(id).filter(|window| !window.in_strip)
    {
        window.send_pending();
    }
}

/// Puts the bounds of the window's output into its next configure. Returns whether they differ from the last bounds.
pub(super) fn set_pending_bounds(state: &mut State, id: WindowId) -> bool {
    let place = state.shell.workspaces.place(id);
    let Some(bounds) = place.and_then(|place| of_screen(state, place.screen)) else { return false };
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return false };
    let hears_bounds = window.toplevel.xdg_toplevel().version() >= xdg_toplevel::EVT_CONFIGURE_BOUNDS_SINCE;
    if !window.configured || !hears_bounds {
        return false;
    }
    let bounds = within(window, bounds);
    window.toplevel.with_pending_state(|pending| pending.bounds.replace(bounds)) != Some(bounds)
}

/// Limits the bounds to the largest size that rules allow the window.
fn within(window: &Window, bounds: Size<i32, Logical>) -> Size<i32, Logical> {
    let most = window.ruled_limits.max;
    let side = |bound: i32, most: i32| if most > 0 { bound.min(most) } else { bound };
    Size::from((side(bounds.w, most.w), side(bounds.h, most.h)))
}

fn of_screen(state: &State, screen: ScreenId) -> Option<Size<i32, Logical>> {
    let name = state.shell.workspaces.name(screen)?;
    let (output, _) = state.output_areas().find(|(output, _)| output.name() == name)?;
    Some(state.shell.layers.usable(output).size)
}
