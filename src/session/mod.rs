//! A session from its start to its end: what to run, the sockets, the signals, and the command that runs inside.

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

/// A session that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Only virtual displays can do that.
    #[error("{option} works with `--backend headless` only, and this session's backend is {backend}")]
    HeadlessOnly {
        /// The option that was given.
        option: &'static str,
        /// Where the pixels go.
        backend: BackendKind,
    },
    /// Monitors are what they are.
    #[error("--output makes virtual outputs; for a monitor, write an [[output]] rule with `name` and `mode`")]
    RealOutputs,
}
