//! What can go wrong with a GPU, for tests: nobody has one that is reset when it is told to be.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use super::RenderError;
use upbeat_timing::time::Span;

/// Something that goes wrong with one frame, or with several.
#[derive(Debug)]
pub enum Fault {
    /// Every frame takes long.
    Slow {
        /// Is told when one is begun.
        begun: Sender<()>,
        /// It takes until something is sent, and is said to have taken that; or until the sender is gone.
        go: Receiver<Span>,
    },
    /// The next frame cannot be drawn.
    Fails,
    /// With the next frame the context is lost.
    Lost,
    /// With the next frame the driver's binding panics.
    Panics,
    /// With the next client's buffer that is looked at the context is lost.
    LostReading,
    /// With the next frame the context is lost, and more after it.
    Dead {
        /// So many of the next contexts cannot be made.
        contexts: u32,
        /// So many of those that can are lost with their first frame.
        frames: u32,
    },
    /// Clients' buffers are said to be readable from now on: without a GPU none is.
    Readable,
}

/// What is to go wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    slow: Option<(Sender<()>, Receiver<Span>)>,
    next: VecDeque<Fault>,
    lost_reading: bool,
    readable: bool,
    omen: Omen,
}

/// What goes wrong with the contexts after this one.
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
        if is_over { Ok(()) } else { Err(RenderError::Lost("somebody wanted it to be lost".to_owned())) }
    }

    /// Whether the next context can be made.
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

    /// What is said of the next client's buffer, if it is not looked at.
    pub fn reading(&mut self) -> Option<Result<(), RenderError>> {
        if std::mem::take(&mut self.lost_reading) {
            return Some(Err(RenderError::Lost("somebody wanted it to be lost".to_owned())));
        }
        self.readable.then_some(Ok(()))
    }

    /// What goes wrong with the next frame; waits for as long as it is to take.
    pub fn next(&mut self) -> Happening {
        let mut took = None;
        if let Some((begun, go)) = &self.slow {
            // Whether anybody wants to know or not.
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

/// What goes wrong with one frame.
pub(super) struct Happening {
    fault: Option<Fault>,
    /// What it is said to have taken.
    pub took: Option<Span>,
}

impl Happening {
    pub fn happen(self) -> Result<(), RenderError> {
        match self.fault {
            None | Some(Fault::Slow { .. } | Fault::Dead { .. } | Fault::LostReading | Fault::Readable) => Ok(()),
            Some(Fault::Fails) => Err(RenderError::Gles("somebody wanted it to fail".to_owned())),
            Some(Fault::Lost) => Err(RenderError::Lost("somebody wanted it to be lost".to_owned())),
            Some(Fault::Panics) => panic!("somebody wanted it to panic"),
        }
    }
}
