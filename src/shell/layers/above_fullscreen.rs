//! Layer surfaces of the *top* layer that lie above fullscreen windows: the surface with the keyboard focus, and
//! on-screen keyboards. All other surfaces of the *top* layer lie below.

use smithay::reexports::wayland_server::Resource;

use super::layer_arrange::LayerDepth;
use super::{Layers, ShellLayerSurface};
use crate::shell::{Shell, ShellOutputs};
use crate::state::State;

impl Layers {
    /// Whether the layer surface lies above fullscreen windows.
    pub fn is_above_fullscreen(&self, pinned: &ShellLayerSurface) -> bool {
        self.above_fullscreen.contains(&pinned.surface().id())
    }
}

impl Shell {
    fn layers_above_fullscreen(&self) -> impl Iterator<Item = &ShellLayerSurface> {
        let with_keyboard = self.layers.with_keyboard().map(ShellLayerSurface::surface);
        let is_above = move |pinned: &&ShellLayerSurface| {
            let has_keyboard = with_keyboard == Some(pinned.surface());
            pinned.level() == LayerDepth::Top && (has_keyboard || self.is_keyboard_in_use(pinned))
        };
        self.layers.shown().filter(is_above)
    }
}

/// Updates the list of these surfaces. Called once in a turn, before a frame is drawn.
pub fn update_above_fullscreen(state: &mut State) {
    let shell = &state.shell;
    if shell.layers_above_fullscreen().map(|pinned| pinned.surface().id()).eq(shell
        .layers
        .above_fullscreen
        .iter()
        .cloned())
    {
        return;
    }
    let above: Vec<_> = shell.layers_above_fullscreen().map(|pinned| pinned.surface().id()).collect();
    let is_seen = shell.layers.outputs().any(|output| shell.is_covered(output));
    state.shell.layers.above_fullscreen = above;
    if is_seen {
        state.schedule_repaint_all();
    }
}
