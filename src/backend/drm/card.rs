//! One DRM device, as the main thread sees it: its outputs and the monitors that they drive. Its `worker` makes all
//! calls that may block, and the results are [polled](DrmCard::poll).

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use calloop::ping::Ping;
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Mode as DrmMode, connector};

use super::command_queue::{QueueReceiver, QueueSender, queue};
use super::device_jobs::{ScanRequest, WorkerReports, WorkerResult, WorkerState};
use super::messages::PresenterCommand;
use super::node::{self, RendererNode};
use super::output::DrmOutput;
use super::pipe::Pipe;
use super::worker::WorkerHandle;
use super::{ConfiguredMode, DrmError, mode};
use crate::backend::{DeviceRenderer, EdidIdentity, ModeId};
use crate::real_time;

/// A result that the worker reports.
#[derive(Debug)]
pub enum CardEvent {
    /// The device can be used: [`DrmCard::device`] returns it, and its monitors are to be [scanned](DrmCard::scan).
    Opened,
    /// The device cannot be used for display.
    Failed(DrmError),
    /// A monitor was plugged in; this output drives it.
    Plugged(DrmOutput),
    /// The monitor on this connector is gone; its display reports that itself.
    Unplugged(String),
    /// The monitor on this connector cannot be used, for this reason.
    Unusable(String, DrmError),
    /// The scan is complete.
    Scanned,
    /// The scan failed, with this error.
    ScanFailed(DrmError),
}

/// A DRM device that is open, or is being opened.
pub struct DrmCard {
    jobs: WorkerHandle,
    /// The worker's state; only jobs on the worker use it. `None` only while the card is dropped.
    worker_state: Option<Arc<Mutex<WorkerState>>>,
    scans: QueueSender<ScanRequest>,
    reports: WorkerReports,
    results: QueueReceiver<WorkerResult>,
    opened: Option<OpenedDevice>,
    pipes: HashMap<connector::Handle, Rc<RefCell<Pipe>>>,
}

struct OpenedDevice {
    device: DrmDeviceFd,
    driver: String,
    number: u64,
}

impl std::fmt::Debug for DrmCard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DrmCard").field("driver", &self.driver()).finish_non_exhaustive()
    }
}

impl DrmCard {
    /// Takes over a device node, as DRM master. Other threads ping `wakeup` whenever there is a change to
    /// [poll](Self::poll), or an output has an event.
    pub fn new(descriptor: OwnedFd, wakeup: Ping) -> Result<Self, DrmError> {
        let failed = |error| DrmError::Device { what: "the worker's queue cannot be created", error };
        let (reported, results) = queue().map_err(failed)?;
        let (scans, wanted) = queue().map_err(failed)?;
        real_time::remember_limit();
        let jobs = WorkerHandle::start()?;
        let reports = WorkerReports::new(reported, wakeup);
        let state = Some(Arc::new(Mutex::new(WorkerState::new(wanted))));
        let card = DrmCard { jobs, worker_state: state, scans, reports, results, opened: None, pipes: HashMap::new() };
        let of_worker = card.reports.clone();
        card.run_on_worker(move |state| state.open(descriptor, &of_worker));
        Ok(card)
    }

    /// Runs a job on the worker, with its state.
    fn run_on_worker(&self, job: impl FnOnce(&mut WorkerState) + Send + 'static) {
        let (state, reports) = (self.worker_state.clone(), self.reports.clone());
        self.jobs.queue_job(move || {
            // The lock is never contended: there is one worker.
            let mut state = state.as_ref().map(|known| known.lock().unwrap_or_else(PoisonError::into_inner));
            let done = catch_unwind(AssertUnwindSafe(|| state.as_deref_mut().map(job)));
            if done.is_err() {
                // A scan that waits for an answer must get one.
                let error = std::io::Error::other("a job of the device's worker has panicked");
                reports.send(WorkerResult::ScanFailed(DrmError::Device {
                    what: "the connectors cannot be scanned",
                    error,
                }));
            }
        });
    }

    /// The kernel driver's name.
    pub fn driver(&self) -> &str {
        self.opened.as_ref().map_or("unknown", |opened| &opened.driver)
    }

    /// The device number, as passed to a [`DeviceRenderer`]; zero until the device is open.
    pub fn number(&self) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.number)
    }

    /// The device, for waits on syncobj timeline points; `None` until it is open.
    pub fn device(&self) -> Option<&DrmDeviceFd> {
        self.opened.as_ref().map(|opened| &opened.device)
    }

    /// A function that opens the device once more, for the render thread; `None` until it is open. GEM handles
    /// belong to an open file, so the renderer must not share its file with the display.
    pub fn opener(&self, node: RendererNode) -> Option<impl Fn() -> std::io::Result<OwnedFd> + Send + Sync + use<>> {
        let device = self.device()?.clone();
        Some(move || node::reopen(&device, node))
    }

    /// Scans the connectors. Each new monitor gets an output with the mode that `wish` returns for it, and with
    /// buffers that `renderer` can draw into.
    pub fn scan(
        &self,
        wish: impl Fn(&str, Option<&EdidIdentity>) -> ConfiguredMode + Send + 'static,
        renderer: Box<dyn DeviceRenderer>,
    ) {
        self.scans.send_quietly(ScanRequest { wish: Box::new(wish), renderer });
        let (jobs, reports) = (self.jobs.clone(), self.reports.clone());
        self.run_on_worker(move |state| state.scan(&jobs, &reports));
    }

    /// The worker's next result, if there is any.
    pub fn poll(&mut self) -> Option<CardEvent> {
        loop {
            let result = self.results.take()?;
            if let Some(change) = self.learn(result) {
                return Some(change);
            }
        }
    }

    /// Like [`poll`](Self::poll), but blocks: only for the start of a session, when no frame is due yet.
    pub fn wait(&mut self) -> Option<CardEvent> {
        loop {
            if let Some(change) = self.poll() {
                return Some(change);
            }
            let mut there = [rustix::event::PollFd::new(&self.results, rustix::event::PollFlags::IN)];
            match rustix::event::poll(&mut there, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => self.results.clear_wakeup(),
                Err(_) => return None,
            }
        }
    }

    fn learn(&mut self, result: WorkerResult) -> Option<CardEvent> {
        Some(match result {
            WorkerResult::Opened { device, driver } => {
                let number = rustix::fs::fstat(&device).map_or(0, |status| status.st_rdev);
                self.opened = Some(OpenedDevice { device, driver, number });
                CardEvent::Opened
            }
            WorkerResult::Failed(error) => CardEvent::Failed(error),
            WorkerResult::Plugged(plugged) => {
                let (facts, scanout, ends) = *plugged;
                let connector = facts.connector;
                let pipe = Rc::new(RefCell::new(Pipe::new(facts, scanout, ends)));
                self.pipes.insert(connector, pipe.clone());
                CardEvent::Plugged(DrmOutput::new(pipe))
            }
            WorkerResult::Unplugged(connector) => {
                let pipe = self.pipes.remove(&connector)?;
                pipe.borrow_mut().unplug();
                let name = pipe.borrow().properties().name.clone();
                CardEvent::Unplugged(name)
            }
            WorkerResult::Modes(connector, modes) => {
                self.pipes.get(&connector)?.borrow_mut().learn_modes(modes);
                return None;
            }
            WorkerResult::Unusable(name, error) => CardEvent::Unusable(name, error),
            WorkerResult::Scanned => CardEvent::Scanned,
            WorkerResult::ScanFailed(error) => CardEvent::ScanFailed(error),
        })
    }

    /// Another session takes the device. Switch the outputs off afterwards.
    pub fn pause(&mut self) {
        self.pipes.values().for_each(|pipe| pipe.borrow().send_command(PresenterCommand::Pause));
        self.run_on_worker(WorkerState::pause);
    }

    /// The device is ours again. Switch the outputs on afterwards.
    pub fn resume(&mut self) {
        // The worker resumes the presenters once it is DRM master again.
        self.run_on_worker(WorkerState::resume);
    }

    /// Whether one of its outputs is called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.pipes.values().any(|pipe| pipe.borrow().properties().name == name)
    }

    /// Switches an output to another mode of its monitor. It is an error if the monitor has no such mode. Whether
    /// the driver accepts it is reported later ([`ModeSettled`](crate::backend::DisplayEvent::ModeSettled)).
    pub fn set_mode(&mut self, name: &str, wish: ConfiguredMode) -> Result<Option<ModeId>, DrmError> {
        let Some(pipe) = self.pipes.values().find(|pipe| pipe.borrow().properties().name == name) else {
            return Ok(None);
        };
        let mode: DrmMode = mode::choose(name, &pipe.borrow().properties().modes, wish)?;
        Ok(Some(pipe.borrow_mut().set_mode(mode, wish.slowest)))
    }

    /// Drops all outputs: the device was unplugged, or its outputs are to be set up again.
    pub fn unplug(&mut self) {
        self.pipes.drain().for_each(|(_, pipe)| pipe.borrow_mut().unplug());
        let reports = self.reports.clone();
        self.run_on_worker(move |state| state.forget_outputs(&reports));
    }
}

impl Drop for DrmCard {
    fn drop(&mut self) {
        // The device restores the previous screen content, which takes a while.
        self.jobs.drop_on_worker(self.worker_state.take());
    }
}
