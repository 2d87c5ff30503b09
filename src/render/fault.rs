//! Injected GPU faults for tests, because a real GPU cannot be reset on demand.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use super::RenderError;
use upbeat_timing::time::Span;

/// A fault to inject.
#[derive(Debug)]
pub enum GpuFault {
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
pub(super) struct PendingGpuFaults {
    slow: Option<(Sender<()>, Receiver<Span>)>,
    next: VecDeque<GpuFault>,
    lost_reading: bool,
    readable: bool,
    injected: InjectedFaults,
}

/// Faults of later contexts: (contexts that cannot be created, contexts lost with their first frame). Shared, because
/// it outlives the context.
#[derive(Clone, Debug, Default)]
pub(super) struct InjectedFaults(Arc<Mutex<(u32, u32)>>);

impl InjectedFaults {
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
    pub fn check_context(&self) -> Result<(), RenderError> {
        self.next(|(contexts, _)| contexts)
    }
}

impl PendingGpuFaults {
    pub fn with(injected: InjectedFaults) -> Self {
        PendingGpuFaults { injected, ..PendingGpuFaults::default() }
    }

    pub fn add(&mut self, fault: GpuFault) {
        match fault {
            GpuFault::Slow { begun, go } => self.slow = Some((begun, go)),
            GpuFault::LostReading => self.lost_reading = true,
            GpuFault::Readable => self.readable = true,
            GpuFault::Dead { contexts, frames } => {
                self.injected.set(contexts, frames);
                self.next.push_back(GpuFault::Lost);
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
    pub fn next(&mut self) -> FrameFault {
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
        let fault = next.or_else(|| self.injected.next(|(_, frames)| frames).err().map(|_| GpuFault::Lost));
        FrameFault { fault, took }
    }
}

/// The fault of one frame.
pub(super) struct FrameFault {
    fault: Option<GpuFault>,
    /// The injected duration to report.
    pub took: Option<Span>,
}

impl FrameFault {
    pub fn apply(self) -> Result<(), RenderError> {
        match self.fault {
            None | Some(GpuFault::Slow { .. } | GpuFault::Dead { .. } | GpuFault::LostReading | GpuFault::Readable) => {
                Ok(())
            }
            Some(GpuFault::Fails) => Err(RenderError::Gles("a test injected this failure".to_owned())),
            Some(GpuFault::Lost) => Err(RenderError::Lost("a test injected this loss".to_owned())),
            Some(GpuFault::Panics) => panic!("a test injected this panic"),
        }
    }
}
