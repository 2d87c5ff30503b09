//! OpenGL ES as seen from the main thread: jobs on the render thread, and recovery after its context is lost.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use calloop::ping::Ping;
use smithay::backend::allocator::Format;
use smithay::backend::allocator::dmabuf::Dmabuf;

use super::fault::Omen;
use super::gles::Abilities;
use super::left::Left;
use super::prospect::{Prospect, Proven};
use super::retry::Retry;
use super::source::{Answer, SourceTest};
use super::thread::{Asker, Make, RenderThread};
use super::{Finished, Job, JobId, RenderError, Software};
use crate::backend::plane::DeviceMemory;
use upbeat_timing::time::Span;

/// OpenGL ES on a thread of its own.
pub struct Gles {
    pub(super) thread: RenderThread,
    make: Make,
    pub(super) abilities: Abilities,
    pub(super) software: Software,
    /// Pixman must not replace it when it fails.
    is_alone: bool,
    /// Pixman drew before it, and takes over again after it.
    pub(super) stood_in_for: bool,
    last: JobId,
    /// Given-up threads and the jobs that they return.
    left: Left,
    /// Number of consecutive frames that could not be drawn.
    failures: u32,
    is_lost: bool,
    retry: Retry,
    /// Result of the next context's proof, while the screen is dark for lack of a context.
    proof: Option<Receiver<Result<Abilities, RenderError>>>,
}

/// How rendering continues after a context was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// A new context is being created.
    Fresh,
    /// A new context is created after a wait, and must [prove](Turn::Back) itself first.
    Gone,
    /// The new context has proven itself.
    Back,
    /// Pixman should take over.
    Leave,
}

/// After this many consecutive failed frames the context is given up, because it will not draw the next frame either.
const MOST_FAILURES: u32 = 3;
/// Longest wait for an answer of the render thread. A question goes before all work that has not begun, so the answer
/// takes a frame at most, unless the GPU hangs. On a timeout frames are copied, which is better than a dark monitor.
const LONGEST_ANSWER: Duration = Duration::from_millis(1_000);

/// The formats and buffers that a renderer can draw into, for the allocation of displays' buffers.
pub struct Targets {
    abilities: Abilities,
    thread: Asker,
}

impl Targets {
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
    pub(super) fn start(make: Make, software: Software, is_alone: bool) -> Result<Self, RenderError> {
        let thread = RenderThread::start(make.clone(), Omen::default(), Span::ZERO)?;
        let abilities = thread.abilities()?;
        Ok(Self::new(thread, make, abilities, software, is_alone))
    }

    fn new(thread: RenderThread, make: Make, abilities: Abilities, software: Software, is_alone: bool) -> Self {
        Gles {
            thread,
            make,
            abilities,
            software,
            is_alone,
            stood_in_for: false,
            last: JobId(0),
            left: Left::default(),
            failures: 0,
            is_lost: false,
            retry: Retry::default(),
            proof: None,
        }
    }

    /// In a context that has proven itself. `left`: pending jobs of earlier contexts; `instead`: Pixman stood in
    /// for it.
    pub(super) fn proven(proven: Proven, left: Left, instead: bool) -> Self {
        let Proven { prospect: Prospect { thread, make, software, .. }, abilities } = proven;
        Gles { left, stood_in_for: instead, ..Self::new(thread, make, abilities, software, false) }
    }

    /// Switches to another context that has proven itself.
    pub(super) fn adopt(&mut self, proven: Proven) {
        let Proven { prospect: Prospect { thread, make, .. }, abilities } = proven;
        self.go_on(thread, make, abilities);
    }

    /// Ends a thread that is not used, without waiting.
    pub(super) fn give_up(&mut self, thread: RenderThread) {
        self.left.give_up(thread);
    }

    /// The formats that it can draw into, for use on another thread.
    pub(super) fn targets(&self) -> Targets {
        Targets { abilities: self.abilities.clone(), thread: self.thread.asker() }
    }

    pub(super) fn try_source(&self, dmabuf: &Dmabuf, wake: Option<Ping>, answer: Answer) {
        self.thread.try_source(SourceTest::new(dmabuf.clone(), wake, answer));
    }

    pub(super) fn draw(&mut self, job: Job, urgent: bool, wake: Option<Ping>) -> JobId {
        self.last.0 += 1;
        self.thread.draw(self.last, job, urgent, wake);
        self.last
    }

    pub(super) fn finished(&mut self) -> Option<Finished> {
        self.is_lost |= self.thread.has_lost_tests();
        let left = self.left.next();
        // Tests during which an earlier context was lost are repeated by the next context.
        self.left.take_tests().into_iter().for_each(|test| self.thread.try_source(test));
        if let Some(left) = left {
            // The job comes from an earlier context, so it does not count for this one.
            return Some(left);
        }
        let finished = self.thread.finished()?;
        match &finished.result {
            Ok(_) => {
                self.retry.drew();
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
    pub(super) fn turn(&mut self, refresh: Span, wake: Option<&Ping>) -> Result<Option<Turn>, RenderError> {
        if let Some(proof) = &self.proof {
            match proof.try_recv() {
                Ok(Ok(_)) => {
                    self.proof = None;
                    return Ok(Some(Turn::Back));
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
            return Ok(Some(Turn::Leave));
        }
        let wait = self.retry.lost(refresh);
        self.replace(RenderThread::start(self.make.clone(), self.thread.omen(), wait)?);
        (self.failures, self.is_lost, self.proof) = (0, false, None);
        if !Retry::is_noticed(wait) {
            return Ok(Some(Turn::Fresh));
        }
        self.proof = Some(self.thread.prove(wake.cloned()));
        Ok(Some(Turn::Gone))
    }

    /// Switches to a context created by `make`, and waits for it.
    pub(super) fn move_to(&mut self, make: Make) -> Result<(), RenderError> {
        let thread = RenderThread::start(make.clone(), self.thread.omen(), Span::ZERO)?;
        let abilities = thread.abilities()?;
        self.go_on(thread, make, abilities);
        Ok(())
    }

    fn go_on(&mut self, thread: RenderThread, make: Make, abilities: Abilities) {
        self.replace(thread);
        (self.make, self.abilities) = (make, abilities);
        (self.failures, self.is_lost, self.retry) = (0, false, Retry::default());
    }

    fn replace(&mut self, thread: RenderThread) {
        self.left.give_up(std::mem::replace(&mut self.thread, thread));
    }

    /// Gives the thread up and returns its pending jobs.
    pub(super) fn end(self) -> Left {
        let mut left = self.left;
        left.give_up(self.thread);
        left
    }
}
