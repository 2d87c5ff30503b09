//! Layer surfaces of the *top* layer that lie above fullscreen windows: the surface with the keyboard focus, and
//! on-screen keyboards. All other surfaces of the *top* layer lie below.

use smithay::reexports::wayland_server::Resource;

use super::placing::Level;
use super::{Layers, Pinned};
use crate::shell::{Desk, Shell};
use crate::state::State;

impl Layers {
    /// Whether the layer surface lies above fullscreen windows.
    pub fn rises(&self, pinned: &Pinned) -> bool {
        self.risen.contains(&pinned.surface().id())
    }
}

impl Shell {
    fn risen(&self) -> impl Iterator<Item = &Pinned> {
        let with_keyboard = self.layers.with_keyboard().map(Pinned::surface);
        let rises = move |pinned: &&Pinned| {
            let has_keyboard = with_keyboard == Some(pinned.surface());
            pinned.level() == Level::Top && (has_keyboard || self.types_now(pinned))
        };
        self.layers.shown().filter(rises)
    }
}

/// Updates the list of these surfaces. Called once in a turn, before a frame is drawn.
pub fn attend(state: &mut State) {
    let shell = &state.shell;
    if shell.risen().map(|pinned| pinned.surface().id()).eq(shell.layers.risen.iter().cloned()) {
        return;
    }
    let risen: Vec<_> = shell.risen().map(|pinned| pinned.surface().id()).collect();
    let is_seen = shell.layers.outputs().any(|output| shell.is_covered(output));
    state.shell.layers.risen = risen;
    if is_seen {
        state.need_all();
    }
}
