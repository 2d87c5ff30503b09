//! Injected GPU faults for tests, because a real GPU cannot be reset on demand.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use super::RenderError;
use upbeat_timing::time::Span;

/// A fault to inject.
#[derive(Debug)]
pub enum Fault {
    /// Every frame takes long.
    Slow {
        /// Gets a message when a frame is begun.
        begun: Sender<()>,
        /// A frame ends when a time is sent here, and reports that time as its duration. The fault ends when
        /// the sender is dropped.
        go: Receiver<Span>,
    },
    /// The next frame cannot be drawn.
    Fails,
    /// The context is lost with the next frame.
    Lost,
    /// The driver's binding panics with the next frame.
    Panics,
    /// The context is lost when the next client buffer is tested.
    LostReading,
    /// The context is lost with the next frame, and further contexts fail.
    Dead {
        /// How many of the next contexts cannot be created.
        contexts: u32,
        /// How many of the contexts created after that are lost with their first frame.
        frames: u32,
    },
    /// Tests of client buffers succeed from now on, since without a GPU all would fail.
    Readable,
}

/// Pending faults of a context.
#[derive(Debug, Default)]
pub(super) struct Faults {
    slow: Option<(Sender<()>, Receiver<Span>)>,
    next: VecDeque<Fault>,
    lost_reading: bool,
    readable: bool,
    omen: Omen,
}

/// Faults of later contexts: (contexts that cannot be created, contexts lost with their first frame). Shared, because
/// it outlives the context.
#[derive(Clone, Debug, Default)]
pub(super) struct Omen(Arc<Mutex<(u32, u32)>>);

impl Omen {
    fn set(&self, contexts: u32, frames: u32) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (contexts, frames);
    }

    fn next(&self, which: impl Fn(&mut (u32, u32)) -> &mut u32) -> Result<(), RenderError> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = which(&mut left);
        let is_over = *left == 0;
        *left = left.saturating_sub(1);
        if is_over { Ok(()) } else { Err(RenderError::Lost("a test injected this loss".to_owned())) }
    }

    /// Fails if the next context is not to be created.
    pub fn of_context(&self) -> Result<(), RenderError> {
        self.next(|(contexts, _)| contexts)
    }
}

impl Faults {
    pub fn with(omen: Omen) -> Self {
        Faults { omen, ..Faults::default() }
    }

    pub fn add(&mut self, fault: Fault) {
        match fault {
            Fault::Slow { begun, go } => self.slow = Some((begun, go)),
            Fault::LostReading => self.lost_reading = true,
            Fault::Readable => self.readable = true,
            Fault::Dead { contexts, frames } => {
                self.omen.set(contexts, frames);
                self.next.push_back(Fault::Lost);
            }
            fault => self.next.push_back(fault),
        }
    }

    /// The injected result for the next client buffer; `None`: test the buffer.
    pub fn reading(&mut self) -> Option<Result<(), RenderError>> {
        if std::mem::take(&mut self.lost_reading) {
            return Some(Err(RenderError::Lost("a test injected this loss".to_owned())));
        }
        self.readable.then_some(Ok(()))
    }

    /// The fault of the next frame; waits for the frame's injected duration.
    pub fn next(&mut self) -> Happening {
        let mut took = None;
        if let Some((begun, go)) = &self.slow {
            // The receiver may be gone.
            let _ = begun.send(());
            took = go.recv().ok();
            if took.is_none() {
                self.slow = None;
            }
        }
        let next = self.next.pop_front();
        let fault = next.or_else(|| self.omen.next(|(_, frames)| frames).err().map(|_| Fault::Lost));
        Happening { fault, took }
    }
}

/// The fault of one frame.
pub(super) struct Happening {
    fault: Option<Fault>,
    /// The injected duration to report.
    pub took: Option<Span>,
}

impl Happening {
    pub fn happen(self) -> Result<(), RenderError> {
        match self.fault {
            None | Some(Fault::Slow { .. } | Fault::Dead { .. } | Fault::LostReading | Fault::Readable) => Ok(()),
            Some(Fault::Fails) => Err(RenderError::Gles("a test injected this failure".to_owned())),
            Some(Fault::Lost) => Err(RenderError::Lost("a test injected this loss".to_owned())),
            Some(Fault::Panics) => panic!("a test injected this panic"),
        }
    }
}
