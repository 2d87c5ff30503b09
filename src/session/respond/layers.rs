//! Answers of the private socket about layer surfaces.

use smithay::reexports::wayland_server::Resource;

use super::outputs::rect;
use crate::guard;
use crate::shell::layers::ShellLayerSurface;
use crate::shell::layers::layer_arrange::LayerDepth;
use crate::state::State;
use upbeat_record::ipc::message::{LayerInfo, LayerLevel};

/// All layer surfaces, in the order in which they were created.
pub(super) fn all(state: &State) -> Vec<LayerInfo> {
    state.shell.layers().shown().map(|pinned| describe(state, pinned)).collect()
}

fn describe(state: &State, pinned: &ShellLayerSurface) -> LayerInfo {
    let client = pinned.surface().client();
    LayerInfo {
        namespace: pinned.namespace().to_owned(),
        pid: client.and_then(|client| guard::process_of(&state.display_handle, &client)),
        output: pinned.output().name(),
        level: match pinned.level() {
            LayerDepth::Background => LayerLevel::Background,
            LayerDepth::Bottom => LayerLevel::Bottom,
            LayerDepth::Top => LayerLevel::Top,
            LayerDepth::Overlay => LayerLevel::Overlay,
        },
        geometry: rect(pinned.rect()),
    }
}
