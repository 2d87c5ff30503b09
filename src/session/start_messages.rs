//! The messages that a session logs at its start: the backend and its reason, the renderer, and the name of the socket.

use std::path::Path;

use super::{BackendKind, backend};
use crate::render::Renderer;
use crate::state::State;

/// The `tracing` target of these lines, which are shown by default.
pub const LOG_TARGET: &str = module_path!();

/// Logs that a starter configuration was written.
pub(super) fn log_starter_config(path: &Path) {
    tracing::info!("wrote {}: it lists every option with its default, commented out", path.display());
}

pub(super) fn log_config_mistake(mistake: &str) {
    tracing::error!("{mistake}");
}

/// Logs that clients can connect.
pub(super) fn log_ready(state: &State, wish: BackendKind, chosen: BackendKind, socket: &str) {
    let place = backend::describe(wish, chosen, |name| std::env::var_os(name));
    let renderer = state.outputs.renderer().map_or_else(|| "no renderer yet".to_owned(), Renderer::describe);
    tracing::info!("upbeat {} runs as {socket}, {place}; drawn by {renderer}", env!("CARGO_PKG_VERSION"));
}
