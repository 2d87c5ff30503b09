//! Windows follow their outputs: they move along with their output, stay reachable when its usable area shrinks, and go
//! to another output while theirs is unplugged. No window is put exactly on another one.
//!
//! ```text
//!   output moves           window moves by the same distance
//!   output shrinks,        window moves inside if it lay inside; it goes back when the output grows, unless the
//!   bar appears            user has moved it since
//!   output is unplugged    same relative place on the output that shows its workspaces now; back when it returns
//! ```

use smithay::utils::Rectangle;

use super::placement::{self, AreasChange, FloatingPlace, OutputAreas};
use super::workspace_actions;
use super::workspaces::ScreenId;
use super::{Window, WindowArrangement, WindowId, configure_bounds, first_place, snapping, surface_outputs};
use crate::shell::{ShellOutputs, geometry};
use crate::state::State;

/// The areas of a connected output when windows last followed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FollowedOutput {
    screen: ScreenId,
    areas: OutputAreas,
}

/// Called after the usable area of an output has changed, because of a bar: all windows follow.
pub(super) fn usable_area_changed(state: &mut State) {
    // The bounds of all windows change.
    state.shell.note_change();
    let before = places(state);
    follow_all(state, &before);
    state.schedule_repaint_all();
}

/// The output that shows each window, and its areas when windows last followed it.
pub(super) fn places(state: &State) -> Vec<(WindowId, Option<FollowedOutput>)> {
    let shell = &state.shell;
    let followed = |id| {
        let screen = shell.workspaces.place(id)?.screen;
        shell.followed_outputs.iter().find(|followed| followed.screen == screen).copied()
    };
    shell.windows.iter().map(|window| (window.id, followed(window.id))).collect()
}

/// All windows follow their outputs. `before`: the [`places`] before the change.
pub(super) fn follow_all(state: &mut State, before: &[(WindowId, Option<FollowedOutput>)]) {
    let areas = |(screen, _)| Some(FollowedOutput { screen, areas: areas_of(state, screen)? });
    let followed: Vec<_> = state.shell.workspaces.screens().filter_map(areas).collect();
    // While there is no output, windows still belong to the places on the last outputs.
    if !followed.is_empty() {
        state.shell.followed_outputs = followed;
    }
    let displaced: Vec<WindowId> =
        before.iter().filter(|(id, was)| follow(state, *id, *was)).map(|(id, _)| *id).collect();
    for id in displaced {
        separate(state, id);
    }
    for (id, _) in before {
        surface_outputs::update_outputs(state, *id);
    }
}

fn areas_of(state: &State, screen: ScreenId) -> Option<OutputAreas> {
    let (output, full) = workspace_actions::output_of(state, screen)?;
    Some(OutputAreas { full, usable: state.shell.layers.usable(&output) })
}

/// Updates a window for the areas of its output. Returns whether it lies elsewhere on its output than before.
fn follow(state: &mut State, id: WindowId, was: Option<FollowedOutput>) -> bool {
    let Some(screen) = state.shell.workspaces.place(id).map(|place| place.screen) else { return false };
    let Some(areas) = areas_of(state, screen) else { return false };
    let now = FollowedOutput { screen, areas };
    refit(state, id, was, &now);
    let is_laid_out = state.shell.window(id).is_some_and(|window| window.placed);
    if was == Some(now) || !is_laid_out {
        // It may have opened while there was no output.
        let is_new = state.shell.window(id).is_some_and(|window| window.mapped && !window.placed);
        if is_new && !state.shell.is_for_strip(id) {
            first_place::place_new(state, id, areas.usable);
        }
        return false;
    }
    let home = state.shell.workspaces.home(id).map(|home| home.screen);
    let is_home = |screen| home == Some(screen);
    let change = AreasChange {
        was: was.map(|was| was.areas),
        now: areas,
        is_same_output: was.is_none_or(|was| was.screen == screen),
        is_own_output: is_home(screen),
        was_own_output: was.is_none_or(|was| is_home(was.screen)),
    };
    if state.shell.window(id).is_some_and(|window| window.snapped.is_some()) {
        follow_snapped(state, id, &change);
        return false;
    }
    follow_floating(state, id, &change)
}

/// Gives a maximised or fullscreen window the new area. The strip refits its own windows.
fn refit(state: &mut State, id: WindowId, was: Option<FollowedOutput>, now: &FollowedOutput) {
    let Some(window) = state.shell.window(id).filter(|window| !window.in_strip) else { return };
    let area = now.areas.usable;
    let is_known = |output: &_| state.outputs().any(|known| known == output);
    let refitted = match &window.wanted {
        WindowArrangement::Floating | WindowArrangement::Tiled { .. } => None,
        WindowArrangement::Maximized { .. } => Some(WindowArrangement::Maximized { area }),
        WindowArrangement::Fullscreen { output, .. } => {
            let own = workspace_actions::output_of(state, now.screen).map(|(output, _)| output);
            // A window whose own output is back returns to it.
            let stays = was.is_none_or(|was| was.screen == now.screen);
            let output = Some(output.clone()).filter(|output| stays && is_known(output)).or(own);
            output.map(|output| WindowArrangement::Fullscreen { area: geometry(&output), output })
        }
    };
    let is_orphan = matches!(&window.applied, WindowArrangement::Fullscreen { output, .. } if !is_known(output));
    if refitted.is_some() {
        configure_bounds::set_pending_bounds(state, id);
    }
    let Some(window) = state.shell.window_mut(id) else { return };
    if let WindowArrangement::Maximized { area: after } = &mut window.before_fullscreen {
        *after = area;
    }
    let Some(refitted) = refitted else { return };
    if is_orphan {
        // The window's output is gone: show the old content at the new place until the client answers.
        window.applied = refitted.clone();
    }
    window.set_pending_arrangement(refitted);
    if !window.send_pending() && window.sent.is_empty() && window.is_fullscreen() {
        // The other output has the same size: nothing to answer.
        window.applied = window.wanted.clone();
    }
}

/// Moves the floating place of a window, which a maximised window keeps, too. Returns whether it lies elsewhere on its
/// output than before.
fn follow_floating(state: &mut State, id: WindowId, change: &AreasChange) -> bool {
    let is_dragged = state.shell.is_dragged(id);
    state.shell.window_mut(id).filter(|_| !is_dragged).into_iter().for_each(Window::finish_stretch);
    let Some(window) = state.shell.window(id) else { return false };
    let above = state.shell.height_above(window);
    let before = FloatingPlace { corner: window.floating, displaced: window.displaced };
    let size = window.floating_size.unwrap_or(window.geometry.size);
    let after = before.after(size, above, change);
    let by = change.was.filter(|_| change.is_same_output).map(|was| change.now.full.loc - was.full.loc);
    let is_elsewhere = after.corner != before.corner + by.unwrap_or_default();
    let Some(window) = state.shell.window_mut(id).filter(|_| after != before) else { return false };
    (window.floating, window.displaced) = (after.corner, after.displaced);
    if is_elsewhere && window.wanted == WindowArrangement::Floating {
        window.motion.animate_next_move();
    }
    is_elsewhere
}

/// Gives a window that is snapped to a part of its output the same part of the new area.
fn follow_snapped(state: &mut State, id: WindowId, change: &AreasChange) {
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    let Some(snapped) = &mut window.snapped else { return };
    let former = FloatingPlace { corner: snapped.before.loc, displaced: window.displaced };
    let former = former.after(snapped.before.size, 0, change);
    (snapped.before.loc, window.displaced) = (former.corner, former.displaced);
    snapping::refit(state, id, change.now.usable);
}

/// Moves the floating place of a window to the same part of another output, which becomes its own.
pub(super) fn move_to_output(state: &mut State, id: WindowId, from: ScreenId, to: ScreenId) {
    let Some((was, now)) = areas_of(state, from).zip(areas_of(state, to)).filter(|_| from != to) else { return };
    let Some(window) = state.shell.window_mut(id).filter(|window| window.placed) else { return };
    window.displaced = None;
    let change = AreasChange { was: Some(was), now, is_same_output: false, is_own_output: true, was_own_output: true };
    if window.snapped.is_some() {
        follow_snapped(state, id, &change);
    } else {
        follow_floating(state, id, &change);
    }
    state.shell.window_mut(id).into_iter().for_each(|window| window.displaced = None);
}

/// Moves a floating window that lies exactly on another one of its workspace.
pub(super) fn separate(state: &mut State, id: WindowId) {
    let floats = |window: &&Window| {
        window.mapped && window.wanted == WindowArrangement::Floating && !window.in_strip && window.snapped.is_none()
    };
    let shell = &state.shell;
    let (Some(window), Some(place)) = (shell.window(id), shell.workspaces.place(id)) else { return };
    let Some(areas) = areas_of(state, place.screen) else { return };
    if !window.placed || window.in_strip || window.snapped.is_some() || shell.is_dragged(id) {
        return;
    }
    let others = shell.windows.iter().filter(floats);
    let others = others.filter(|other| other.id != id && shell.workspaces.place(other.id) == Some(place));
    let others = others.filter(|other| !shell.is_minimised(other.id));
    let others: Vec<_> = others.map(Window::floating_rect).collect();
    let rect = Rectangle::new(window.floating, window.floating_size.unwrap_or(window.geometry.size));
    let corner = placement::apart(rect, areas.below(shell.height_above(window)), &others);
    if corner == rect.loc {
        return;
    }
    let Some(window) = state.shell.window_mut(id) else { return };
    let place = FloatingPlace { corner: window.floating, displaced: window.displaced }.put_at(corner);
    (window.floating, window.displaced) = (place.corner, place.displaced);
    if window.wanted == WindowArrangement::Floating {
        window.motion.animate_next_move();
    }
}
