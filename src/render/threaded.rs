//! OpenGL ES from the main thread's side: what is under way on the thread that draws, and what follows when its context
//! is lost.

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
    /// Nothing takes its place where it fails.
    is_alone: bool,
    /// Pixman drew before it, and does after it.
    pub(super) stood_in_for: bool,
    last: JobId,
    /// Threads that were given up, and what they leave.
    left: Left,
    /// Frames in a row that could not be drawn.
    failures: u32,
    is_lost: bool,
    retry: Retry,
    /// Says whether the next context is sound, while the screen is dark for the want of one.
    proof: Option<Receiver<Result<Abilities, RenderError>>>,
}

/// What became of a context that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The next one is made.
    Fresh,
    /// The next one is made only after a while, and [proves](Turn::Back) itself first.
    Gone,
    /// It has.
    Back,
    /// Somebody else should draw.
    Leave,
}

/// A context in which so many frames in a row cannot be drawn will not draw the next one.
const MOST_FAILURES: u32 = 3;
/// A question is put before all that was not begun, so the answer takes a frame at most, unless the GPU hangs. A monitor whose
/// frames are copied is better than one that stays dark.
const LONGEST_ANSWER: Duration = Duration::from_millis(1_000);

/// What a renderer can draw into, for whoever makes displays' buffers.
pub struct Targets {
    abilities: Abilities,
    thread: Asker,
}

impl Targets {
    /// The formats, with their layouts, in the memory of display device `number`; none for what it draws elsewhere.
    pub fn formats(&self, number: u64) -> Vec<Format> {
        self.abilities.target_formats(number)
    }

    /// Makes sure that it can draw into this. Waits for the answer, though never for long.
    pub fn try_draw(&self, memory: &Arc<DeviceMemory>) -> Result<(), RenderError> {
        let memory = memory.clone();
        self.thread.ask(Some(LONGEST_ANSWER), move |painter| painter.try_target(&memory))
    }
}

impl Gles {
    /// In a context that `make` makes. Waits for it: asked when a session starts. `is_alone`: nothing else can draw.
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

    /// In a context that draws. `left`: what was under way before; `instead`: Pixman stood in for it.
    pub(super) fn proven(proven: Proven, left: Left, instead: bool) -> Self {
        let Proven { prospect: Prospect { thread, make, software, .. }, abilities } = proven;
        Gles { left, stood_in_for: instead, ..Self::new(thread, make, abilities, software, false) }
    }

    /// Goes on in another context, which draws.
    pub(super) fn adopt(&mut self, proven: Proven) {
        let Proven { prospect: Prospect { thread, make, .. }, abilities } = proven;
        self.go_on(thread, make, abilities);
    }

    /// Lets a thread end that draws nothing for it.
    pub(super) fn give_up(&mut self, thread: RenderThread) {
        self.left.give_up(thread);
    }

    /// What it can draw into, to be asked from another thread.
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
        // What a context was lost with, as far as it has come back by now, is put to the next.
        self.left.take_tests().into_iter().for_each(|test| self.thread.try_source(test));
        if let Some(left) = left {
            // It was the context before that failed.
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

    /// What is to be done about the context, if anything is. `refresh`: that of the fastest display. `wake` is pinged when
    /// there is more to be done.
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
        // Pixman does not draw into displays' own buffers.
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

    /// Goes on in a context that `make` makes, once there is one.
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

    /// Gives the thread up: what it leaves.
    pub(super) fn end(self) -> Left {
        let mut left = self.left;
        left.give_up(self.thread);
        left
    }
}
