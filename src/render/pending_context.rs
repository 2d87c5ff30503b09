//! A context that may be adopted once it has proven that it draws. It is created on its own render thread; the main
//! thread gets the result, or gives the context up.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use calloop::ping::Ping;

use super::fault::InjectedFaults;
use super::gles::ContextInfo;
use super::thread::{MakeContext, RenderThread};
use super::{RenderError, SoftwareDriver};
use upbeat_timing::time::Span;

/// Prefix of the message of [`RenderError::Gles`].
const PREFIX: &str = "OpenGL ES: ";

/// A context that is being created and tested.
pub struct PendingContext {
    pub(super) thread: RenderThread,
    pub(super) make: MakeContext,
    pub(super) software: SoftwareDriver,
    answered: Receiver<Result<ContextInfo, RenderError>>,
}

/// A context that has proven that it draws.
pub struct ProvenContext {
    pub(super) pending: PendingContext,
    pub(super) abilities: ContextInfo,
}

/// Result of the proof.
pub enum ContextResult {
    Proven(ProvenContext),
    /// The context cannot draw, and why.
    Failed(PendingContext, String),
    /// The proof is not finished yet.
    Pending(PendingContext),
}

impl PendingContext {
    /// Calls `make` on a new thread. `wake` is pinged when the [outcome](Self::outcome) is known.
    pub(super) fn start(
        make: MakeContext,
        software: SoftwareDriver,
        injected: InjectedFaults,
        wake: Option<Ping>,
    ) -> Result<Self, RenderError> {
        let thread = RenderThread::start(make.clone(), injected, Span::ZERO)?;
        let answered = thread.test_context(wake);
        Ok(PendingContext { thread, make, software, answered })
    }

    /// Waits for the result, at most for `patience`.
    pub fn outcome(self, patience: Duration) -> ContextResult {
        let answer = match self.answered.try_recv() {
            Err(TryRecvError::Empty) => self.answered.recv_timeout(patience),
            answer => answer.map_err(|_| RecvTimeoutError::Disconnected),
        };
        let reason = match answer {
            Ok(Ok(abilities)) => return ContextResult::Proven(ProvenContext { pending: self, abilities }),
            Err(RecvTimeoutError::Timeout) => return ContextResult::Pending(self),
            // A context that never existed was not lost, so give only the reason.
            Ok(Err(RenderError::Lost(reason) | RenderError::Gles(reason))) => reason,
            Ok(Err(error)) => error.to_string(),
            Err(RecvTimeoutError::Disconnected) => "its thread has ended".to_owned(),
        };
        // The caller's message names OpenGL ES already.
        let reason = reason.trim_start_matches(PREFIX).to_owned();
        ContextResult::Failed(self, reason)
    }
}

impl From<ProvenContext> for PendingContext {
    fn from(proven: ProvenContext) -> Self {
        proven.pending
    }
}
