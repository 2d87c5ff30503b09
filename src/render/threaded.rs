//! OpenGL ES from the main thread's side: what is under way on the thread that draws, and what follows when its context
//! is lost.

use std::collections::VecDeque;
use std::sync::Arc;

use calloop::ping::Ping;
use smithay::backend::allocator::dmabuf::Dmabuf;

use super::gles::Abilities;
use super::source::{Answer, SourceTest};
use super::thread::{Ended, Make, RenderThread};
use super::{Finished, Job, JobId, RenderError, Software};
use crate::backend::plane::DeviceMemory;

/// OpenGL ES on a thread of its own.
pub struct Gles {
    pub(super) thread: RenderThread,
    make: Make,
    pub(super) abilities: Abilities,
    pub(super) software: Software,
    last: JobId,
    /// What a thread that was given up had finished.
    left: VecDeque<Finished>,
    /// Frames drawn with this context.
    drawn: u64,
    /// Frames in a row that could not be.
    failures: u32,
    pub(super) is_lost: bool,
    /// How many contexts before this one were lost.
    tries: u32,
}

/// A context in which so many frames in a row cannot be drawn will not draw the next one.
const MOST_FAILURES: u32 = 3;
/// A context that drew so many frames was sound: should it be lost, too, it is replaced as the first one was. Half a
/// minute at 60 Hz, so that a GPU that is reset again and again is soon left alone.
const SOUND: u64 = 2_000;

/// Contexts that are made one after another where nothing else can draw.
const MOST_TRIES: u32 = 8;

impl Gles {
    /// In a context that `make` makes. Waits for it: asked when a session starts.
    pub(super) fn start(make: Make, software: Software) -> Result<Self, RenderError> {
        let thread = RenderThread::start(make.clone())?;
        let abilities = thread.abilities()?;
        Ok(Gles {
            thread,
            make,
            abilities,
            software,
            last: JobId(0),
            left: VecDeque::new(),
            drawn: 0,
            failures: 0,
            is_lost: false,
            tries: 0,
        })
    }

    pub(super) fn try_target(&self, memory: &Arc<DeviceMemory>) -> Result<(), RenderError> {
        let memory = memory.clone();
        self.thread.ask(move |painter| painter.try_target(&memory))
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
        // One that the context was lost with is put to the next.
        self.is_lost |= self.thread.has_lost_tests();
        if let Some(left) = self.left.pop_front() {
            // It was the context before that failed.
            return Some(left);
        }
        let finished = self.thread.finished()?;
        match &finished.result {
            Ok(_) => {
                self.drawn += 1;
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

    /// Whether a fresh context is of use after this one was lost. An error: nothing is.
    pub(super) fn may_start_anew(&self) -> Result<bool, RenderError> {
        // Pixman does not draw into displays' own buffers: there is no other way.
        let is_alone = self.abilities.device.is_some();
        let most = if is_alone { MOST_TRIES } else { 1 };
        let may = self.tries < most || self.drawn >= SOUND;
        if is_alone && !may {
            return Err(RenderError::Lost("every fresh context is lost, too".to_owned()));
        }
        Ok(may)
    }

    /// Goes on in a context that `make` makes, once there is one.
    pub(super) fn move_to(&mut self, make: Make) -> Result<(), RenderError> {
        let thread = RenderThread::start(make.clone())?;
        self.abilities = thread.abilities()?;
        self.replace(thread);
        self.make = make;
        (self.drawn, self.failures, self.is_lost, self.tries) = (0, 0, false, 0);
        Ok(())
    }

    pub(super) fn start_anew(&mut self) -> Result<(), RenderError> {
        let fresh = RenderThread::start(self.make.clone())?;
        self.replace(fresh);
        self.tries = if self.drawn >= SOUND { 1 } else { self.tries + 1 };
        (self.drawn, self.failures, self.is_lost) = (0, 0, false);
        Ok(())
    }

    fn replace(&mut self, thread: RenderThread) {
        let Ended { finished, tests } = std::mem::replace(&mut self.thread, thread).end();
        self.left.extend(finished);
        tests.into_iter().for_each(|test| self.thread.try_source(test));
    }

    /// Ends the thread: what it had finished, and what it had not begun.
    pub(super) fn end(self) -> (VecDeque<Finished>, Vec<SourceTest>) {
        let mut left = self.left;
        let Ended { finished, tests } = self.thread.end();
        left.extend(finished);
        (left, tests)
    }
}
