//! Maximised and fullscreen windows, and moves of windows to another workspace.

use std::collections::BTreeSet;

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};

use super::layout::op::Direction;
use super::snap_targets::SnapPart;
use super::workspace_actions;
use super::workspaces::WorkspaceId;
use super::{
    Window, WindowArrangement, WindowId, activate, following, minimising, output_changes, popup, send_configure,
    snapping, tiling,
};
use crate::shell::{ShellOutputs, ShellSeat, geometry};
use crate::state::State;

/// Handles the client's request to maximise its window (`xdg_toplevel.set_maximized`).
pub fn maximize(state: &mut State, surface: &WlSurface) {
    restore_if_minimised(state, surface);
    if tiling::actions::maximise(state, surface, true) {
        return send_configure(state, surface);
    }
    let area = area_for(state, surface);
    let Some(window) = state.shell.window_of_root_mut(surface) else { return };
    if let Some((_, area)) = area {
        if matches!(window.wanted, WindowArrangement::Fullscreen { .. }) {
            // Takes effect when the window leaves fullscreen.
            window.before_fullscreen = WindowArrangement::Maximized { area };
        } else {
            window.remember_floating();
            window.set_pending_arrangement(WindowArrangement::Maximized { area });
        }
    }
    send_configure(state, surface);
}

/// The output of a window, or that of the pointer for a window without content, and its usable area.
fn area_for(state: &State, surface: &WlSurface) -> Option<(Output, Rectangle<i32, Logical>)> {
    let shown = state.shell.window_of_root(surface).and_then(|it| workspace_actions::usable_area_of(state, it.id));
    shown.or_else(|| state.usable_area(Some(state.pointer_position())))
}

/// Restores the window if it is minimised: a window that becomes maximised or fullscreen must be visible.
fn restore_if_minimised(state: &mut State, surface: &WlSurface) {
    if let Some(id) = state.shell.window_of_root(surface).map(|window| window.id) {
        minimising::restore(state, id);
    }
}

/// Handles the client's request for its floating size (`xdg_toplevel.unset_maximized`).
pub fn unmaximize(state: &mut State, surface: &WlSurface) {
    if tiling::actions::maximise(state, surface, false) {
        return send_configure(state, surface);
    }
    let Some(window) = state.shell.window_of_root_mut(surface) else { return };
    match window.wanted {
        WindowArrangement::Maximized { .. } => {
            window.set_pending_arrangement(WindowArrangement::Floating);
            let id = window.id;
            following::separate(state, id);
        }
        WindowArrangement::Fullscreen { .. } => window.before_fullscreen = WindowArrangement::Floating,
        WindowArrangement::Floating | WindowArrangement::Tiled { .. } => {}
    }
    send_configure(state, surface);
}

/// Handles the client's request for fullscreen, on the named output or on the output of the window.
pub fn fullscreen(state: &mut State, surface: &WlSurface, output: Option<Output>) {
    restore_if_minimised(state, surface);
    if tiling::actions::fill_screen(state, surface, output.as_ref()) {
        return send_configure(state, surface);
    }
    let output = output
        .filter(|output| state.outputs().any(|known| known == output))
        .or_else(|| area_for(state, surface).map(|(output, _)| output));
    let shown = output.as_ref().and_then(|output| state.shell.workspaces.screen(&output.name()));
    let Some(window) = state.shell.window_of_root_mut(surface) else { return };
    let id = window.id;
    if let Some(output) = output {
        if !matches!(window.wanted, WindowArrangement::Fullscreen { .. }) {
            window.remember_floating();
            window.before_fullscreen = window.wanted.clone();
        }
        window.set_pending_arrangement(WindowArrangement::Fullscreen { area: geometry(&output), output });
    }
    let from = state.shell.workspaces.place(id);
    workspace_actions::move_to_screen(state, id, shown);
    if let Some((from, to)) = from.zip(state.shell.workspaces.place(id)).filter(|_| !state.shell.is_dragged(id)) {
        following::move_to_output(state, id, from.screen, to.screen);
    }
    send_configure(state, surface);
}

/// Handles the client's request to leave fullscreen: restores the state before it.
pub fn unfullscreen(state: &mut State, surface: &WlSurface) {
    if tiling::actions::unfill_screen(state, surface) {
        return send_configure(state, surface);
    }
    let Some(window) = state.shell.window_of_root_mut(surface) else { return };
    if matches!(window.wanted, WindowArrangement::Fullscreen { .. }) {
        let before = std::mem::take(&mut window.before_fullscreen);
        let (id, floats) = (window.id, before == WindowArrangement::Floating);
        window.set_pending_arrangement(before);
        if floats {
            following::separate(state, id);
        }
    }
    send_configure(state, surface);
}

/// Maximises the focused window, or restores it, for the user.
pub fn toggle_maximised(state: &mut State) {
    let Some(window) = focused(state) else { return };
    match window.wanted {
        WindowArrangement::Fullscreen { .. } => {}
        WindowArrangement::Maximized { .. } | WindowArrangement::Tiled { is_maximised: true, .. } => {
            unmaximize(state, &window.surface().clone());
        }
        WindowArrangement::Floating | WindowArrangement::Tiled { .. } => maximize(state, &window.surface().clone()),
    }
}

/// Makes the focused window fullscreen, or restores it, for the user.
pub fn toggle_fullscreen(state: &mut State) {
    let Some(window) = focused(state) else { return };
    let surface = window.surface().clone();
    if matches!(window.wanted, WindowArrangement::Fullscreen { .. }) {
        unfullscreen(state, &surface);
    } else {
        fullscreen(state, &surface, None);
    }
}

/// Restores the previous place and size of the focused window, for the user.
pub fn restore(state: &mut State) {
    let Some(window) = focused(state) else { return };
    let surface = window.surface().clone();
    match window.wanted {
        WindowArrangement::Fullscreen { .. } => unfullscreen(state, &surface),
        WindowArrangement::Maximized { .. } => unmaximize(state, &surface),
        WindowArrangement::Floating => {
            let id = window.id;
            snapping::unsnap(state, id);
        }
        WindowArrangement::Tiled { .. } => {}
    }
}

/// Snaps the focused window, if it floats, one step in this direction, for the user: to a half of the usable area, from
/// a half to a quarter, or back ([`SnapPart::after_step`]). Returns whether the direction is for snapping: up and down
/// are only for windows that are snapped already.
pub fn snap(state: &mut State, direction: Direction) -> bool {
    let floats = |window: &&Window| window.wanted == WindowArrangement::Floating && !window.in_strip;
    let Some(window) = focused(state).filter(floats) else { return false };
    let (id, before) = (window.id, window.snapped.map(|snapped| snapped.part));
    if before.is_none() && !matches!(direction, Direction::Column(_)) {
        return false;
    }
    match SnapPart::after_step(before, direction) {
        Some(part) if Some(part) != before => snapping::snap(state, id, part),
        Some(_) => {}
        None => {
            snapping::unsnap(state, id);
        }
    }
    true
}

fn focused(state: &State) -> Option<&Window> {
    state.shell.focused().and_then(|id| state.shell.window(id)).filter(|window| window.mapped)
}

/// Moves a window and its dialogs to a workspace, on another output to the corresponding place. If the window is not
/// visible there any more, the next visible window gets the focus.
pub fn send_to(state: &mut State, id: WindowId, to: WorkspaceId) {
    send_together(state, id, &[id], to);
}

/// Moves all windows of a window's column to a workspace. They stay a column if the workspace has columns. A window
/// that is in no column moves alone.
pub fn send_column_to(state: &mut State, id: WindowId, to: WorkspaceId) {
    tiling::arrange(state);
    let column = state.shell.strips.send_column(id, to);
    let alone = [id];
    send_together(state, id, if column.is_empty() { &alone } else { &column }, to);
}

/// Moves windows and their dialogs to a workspace. `id` is the window among them that decides about the focus.
fn send_together(state: &mut State, id: WindowId, all: &[WindowId], to: WorkspaceId) {
    let Some(from) = state.shell.workspaces.place(id).filter(|from| *from != to) else { return };
    let was_seen = state.shell.is_visible(id);
    let members: BTreeSet<WindowId> = all.iter().flat_map(|it| state.shell.family(*it)).collect();
    for member in members.iter().copied() {
        let from = state.shell.workspaces.place(member).unwrap_or(from);
        state.shell.workspaces.assign(member, to);
        following::move_to_output(state, member, from.screen, to.screen);
        state.shell.window_mut(member).into_iter().for_each(|window| window.displaced = None);
    }
    tiling::arrange(state);
    members.iter().for_each(|member| following::separate(state, *member));
    output_changes::outputs_changed(state);
    tiling::arrange(state);
    if was_seen && !state.shell.is_visible(id) {
        let next = workspace_actions::next_on(state, from);
        popup::dismiss_of_window(state, id);
        activate(state, next);
    }
}
