//! Tells surfaces which outputs they are on, at what scale to draw there, and into which memory.

use smithay::output::Output;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::Transform;
use smithay::wayland::compositor::{self, SurfaceData, TraversalAction};
use smithay::wayland::fractional_scale::with_fractional_scale;

use super::layers::Pinned;
use super::{Window, WindowId};
use crate::guard;
use crate::shell::Desk;
use crate::state::State;
use crate::surface::{self, scanout};

/// Sends enter and leave events, preferred scale and transform for a window and its popups.
pub fn update_outputs(state: &mut State, id: WindowId) {
    let changes = state.shell.changes();
    let Some(window) = state.shell.window(id).filter(|window| window.visited != Some(changes)) else { return };
    let rect = window.rect();
    let mut roots = vec![window.surface().clone()];
    roots.extend(state.shell.popups_of(window.surface()).map(|(popup, _)| popup.surface().clone()));
    let visible = window.is_mapped();
    let mut preferred: Option<Output> = None;
    // Columns are on their own output alone, in view or not.
    let own = state.shell.workspaces.place(id).filter(|_| window.in_strip);
    let own = own.and_then(|place| state.shell.workspaces.name(place.screen));
    for (output, area) in state.output_areas() {
        let inside = visible && own.map_or_else(|| area.overlaps(rect), |own| output.name() == own);
        for root in &roots {
            for_each_surface(root, |surface, _| if inside { output.enter(surface) } else { output.leave(surface) });
        }
        // The sharpest output decides, as other compositors do: scaling down looks better than scaling up.
        let sharper =
            |best: &Output| output.current_scale().fractional_scale() > best.current_scale().fractional_scale();
        if inside && preferred.as_ref().is_none_or(sharper) {
            preferred = Some(output.clone());
        }
    }
    if let Some(output) = preferred {
        for root in &roots {
            for_each_surface(root, |surface, states| prefer(surface, states, &output));
        }
    }
    if let Some(window) = state.shell.windows.of_root_mut_quietly(&roots[0]) {
        window.visited = Some(changes);
    }
}

/// Sends enter, preferred scale and transform to all of a tree that is on `output` and nowhere else.
pub(super) fn show_on(root: &WlSurface, output: &Output) {
    for_each_surface(root, |surface, states| {
        output.enter(surface);
        prefer(surface, states, output);
    });
}

/// The same for a layer surface and its popups.
pub fn update_layer(state: &mut State, root: &WlSurface) {
    let changes = state.shell.changes();
    let Some(pinned) = state.shell.layers.of_root(root).filter(|pinned| pinned.visited != Some(changes)) else {
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
            // It is never anywhere else: before it has content it draws for that.
            prefer(surface, states, &output);
        });
    }
    if let Some(pinned) = state.shell.layers.of_root_mut(root) {
        pinned.visited = Some(changes);
    }
}

/// A layer surface of `output` is one no more.
pub fn leave_layer(root: &WlSurface, output: &Output) {
    if root.is_alive() {
        for_each_surface(root, |surface, _| output.leave(surface));
    }
}

/// `parent` has a subsurface more, which was told nothing yet: the next commit of its window tells it.
pub fn joined(state: &mut State, parent: &WlSurface) {
    let root = surface::root(parent);
    if let Some(window) = state.shell.windows.of_root_mut_quietly(&root) {
        window.visited = None;
    } else if let Some(pinned) = state.shell.layers.of_root_mut(&root) {
        pinned.visited = None;
    }
}

/// Tells every surface that `output` is no longer one that it is on: it is about to go.
pub fn leave(state: &State, output: &Output) {
    let windows = state.shell.windows.iter().map(Window::surface);
    for owner in windows.chain(state.shell.layers.shown().map(Pinned::surface)) {
        let popups = state.shell.popups_of(owner).map(|(popup, _)| popup.surface());
        for root in std::iter::once(owner).chain(popups) {
            for_each_surface(root, |surface, _| output.leave(surface));
        }
    }
    for root in state.shell.lock.roots_on(output) {
        for_each_surface(root, |surface, _| output.leave(surface));
    }
}

/// Before a surface is on any output, the scale of the first one is the best guess.
pub fn prefer_likely_scale(state: &State, surface: &WlSurface) {
    if let Some(output) = state.outputs.iter().next() {
        let scale = output.current_scale().fractional_scale();
        guard::with_states(surface, |states| {
            with_fractional_scale(states, |fractional| {
                fractional.set_preferred_scale(fractional.preferred_scale().unwrap_or(scale));
            });
        });
    }
}

fn prefer(surface: &WlSurface, states: &SurfaceData, output: &Output) {
    let scale = output.current_scale();
    let transform: Transform = output.current_transform();
    compositor::send_surface_state(surface, states, scale.integer_scale(), transform);
    with_fractional_scale(states, |fractional| fractional.set_preferred_scale(scale.fractional_scale()));
    scanout::prefer(states, output);
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
