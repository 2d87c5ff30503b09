//! A session from its start to its end: the backend, the sockets, the signals, and the command that runs inside.

mod announce;
pub mod apply_config;
mod autostart;
mod backend;
pub mod child;
pub(crate) mod client_throttle;
mod drm;
pub mod event_sources;
mod exit;
mod launch_program;
mod loop_timer;
mod nested;
mod open_file_limit;
mod options;
mod parent_backend;
mod parent_device;
pub mod path_lookup;
pub mod private_socket;
mod recording;
pub mod reload;
mod renderer;
mod respond;
mod rotation;
mod run;
mod satellite;
mod screenshots;
mod shortcut_actions;
pub mod signals;
mod start_messages;
pub mod turn;
mod virtual_outputs;
pub mod wayland_socket;

pub use exit::ExitStatus;
pub use options::{BackendKind, RendererKind, SessionOptions};
pub use recording::{PictureRect, parse_picture_rect};
pub use renderer::LOG_TARGET as RENDERER_LOG_TARGET;
pub use run::{SessionState, run, run_with};
pub use start_messages::LOG_TARGET as START_LOG_TARGET;

/// Options that contradict each other.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The option needs virtual displays.
    #[error("{option} works with `--backend headless` only, and this session's backend is {backend}")]
    HeadlessOnly {
        /// Name of the option, with its dashes.
        option: &'static str,
        /// The backend of the session.
        backend: BackendKind,
    },
    /// `--output` was given, but the session drives real monitors.
    #[error("--output makes virtual outputs; for a monitor, write an [[output]] rule with `name` and `mode`")]
    RealOutputs,
}
