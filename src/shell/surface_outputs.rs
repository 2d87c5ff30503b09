//! Sends surfaces their outputs (`wl_surface.enter` and `leave`), preferred scale and transform, and dmabuf feedback.

use smithay::output::Output;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle, Transform};
use smithay::wayland::compositor::{self, SurfaceData, TraversalAction};
use smithay::wayland::fractional_scale::with_fractional_scale;

use super::layers::ShellLayerSurface;
use super::{Window, WindowId, configure_bounds};
use crate::guard;
use crate::shell::ShellOutputs;
use crate::state::State;
use crate::surface::scanout_feedback;

/// Sends enter and leave events, preferred scale and transform to a window and its popups, each by its own place, and
/// the bounds of the window.
pub fn update_outputs(state: &mut State, id: WindowId) {
    let changes = state.shell.changes();
    let Some(window) = state.shell.window(id).filter(|window| window.outputs_sent_at != Some(changes)) else { return };
    let mut trees = vec![(window.surface().clone(), window.rect())];
    trees.extend(
        state.shell.popups_of(window.surface()).map(|(popup, at)| (popup.surface().clone(), popup.rect_at(at))),
    );
    let visible = window.is_mapped();
    // Columns are only on their own output, even while they are scrolled out of view.
    let own = state.shell.workspaces.place(id).filter(|_| window.in_strip);
    let own = own.and_then(|place| state.shell.workspaces.name(place.screen));
    let lies_on = |output: &Output, area: Rectangle<i32, Logical>, rect: Rectangle<i32, Logical>| {
        visible && own.map_or_else(|| area.overlaps(rect), |own| output.name() == own)
    };
    let mut of_window: Option<Output> = None;
    for (root, rect) in &trees {
        let mut preferred: Option<Output> = None;
        for (output, area) in state.output_areas() {
            let inside = lies_on(output, area, *rect);
            for_each_surface(root, |surface, _| if inside { output.enter(surface) } else { output.leave(surface) });
            // The output with the greatest scale decides, as in other compositors, since scaling down looks better than
            // scaling up.
            if inside && preferred.as_ref().is_none_or(|best| is_sharper(output, best)) {
                preferred = Some(output.clone());
            }
        }
        // A popup outside of all outputs uses its window's output.
        let preferred = preferred.or_else(|| of_window.clone());
        if let Some(output) = &preferred {
            for_each_surface(root, |surface, states| send_preferences(surface, states, output));
        }
        of_window = of_window.or(preferred);
    }
    if let Some(window) = state.shell.windows.of_root_mut_quietly(&trees[0].0) {
        window.outputs_sent_at = Some(changes);
    }
    configure_bounds::update_bounds(state, id);
}

fn is_sharper(output: &Output, than: &Output) -> bool {
    output.current_scale().fractional_scale() > than.current_scale().fractional_scale()
}

/// Called after a popup or its tree has changed: updates its window or layer surface with all its popups.
pub(super) fn update_popup(state: &mut State, root: &WlSurface) {
    let Some(owner) = state.shell.outermost(root) else { return };
    match state.shell.window_of_root(&owner).map(|window| window.id) {
        // At the end of the turn, so that it is done once, however often clients commit.
        Some(id) => _ = state.shell.pending_output_updates.insert(id),
        None => update_layer(state, &owner),
    }
}

/// Sends the preferred scale to a popup before it is mapped at `rect` (global logical coordinates), so that its first
/// buffer is drawn for the right output.
pub(super) fn send_scale_before_map(state: &State, root: &WlSurface, rect: Rectangle<i32, Logical>) {
    let there = state.output_areas().filter(|(_, area)| area.overlaps(rect)).map(|(output, _)| output);
    let sharpest = there.reduce(|best, output| if is_sharper(output, best) { output } else { best });
    if let Some(output) = sharpest {
        for_each_surface(root, |surface, states| send_preferences(surface, states, output));
    }
}

/// Sends enter, preferred scale and transform to all surfaces of a tree that is only on `output`.
pub fn send_enter(root: &WlSurface, output: &Output) {
    for_each_surface(root, |surface, states| {
        output.enter(surface);
        send_preferences(surface, states, output);
    });
}

/// Sends enter or leave, preferred scale and transform to a layer surface and its popups.
pub fn update_layer(state: &mut State, root: &WlSurface) {
    let changes = state.shell.changes();
    let Some(pinned) = state.shell.layers.of_root(root).filter(|pinned| pinned.outputs_sent_at != Some(changes)) else {
        return;
    };
    let (output, is_shown) = (pinned.output().clone(), pinned.is_shown());
    let mut roots = vec![root.clone()];
    roots.extend(state.shell.popups_of(root).map(|(popup, _)| popup.surface().clone()));
    for root in &roots {
        for_each_surface(root, |surface, states| {
            if is_shown {
                output.enter(surface);
            } else {
                output.leave(surface);
            }
            // Also before it has content, because it can never be on another output.
            send_preferences(surface, states, &output);
        });
    }
    if let Some(pinned) = state.shell.layers.of_root_mut(root) {
        pinned.outputs_sent_at = Some(changes);
    }
}

/// Sends leave to a tree that was only on `output`.
pub fn send_leave(root: &WlSurface, output: &Output) {
    if root.is_alive() {
        for_each_surface(root, |surface, _| output.leave(surface));
    }
}

/// Sends leave for all outputs to a tree that is hidden.
pub(super) fn send_leave_all_outputs(state: &State, root: &WlSurface) {
    for (output, _) in state.output_areas().filter(|_| root.is_alive()) {
        for_each_surface(root, |surface, _| output.leave(surface));
    }
}

/// `parent` has a new subsurface, which has been sent nothing yet: the next commit of its window or layer surface
/// updates it.
pub fn subsurface_added(state: &mut State, parent: &WlSurface) {
    let Some(root) = state.shell.outermost(parent) else { return };
    if let Some(window) = state.shell.windows.of_root_mut_quietly(&root) {
        window.outputs_sent_at = None;
    } else if let Some(pinned) = state.shell.layers.of_root_mut(&root) {
        pinned.outputs_sent_at = None;
    }
}

/// Sends leave to every surface on `output`, which is about to be removed.
pub fn output_removed(state: &State, output: &Output) {
    let windows = state.shell.windows.iter().map(Window::surface);
    for owner in windows.chain(state.shell.layers.shown().map(ShellLayerSurface::surface)) {
        let popups = state.shell.popups_of(owner).map(|(popup, _)| popup.surface());
        for root in std::iter::once(owner).chain(popups) {
            for_each_surface(root, |surface, _| output.leave(surface));
        }
    }
    for root in state.shell.lock.roots_on(output) {
        for_each_surface(root, |surface, _| output.leave(surface));
    }
}

/// Sends the scale of the first output to a surface that is on no output yet: the best guess.
pub fn prefer_likely_scale(state: &State, surface: &WlSurface) {
    if let Some(output) = state.outputs().next() {
        let scale = output.current_scale().fractional_scale();
        guard::with_states(surface, |states| {
            with_fractional_scale(states, |fractional| {
                fractional.set_preferred_scale(fractional.preferred_scale().unwrap_or(scale));
            });
        });
    }
}

fn send_preferences(surface: &WlSurface, states: &SurfaceData, output: &Output) {
    let scale = output.current_scale();
    let transform: Transform = output.current_transform();
    compositor::send_surface_state(surface, states, scale.integer_scale(), transform);
    with_fractional_scale(states, |fractional| fractional.set_preferred_scale(scale.fractional_scale()));
    scanout_feedback::send_feedback(states, output);
}

fn for_each_surface(root: &WlSurface, mut visit: impl FnMut(&WlSurface, &SurfaceData)) {
    compositor::with_surface_tree_downward(
        root,
        (),
        |_, _, ()| TraversalAction::DoChildren(()),
        |surface, states, ()| visit(surface, states),
        |_, _, ()| true,
    );
}
