//! OpenGL ES as seen from the main thread: jobs on the render thread, and recovery after its context is lost.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use calloop::ping::Ping;
use smithay::backend::allocator::Format;
use smithay::backend::allocator::dmabuf::Dmabuf;

use super::abandoned_threads::AbandonedThreads;
use super::buffer_test::{BufferTest, BufferTestAnswer};
use super::fault::InjectedFaults;
use super::gles::ContextInfo;
use super::pending_context::{PendingContext, ProvenContext};
use super::retry::Retry;
use super::thread::{MakeContext, RenderCaller, RenderThread};
use super::{FinishedJob, RenderError, RenderJob, RenderJobId, SoftwareDriver};
use crate::backend::plane::DeviceMemory;
use upbeat_timing::time::Span;

/// OpenGL ES on a thread of its own.
pub struct Gles {
    pub(super) thread: RenderThread,
    make: MakeContext,
    pub(super) abilities: ContextInfo,
    pub(super) software: SoftwareDriver,
    /// Pixman must not replace it when it fails.
    is_alone: bool,
    /// Pixman drew before it, and takes over again after it.
    pub(super) stood_in_for: bool,
    last: RenderJobId,
    /// Given-up threads and the jobs that they return.
    abandoned: AbandonedThreads,
    /// Number of consecutive frames that could not be drawn.
    failures: u32,
    is_lost: bool,
    retry: Retry,
    /// Result of the next context's proof, while the screen is dark for lack of a context.
    proof: Option<Receiver<Result<ContextInfo, RenderError>>>,
}

/// How rendering continues after a context was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextRecovery {
    /// A new context is being created.
    Fresh,
    /// A new context is created after a wait, and must [prove](ContextRecovery::Back) itself first.
    Waiting,
    /// The new context has proven itself.
    Back,
    /// Pixman should take over.
    UsePixman,
}

/// After this many consecutive failed frames the context is given up, because it will not draw the next frame either.
const MOST_FAILURES: u32 = 3;
/// Longest wait for an answer of the render thread. A question goes before all work that has not begun, so the answer
/// takes a frame at most, unless the GPU hangs. On a timeout frames are copied, which is better than a dark monitor.
const LONGEST_ANSWER: Duration = Duration::from_millis(1_000);

/// The formats and buffers that a renderer can draw into, for the allocation of displays' buffers.
pub struct RenderTargets {
    abilities: ContextInfo,
    thread: RenderCaller,
}

impl RenderTargets {
    /// The formats, with modifiers, on display device `number`; empty if it draws elsewhere.
    pub fn formats(&self, number: u64) -> Vec<Format> {
        self.abilities.target_formats(number)
    }

    /// Tests whether it can draw into this buffer. Waits for the answer, at most a second.
    pub fn try_draw(&self, memory: &Arc<DeviceMemory>) -> Result<(), RenderError> {
        let memory = memory.clone();
        self.thread.ask(Some(LONGEST_ANSWER), move |painter| painter.try_target(&memory))
    }
}

impl Gles {
    /// In a context created by `make`. Waits for it, so call this at the start of a session. `is_alone`: Pixman
    /// must not replace it.
    pub(super) fn start(make: MakeContext, software: SoftwareDriver, is_alone: bool) -> Result<Self, RenderError> {
        let thread = RenderThread::start(make.clone(), InjectedFaults::default(), Span::ZERO)?;
        let abilities = thread.abilities()?;
        Ok(Self::new(thread, make, abilities, software, is_alone))
    }

    fn new(
        thread: RenderThread,
        make: MakeContext,
        abilities: ContextInfo,
        software: SoftwareDriver,
        is_alone: bool,
    ) -> Self {
        Gles {
            thread,
            make,
            abilities,
            software,
            is_alone,
            stood_in_for: false,
            last: RenderJobId(0),
            abandoned: AbandonedThreads::default(),
            failures: 0,
            is_lost: false,
            retry: Retry::default(),
            proof: None,
        }
    }

    /// In a context that has proven itself. `abandoned`: pending jobs of earlier contexts; `instead`: Pixman stood in
    /// for it.
    pub(super) fn proven(proven: ProvenContext, abandoned: AbandonedThreads, instead: bool) -> Self {
        let ProvenContext { pending: PendingContext { thread, make, software, .. }, abilities } = proven;
        Gles { abandoned, stood_in_for: instead, ..Self::new(thread, make, abilities, software, false) }
    }

    /// Switches to another context that has proven itself.
    pub(super) fn adopt(&mut self, proven: ProvenContext) {
        let ProvenContext { pending: PendingContext { thread, make, .. }, abilities } = proven;
        self.go_on(thread, make, abilities);
    }

    /// Ends a thread that is not used, without waiting.
    pub(super) fn give_up(&mut self, thread: RenderThread) {
        self.abandoned.close_thread(thread);
    }

    /// The formats that it can draw into, for use on another thread.
    pub(super) fn targets(&self) -> RenderTargets {
        RenderTargets { abilities: self.abilities.clone(), thread: self.thread.asker() }
    }

    pub(super) fn try_source(&self, dmabuf: &Dmabuf, wake: Option<Ping>, answer: BufferTestAnswer) {
        self.thread.try_source(BufferTest::new(dmabuf.clone(), wake, answer));
    }

    pub(super) fn draw(&mut self, job: RenderJob, urgent: bool, wake: Option<Ping>) -> RenderJobId {
        self.last.0 += 1;
        self.thread.draw(self.last, job, urgent, wake);
        self.last
    }

    pub(super) fn finished(&mut self) -> Option<FinishedJob> {
        self.is_lost |= self.thread.has_lost_tests();
        let abandoned = self.abandoned.next();
        // Tests during which an earlier context was lost are repeated by the next context.
        self.abandoned.take_tests().into_iter().for_each(|test| self.thread.try_source(test));
        if let Some(abandoned) = abandoned {
            // The job comes from an earlier context, so it does not count for this one.
            return Some(abandoned);
        }
        let finished = self.thread.finished()?;
        match &finished.result {
            Ok(_) => {
                self.retry.frame_drawn();
                self.failures = 0;
            }
            Err(RenderError::Lost(_)) => self.is_lost = true,
            Err(_) => {
                self.failures += 1;
                self.is_lost |= self.failures >= MOST_FAILURES;
            }
        }
        Some(finished)
    }

    /// Handles a lost context; `None` if none is lost. `refresh`: refresh interval of the fastest display. `wake`
    /// is pinged when there is more to do.
    pub(super) fn recover_context(
        &mut self,
        refresh: Span,
        wake: Option<&Ping>,
    ) -> Result<Option<ContextRecovery>, RenderError> {
        if let Some(proof) = &self.proof {
            match proof.try_recv() {
                Ok(Ok(_)) => {
                    self.proof = None;
                    return Ok(Some(ContextRecovery::Back));
                }
                Ok(Err(_)) | Err(TryRecvError::Disconnected) => self.is_lost = true,
                Err(TryRecvError::Empty) => {}
            }
        }
        if !self.is_lost {
            return Ok(None);
        }
        // Pixman cannot draw into displays' own buffers.
        let is_alone = self.is_alone || self.abilities.device.is_some();
        if !is_alone && self.retry.is_second() {
            return Ok(Some(ContextRecovery::UsePixman));
        }
        let wait = self.retry.lost(refresh);
        self.replace(RenderThread::start(self.make.clone(), self.thread.injected_faults(), wait)?);
        (self.failures, self.is_lost, self.proof) = (0, false, None);
        if !Retry::is_noticed(wait) {
            return Ok(Some(ContextRecovery::Fresh));
        }
        self.proof = Some(self.thread.test_context(wake.cloned()));
        Ok(Some(ContextRecovery::Waiting))
    }

    /// Switches to a context created by `make`, and waits for it.
    pub(super) fn move_to(&mut self, make: MakeContext) -> Result<(), RenderError> {
        let thread = RenderThread::start(make.clone(), self.thread.injected_faults(), Span::ZERO)?;
        let abilities = thread.abilities()?;
        self.go_on(thread, make, abilities);
        Ok(())
    }

    fn go_on(&mut self, thread: RenderThread, make: MakeContext, abilities: ContextInfo) {
        self.replace(thread);
        (self.make, self.abilities) = (make, abilities);
        (self.failures, self.is_lost, self.retry) = (0, false, Retry::default());
    }

    fn replace(&mut self, thread: RenderThread) {
        self.abandoned.close_thread(std::mem::replace(&mut self.thread, thread));
    }

    /// Gives the thread up and returns its pending jobs.
    pub(super) fn end(self) -> AbandonedThreads {
        let mut abandoned = self.abandoned;
        abandoned.close_thread(self.thread);
        abandoned
    }
}
