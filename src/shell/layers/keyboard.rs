//! Keyboard focus of layer surfaces: an exclusive surface above windows, or the surface that the user chose.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::shell::wlr_layer::KeyboardInteractivity as Wants;

use super::layer_arrange::LayerDepth;
use super::{Layers, ShellLayerSurface};
use crate::shell::{Shell, ShellOutputs, ShellRevision, ShellSeat, activate, popup};
use crate::state::State;

impl Layers {
    /// The surface with exclusive keyboard focus: the newest in the topmost layer above windows.
    pub fn exclusive(&self) -> Option<&ShellLayerSurface> {
        let wants =
            |pinned: &&ShellLayerSurface| pinned.level().is_above_windows() && pinned.keyboard() == Wants::Exclusive;
        self.shown().filter(|pinned| !self.covered.covers(pinned)).filter(wants).max_by_key(|pinned| pinned.level())
    }

    /// The layer surface with keyboard focus.
    pub fn with_keyboard(&self) -> Option<&ShellLayerSurface> {
        let chosen = || {
            self.of_root(self.keyboard_choice.as_ref()?)
                .filter(|pinned| pinned.is_shown() && accepts_keyboard_on_demand(pinned))
        };
        self.exclusive().or_else(chosen)
    }

    /// The layer surface on which a button or finger is down.
    pub fn pressed(&self) -> Option<&ShellLayerSurface> {
        self.of_root(self.pressed.as_ref()?)
    }

    pub(in crate::shell) fn clear_pressed(&mut self) {
        self.pressed = None;
    }

    /// Called when the user gives the keyboard to a window.
    pub(in crate::shell) fn forget_choice(&mut self) {
        self.keyboard_choice = None;
    }
}

/// Layer surfaces on outputs with a fullscreen window.
#[derive(Debug, Default)]
pub(super) struct CoveredLayers {
    /// Layer surfaces that were there before the fullscreen window that covers them. They get no keyboard.
    covered: Vec<ObjectId>,
    /// Surfaces that keep the keyboard despite a fullscreen window: launchers that opened above it, and a prompt that
    /// had the keyboard when the window became fullscreen. Otherwise a password could go to the window.
    keyboard_keepers: Vec<ObjectId>,
    /// [`Shell::changes`] at the last update.
    updated_at: Option<ShellRevision>,
}

impl CoveredLayers {
    fn covers(&self, pinned: &ShellLayerSurface) -> bool {
        self.covered.contains(&pinned.surface().id())
    }

    fn note_opened(&mut self, id: ObjectId) {
        if !self.keyboard_keepers.contains(&id) {
            self.keyboard_keepers.push(id);
        }
    }

    /// Called when the layer surface with root `root` is unmapped.
    pub(super) fn forget(&mut self, root: &WlSurface) {
        let id = root.id();
        self.covered.retain(|covered| *covered != id);
        self.keyboard_keepers.retain(|opened| *opened != id);
    }
}

/// Whether a fullscreen window lies above the layer surface.
fn is_below_fullscreen(shell: &Shell, pinned: &ShellLayerSurface) -> bool {
    pinned.level() != LayerDepth::Overlay && shell.is_covered(pinned.output())
}

/// Takes the keyboard from layer surfaces that are covered by a fullscreen window, and allows it again once they are
/// visible. Called once in a turn.
pub(in crate::shell) fn update_covered_layers(state: &mut State) {
    let shell = &mut state.shell;
    let changes = Some(shell.changes());
    if std::mem::replace(&mut shell.layers.covered.updated_at, changes) == changes {
        return;
    }
    let below = shell.layers.shown().filter(|pinned| is_below_fullscreen(shell, pinned));
    let mut covered: Vec<ObjectId> = below.map(|pinned| pinned.surface().id()).collect();
    let holder = shell.layers.exclusive().map(|pinned| pinned.surface().id()).filter(|holder| covered.contains(holder));
    let Layers { covered: covering, keyboard_choice: chosen, .. } = &mut shell.layers;
    holder.into_iter().for_each(|holder| covering.note_opened(holder));
    covering.keyboard_keepers.retain(|opened| covered.contains(opened));
    covered.retain(|id| !covering.keyboard_keepers.contains(id));
    if covering.covered == covered {
        return;
    }
    // The choice is forgotten, because the user now works in the fullscreen window.
    chosen.take_if(|chosen| covered.contains(&chosen.id()));
    covering.covered = covered;
    state.update_keyboard();
}

/// Whether the user can give it the keyboard. Below windows, exclusive counts as on demand.
fn accepts_keyboard_on_demand(pinned: &ShellLayerSurface) -> bool {
    match pinned.keyboard() {
        Wants::None => false,
        Wants::OnDemand => true,
        Wants::Exclusive => !pinned.level().is_above_windows(),
    }
}

/// Called when a layer surface is mapped. If it takes the keyboard exclusively, popup grabs of other surfaces end. If
/// it is above windows with the keyboard on demand, it gets the focus as a new window does, because launchers rely on
/// it.
pub(super) fn mapped(state: &mut State, root: &WlSurface) {
    if let Some(pinned) = state.shell.layers.of_root(root).filter(|pinned| is_below_fullscreen(&state.shell, pinned)) {
        let id = pinned.surface().id();
        state.shell.layers.covered.note_opened(id);
    }
    let takes_turn =
        |pinned: &ShellLayerSurface| pinned.level().is_above_windows() && accepts_keyboard_on_demand(pinned);
    if state.shell.layers.of_root(root).is_some_and(takes_turn) && !state.shell.lock.takes_input() {
        state.shell.layers.keyboard_choice = Some(root.clone());
    }
    let takes_it = state.shell.layers.exclusive().is_some_and(|pinned| pinned.surface() == root);
    if takes_it && state.shell.popup_grab_root().is_some_and(|grabbing| grabbing != *root) {
        popup::dismiss_grabs(state);
    }
    state.update_keyboard();
    state.schedule_repaint_all();
}

/// A button, a finger or the tip of a tool went down on `surface`. Its window or layer surface gets the keyboard, if it
/// takes the keyboard, and counts as pressed until all are up.
pub fn pressed(state: &mut State, surface: Option<&WlSurface>) {
    let window = surface.and_then(|surface| state.shell.window_of(surface)).map(|window| window.id);
    let Shell { layers, focused, .. } = &state.shell;
    if window.is_some() && (window != *focused || layers.keyboard_choice.is_some()) {
        activate(state, window);
    }
    let pinned = surface.and_then(|surface| state.shell.pinned_of(surface));
    let is_chosen = pinned.is_some_and(accepts_keyboard_on_demand) && !state.shell.lock.takes_input();
    let root = pinned.map(|pinned| pinned.surface().clone());
    if is_chosen && state.shell.layers.keyboard_choice != root {
        state.shell.layers.keyboard_choice.clone_from(&root);
        state.update_keyboard();
    }
    state.shell.set_pressed(window);
    state.shell.layers.pressed = root;
}
