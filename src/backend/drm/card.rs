//! One display device, as the main thread has it: which of its monitors are driven, and by what. Whatever has to be asked
//! of the device is asked by its `worker`, and the answers are [polled](Card::poll).

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use calloop::ping::Ping;
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Mode as DrmMode, connector};

use super::drawer::Drawer;
use super::messages::Command;
use super::node::{self, DrawOn};
use super::output::DrmOutput;
use super::pipe::Pipe;
use super::post::{Inbox, Mailbox, queue};
use super::worker::Jobs;
use super::workshop::{Finding, Reports, Scan, Workshop};
use super::{DrmError, ModeWish, mode};
use crate::backend::{Identity, ModeId};
use crate::real_time;

/// What came of asking the device.
#[derive(Debug)]
pub enum Change {
    /// It can be used: [`Card::device`] is there, and its monitors are to be [looked for](Card::scan).
    Opened,
    /// It is no display device that could be used.
    Failed(DrmError),
    /// A monitor was plugged in; this drives it.
    Plugged(DrmOutput),
    /// This one is gone; its display says so itself.
    Unplugged(String),
    /// A monitor is there but cannot be used, and why.
    Unusable(String, DrmError),
    /// All monitors were looked at.
    Scanned,
    /// They could not be.
    Unknown(DrmError),
}

/// A display device that is open, or is being opened.
pub struct Card {
    jobs: Jobs,
    /// What the worker knows: only jobs look at it. Gone only while this is dropped.
    workshop: Option<Arc<Mutex<Workshop>>>,
    /// What is to be looked for.
    scans: Mailbox<Scan>,
    reports: Reports,
    findings: Inbox<Finding>,
    opened: Option<Opened>,
    pipes: HashMap<connector::Handle, Rc<RefCell<Pipe>>>,
}

struct Opened {
    device: DrmDeviceFd,
    driver: String,
    number: u64,
}

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("driver", &self.driver()).finish_non_exhaustive()
    }
}

impl Card {
    /// Takes over a device node, as DRM master. `heard` is rung, from other threads, whenever there is something to
    /// [poll](Self::poll), or an output has something to say.
    pub fn new(descriptor: OwnedFd, heard: Ping) -> Result<Self, DrmError> {
        let failed = |error| DrmError::Device { what: "a worker", error };
        let (found, findings) = queue().map_err(failed)?;
        let (scans, wanted) = queue().map_err(failed)?;
        real_time::remember_limit();
        let jobs = Jobs::start()?;
        let reports = Reports::new(found, heard);
        let workshop = Some(Arc::new(Mutex::new(Workshop::new(wanted))));
        let card = Card { jobs, workshop, scans, reports, findings, opened: None, pipes: HashMap::new() };
        let of_worker = card.reports.clone();
        card.ask(move |workshop| workshop.open(descriptor, &of_worker));
        Ok(card)
    }

    /// Has the worker do something with what it knows.
    fn ask(&self, job: impl FnOnce(&mut Workshop) + Send + 'static) {
        let (workshop, reports) = (self.workshop.clone(), self.reports.clone());
        self.jobs.ask(move || {
            // Nobody else has the lock: there is one worker.
            let mut workshop = workshop.as_ref().map(|known| known.lock().unwrap_or_else(PoisonError::into_inner));
            let done = catch_unwind(AssertUnwindSafe(|| workshop.as_deref_mut().map(job)));
            if done.is_err() {
                // Whoever waits for an answer gets one.
                let error = std::io::Error::other("whoever asks it has panicked");
                reports.say(Finding::Unknown(DrmError::Device { what: "anything", error }));
            }
        });
    }

    /// The kernel driver's name.
    pub fn driver(&self) -> &str {
        self.opened.as_ref().map_or("unknown", |opened| &opened.driver)
    }

    /// The device's number, as a [`Drawer`] is asked for it; zero until it is open.
    pub fn number(&self) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.number)
    }

    /// The device, for whoever waits for points on its timelines; once it is open.
    pub fn device(&self) -> Option<&DrmDeviceFd> {
        self.opened.as_ref().map(|opened| &opened.device)
    }

    /// Opens the device once more, on the thread that draws; once it is open. Buffers are numbered by file, and who draws must
    /// not share its numbers with who shows.
    pub fn opener(&self, node: DrawOn) -> Option<impl Fn() -> std::io::Result<OwnedFd> + Send + Sync + use<>> {
        let device = self.device()?.clone();
        Some(move || node::reopen(&device, node))
    }

    /// Has its connectors looked at: monitors that are new get an output with the mode that `wish` names for them, and
    /// buffers that `drawer` can draw into.
    pub fn scan(&self, wish: impl Fn(&str, Option<&Identity>) -> ModeWish + Send + 'static, drawer: Box<dyn Drawer>) {
        self.scans.note(Scan { wish: Box::new(wish), drawer });
        let (jobs, reports) = (self.jobs.clone(), self.reports.clone());
        self.ask(move |workshop| workshop.scan(&jobs, &reports));
    }

    /// The next thing that was found out, if there is one.
    pub fn poll(&mut self) -> Option<Change> {
        loop {
            let finding = self.findings.take()?;
            if let Some(change) = self.learn(finding) {
                return Some(change);
            }
        }
    }

    /// The same, but waits for it: at the start of a session, when nobody waits for a frame yet.
    pub fn wait(&mut self) -> Option<Change> {
        loop {
            if let Some(change) = self.poll() {
                return Some(change);
            }
            let mut there = [rustix::event::PollFd::new(&self.findings, rustix::event::PollFlags::IN)];
            match rustix::event::poll(&mut there, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => self.findings.quiet(),
                Err(_) => return None,
            }
        }
    }

    fn learn(&mut self, finding: Finding) -> Option<Change> {
        Some(match finding {
            Finding::Opened { device, driver } => {
                let number = rustix::fs::fstat(&device).map_or(0, |status| status.st_rdev);
                self.opened = Some(Opened { device, driver, number });
                Change::Opened
            }
            Finding::Failed(error) => Change::Failed(error),
            Finding::Plugged(plugged) => {
                let (facts, scanout, ends) = *plugged;
                let connector = facts.connector;
                let pipe = Rc::new(RefCell::new(Pipe::new(facts, scanout, ends)));
                self.pipes.insert(connector, pipe.clone());
                Change::Plugged(DrmOutput::new(pipe))
            }
            Finding::Unplugged(connector) => {
                let pipe = self.pipes.remove(&connector)?;
                pipe.borrow_mut().unplug();
                let name = pipe.borrow().facts().name.clone();
                Change::Unplugged(name)
            }
            Finding::Modes(connector, modes) => {
                self.pipes.get(&connector)?.borrow_mut().learn_modes(modes);
                return None;
            }
            Finding::Unusable(name, error) => Change::Unusable(name, error),
            Finding::Scanned => Change::Scanned,
            Finding::Unknown(error) => Change::Unknown(error),
        })
    }

    /// Another session has the device from now on. The outputs are to be switched off after.
    pub fn pause(&mut self) {
        self.pipes.values().for_each(|pipe| pipe.borrow().tell(Command::Pause));
        self.ask(Workshop::pause);
    }

    /// The device is ours again. The outputs are to be switched on after.
    pub fn resume(&mut self) {
        // The presenters go on when the worker has it back.
        self.ask(Workshop::resume);
    }

    /// Whether one of its outputs is called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.pipes.values().any(|pipe| pipe.borrow().facts().name == name)
    }

    /// Shows another of a monitor's modes. An error: it has none like this. Whether its driver takes it is known later
    /// ([`ModeSettled`](crate::backend::DisplayEvent::ModeSettled)).
    pub fn set_mode(&mut self, name: &str, wish: ModeWish) -> Result<Option<ModeId>, DrmError> {
        let Some(pipe) = self.pipes.values().find(|pipe| pipe.borrow().facts().name == name) else { return Ok(None) };
        let mode: DrmMode = mode::choose(name, &pipe.borrow().facts().modes, wish)?;
        Ok(Some(pipe.borrow_mut().set_mode(mode, wish.slowest)))
    }

    /// All of its monitors are driven no more: the device was pulled out, or they are to be lit anew.
    pub fn unplug(&mut self) {
        self.pipes.drain().for_each(|(_, pipe)| pipe.borrow_mut().unplug());
        let reports = self.reports.clone();
        self.ask(move |workshop| workshop.forget_outputs(&reports));
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        // The device puts back what was on screen before, which takes a while.
        self.jobs.give_back(self.workshop.take());
    }
}
