//! A session from its start to its end: the backend, the sockets, the signals, and the command that runs inside.

mod alarm;
mod autostart;
mod backend;
pub mod child;
mod drm;
mod exit;
mod hello;
mod launching;
mod limits;
pub mod messages;
mod nested;
mod options;
mod outputs;
mod parent;
pub mod programs;
pub(crate) mod reading;
mod recording;
pub mod reload;
mod renderer;
mod respond;
mod run;
mod satellite;
mod screenshots;
mod service;
pub mod settings;
pub mod signals;
pub mod socket;
mod terminal;
pub mod turn;
pub mod waiting;

pub use exit::ExitStatus;
pub use options::{BackendKind, RendererKind, SessionOptions};
pub use recording::{PictureRect, part_of_picture};
pub use run::{Session, run, run_with};

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
