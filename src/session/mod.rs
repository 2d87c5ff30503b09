//! A session from its start to its end: what to run, the sockets, the signals, and the command that runs inside.

pub mod child;
mod exit;
mod options;
pub mod signals;
pub mod socket;

pub use exit::ExitStatus;
pub use options::{BackendKind, RendererKind, SessionOptions};

/// A session that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The backend is planned, but not built yet.
    #[error("the {0} backend does not exist yet: use `--backend headless`")]
    NoSuchBackend(BackendKind),
}

/// Runs a session until its command ends, or until it is told to end, and says how the command ended.
pub fn run(options: SessionOptions) -> anyhow::Result<ExitStatus> {
    Err(SessionError::NoSuchBackend(options.backend).into())
}
