//! What a session says when it starts: where it is and why there, who draws, and how to get in.

use std::path::Path;

use super::{BackendKind, backend};
use crate::render::Renderer;
use crate::state::State;

/// A configuration to start from was written.
pub(super) fn wrote(path: &Path) {
    tracing::info!("wrote {}: every option with its default, all switched off", path.display());
}

/// What is wrong with the configuration.
pub(super) fn mistaken(mistake: &str) {
    tracing::error!("{mistake}");
}

/// Clients can connect.
pub(super) fn ready(state: &State, wish: BackendKind, chosen: BackendKind, socket: &str) {
    let place = backend::why(wish, chosen, |name| std::env::var_os(name));
    let renderer = state.outputs.renderer().map_or_else(|| "nobody yet".to_owned(), Renderer::describe);
    tracing::info!("upbeat {} runs as {socket}, {place}; drawn by {renderer}", env!("CARGO_PKG_VERSION"));
}
