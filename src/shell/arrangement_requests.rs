//! Maximised and fullscreen windows, windows whose output is unplugged or changes, and moves of windows to another
//! workspace.

use std::collections::BTreeSet;

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle, Size};

use super::layout::op::Direction;
use super::snap_targets::SnapPart;
use super::workspace_actions::{self, centre};
use super::workspaces::WorkspaceId;
use super::{
    Window, WindowArrangement, WindowId, activate, configure_bounds, focus_next, layers, minimising, placement, popup,
    send_configure, snapping, surface_outputs, tiling,
};
use crate::shell::{ShellOutputs, ShellSeat, geometry};
use crate::state::State;

/// Handles the client's request to maximise its window (`xdg_toplevel.set_maximized`).
pub fn maximize(state: &mut State, surface: &WlSurface) {
    restore_if_minimised(state, surface);
    if tiling::actions::maximise(state, surface, true) {
        return send_configure(state, surface);
    }
    let at = state.shell.window_of_root(surface).filter(|window| window.mapped).map(|window| centre(window.rect()));
    let area = state.usable_area(at.or_else(|| Some(state.pointer_position())));
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
        WindowArrangement::Maximized { .. } => window.set_pending_arrangement(WindowArrangement::Floating),
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
    let at = state.shell.window_of_root(surface).filter(|window| window.mapped).map(|window| centre(window.rect()));
    let output = output
        .filter(|output| state.outputs().any(|known| known == output))
        .or_else(|| Some(state.usable_area(at.or_else(|| Some(state.pointer_position())))?.0));
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
    workspace_actions::move_to_screen(state, id, shown);
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
        window.set_pending_arrangement(before);
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

/// Called after an output was plugged, unplugged or changed. Maximised and fullscreen windows are refitted. Windows
/// that lie outside all outputs, or that no longer fit on their smaller output, are moved inside.
pub fn outputs_changed(state: &mut State) {
    // Forget the cached outputs of surfaces, so that `wl_surface.enter` and `leave` are sent again.
    state.shell.note_change();
    let back = workspace_actions::sync_outputs(state);
    layers::outputs_changed(state);
    let sizes = state.output_areas().map(|(output, area)| (output.name(), area.size)).collect();
    let were = std::mem::replace(&mut state.shell.output_sizes, sizes);
    let ids: Vec<WindowId> = state.shell.windows.iter().map(|window| window.id).collect();
    for id in ids {
        // A window that reached beyond its output before was put there by the user, so leave it there.
        let lay_within = back.contains(&id) || was_inside_output(state, id, &were);
        follow_output(state, id, lay_within);
        surface_outputs::update_outputs(state, id);
    }
    focus_next(state);
    workspace_actions::send_window_states(&mut state.shell);
    super::lock::outputs_changed(state);
    state.schedule_repaint_all();
}

/// Whether a window lay within its output when the outputs had these sizes.
fn was_inside_output(state: &State, id: WindowId, sizes: &[(String, Size<i32, Logical>)]) -> bool {
    let place = state.shell.workspaces.place(id);
    let on = place.and_then(|place| workspace_actions::output_of(state, place.screen));
    let (Some((output, area)), Some(window)) = (on, state.shell.window(id)) else { return false };
    let was = sizes.iter().find(|(name, _)| *name == output.name());
    // The window moves with its output, so only the size counts.
    was.is_some_and(|(_, size)| Rectangle::new(area.loc, *size).contains_rect(window.floating_rect()))
}

fn follow_output(state: &mut State, id: WindowId, lay_within: bool) {
    let Some(window) = state.shell.window(id) else { return };
    // If the window's output is unplugged, use the output that has its workspaces now.
    let on = state.shell.workspaces.place(id).and_then(|place| workspace_actions::area_of(state, place.screen));
    let at = on.map_or_else(|| centre(window.rect()), centre);
    let Some((nearest, area)) = state.usable_area(Some(at)) else { return };
    let known = |output: &Output| state.outputs().any(|known| known == output);
    let refitted = match &window.wanted {
        // The strip refits its own windows.
        _ if window.in_strip => None,
        WindowArrangement::Floating | WindowArrangement::Tiled { .. } => None,
        WindowArrangement::Maximized { .. } => Some(WindowArrangement::Maximized { area }),
        WindowArrangement::Fullscreen { output, .. } => {
            let output = if known(output) { output.clone() } else { nearest };
            Some(WindowArrangement::Fullscreen { area: geometry(&output), output })
        }
    };
    let orphaned = matches!(&window.applied, WindowArrangement::Fullscreen { output, .. } if !known(output));
    let seen = state.output_areas().any(|(_, geometry)| geometry.overlaps(window.rect()));
    let cut = lay_within && on.is_some_and(|output| !output.contains_rect(window.floating_rect()));
    let below = state.shell.below_bar(id, area);
    if refitted.is_some() {
        configure_bounds::set_pending_bounds(state, id);
    }
    let Some(window) = state.shell.window_mut(id) else { return };
    match refitted {
        Some(arrangement) => {
            if orphaned {
                // The window's output is gone: show the old content at the new place until the client answers.
                window.applied = arrangement.clone();
            }
            window.set_pending_arrangement(arrangement);
            window.send_pending();
        }
        None if (!seen || cut) && !window.in_strip => {
            window.displaced_from.get_or_insert(window.floating);
            window.floating = placement::keep_inside(window.floating_rect(), below);
            window.motion.animate_next_move();
        }
        None => {}
    }
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
    let areas = workspace_actions::area_of(state, from.screen).zip(workspace_actions::area_of(state, to.screen));
    let was_seen = state.shell.is_visible(id);
    let members: BTreeSet<WindowId> = all.iter().flat_map(|it| state.shell.family(*it)).collect();
    for member in members {
        state.shell.workspaces.assign(member, to);
        let Some(window) = state.shell.window_mut(member) else { continue };
        window.displaced_from = None;
        if let (Some((old, new)), true) = (areas, from.screen != to.screen) {
            window.floating =
                placement::map_between_areas(Rectangle::new(window.floating, window.rect().size), old, new);
            window.motion.animate_next_move();
        }
    }
    outputs_changed(state);
    tiling::arrange(state);
    if was_seen && !state.shell.is_visible(id) {
        let next = workspace_actions::next_on(state, from);
        popup::dismiss_of_window(state, id);
        activate(state, next);
    }
}
