//! A context that may be drawn with once it is known what it is. It is made on the thread that is to have it: the main
//! thread hears of it, or gives it up.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use calloop::ping::Ping;

use super::fault::Omen;
use super::gles::Abilities;
use super::thread::{Make, RenderThread};
use super::{RenderError, Software};
use upbeat_timing::time::Span;

/// What [`RenderError::Gles`] begins with.
const PREFIX: &str = "OpenGL ES: ";

/// A context on its way.
pub struct Prospect {
    pub(super) thread: RenderThread,
    pub(super) make: Make,
    pub(super) software: Software,
    answered: Receiver<Result<Abilities, RenderError>>,
}

/// A context that draws.
pub struct Proven {
    pub(super) prospect: Prospect,
    pub(super) abilities: Abilities,
}

/// What became of a context.
pub enum Outcome {
    /// It draws.
    Proven(Proven),
    /// It does not, and why.
    Failed(Prospect, String),
    /// Nobody knows yet.
    Open(Prospect),
}

impl Prospect {
    /// Has `make` called on a thread of its own. `wake` is pinged when the [outcome](Self::outcome) is there.
    pub(super) fn start(make: Make, software: Software, omen: Omen, wake: Option<Ping>) -> Result<Self, RenderError> {
        let thread = RenderThread::start(make.clone(), omen, Span::ZERO)?;
        let answered = thread.prove(wake);
        Ok(Prospect { thread, make, software, answered })
    }

    /// What became of it, no later than after `patience`.
    pub fn outcome(self, patience: Duration) -> Outcome {
        let answer = match self.answered.try_recv() {
            Err(TryRecvError::Empty) => self.answered.recv_timeout(patience),
            answer => answer.map_err(|_| RecvTimeoutError::Disconnected),
        };
        let reason = match answer {
            Ok(Ok(abilities)) => return Outcome::Proven(Proven { prospect: self, abilities }),
            Err(RecvTimeoutError::Timeout) => return Outcome::Open(self),
            // It was never there to be lost.
            Ok(Err(RenderError::Lost(reason) | RenderError::Gles(reason))) => reason,
            Ok(Err(error)) => error.to_string(),
            Err(RecvTimeoutError::Disconnected) => "its thread has ended".to_owned(),
        };
        // Whoever hears it knows what it is about.
        let reason = reason.trim_start_matches(PREFIX).to_owned();
        Outcome::Failed(self, reason)
    }
}

impl From<Proven> for Prospect {
    fn from(proven: Proven) -> Self {
        proven.prospect
    }
}
