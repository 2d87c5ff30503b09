//! A context that may be adopted once it has proven that it draws. It is created on its own render thread; the main
//! thread gets the result, or gives the context up.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use calloop::ping::Ping;

use super::fault::Omen;
use super::gles::Abilities;
use super::thread::{Make, RenderThread};
use super::{RenderError, Software};
use upbeat_timing::time::Span;

/// Prefix of the message of [`RenderError::Gles`].
const PREFIX: &str = "OpenGL ES: ";

/// A context that is being created and tested.
pub struct Prospect {
    pub(super) thread: RenderThread,
    pub(super) make: Make,
    pub(super) software: Software,
    answered: Receiver<Result<Abilities, RenderError>>,
}

/// A context that has proven that it draws.
pub struct Proven {
    pub(super) prospect: Prospect,
    pub(super) abilities: Abilities,
}

/// Result of the proof.
pub enum Outcome {
    Proven(Proven),
    /// The context cannot draw, and why.
    Failed(Prospect, String),
    /// The proof is not finished yet.
    Open(Prospect),
}

impl Prospect {
    /// Calls `make` on a new thread. `wake` is pinged when the [outcome](Self::outcome) is known.
    pub(super) fn start(make: Make, software: Software, omen: Omen, wake: Option<Ping>) -> Result<Self, RenderError> {
        let thread = RenderThread::start(make.clone(), omen, Span::ZERO)?;
        let answered = thread.prove(wake);
        Ok(Prospect { thread, make, software, answered })
    }

    /// Waits for the result, at most for `patience`.
    pub fn outcome(self, patience: Duration) -> Outcome {
        let answer = match self.answered.try_recv() {
            Err(TryRecvError::Empty) => self.answered.recv_timeout(patience),
            answer => answer.map_err(|_| RecvTimeoutError::Disconnected),
        };
        let reason = match answer {
            Ok(Ok(abilities)) => return Outcome::Proven(Proven { prospect: self, abilities }),
            Err(RecvTimeoutError::Timeout) => return Outcome::Open(self),
            // A context that never existed was not lost, so give only the reason.
            Ok(Err(RenderError::Lost(reason) | RenderError::Gles(reason))) => reason,
            Ok(Err(error)) => error.to_string(),
            Err(RecvTimeoutError::Disconnected) => "its thread has ended".to_owned(),
        };
        // The caller's message names OpenGL ES already.
        let reason = reason.trim_start_matches(PREFIX).to_owned();
        Outcome::Failed(self, reason)
    }
}

impl From<Proven> for Prospect {
    fn from(proven: Proven) -> Self {
        proven.prospect
    }
}
