//! Answers of the private socket about layer surfaces.

use smithay::reexports::wayland_server::Resource;

use super::outputs::rect;
use crate::guard;
use crate::shell::layers::Pinned;
use crate::shell::layers::placing::Level;
use crate::state::State;
use upbeat_record::ipc::message::{Layer, LayerLevel};

/// All layer surfaces, in the order in which they were created.
pub(super) fn all(state: &State) -> Vec<Layer> {
    state.shell.layers().shown().map(|pinned| describe(state, pinned)).collect()
}

fn describe(state: &State, pinned: &Pinned) -> Layer {
    let client = pinned.surface().client();
    Layer {
        namespace: pinned.namespace().to_owned(),
        pid: client.and_then(|client| guard::process_of(&state.display_handle, &client)),
        output: pinned.output().name(),
        level: match pinned.level() {
            Level::Background => LayerLevel::Background,
            Level::Bottom => LayerLevel::Bottom,
            Level::Top => LayerLevel::Top,
            Level::Overlay => LayerLevel::Overlay,
        },
        geometry: rect(pinned.rect()),
    }
}
