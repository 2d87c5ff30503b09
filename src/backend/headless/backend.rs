//! The headless backend: virtual outputs that can be plugged and unplugged, behind one pollable descriptor.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::event::epoll;

use super::display::VirtualDisplay;
use super::limits::OptionsError;
use super::options::OutputOptions;
use super::output::HeadlessOutput;
use crate::backend::{Display, VideoMode};
use upbeat_timing::time::{Clock, MonotonicClock};

/// Why an output could not be added.
#[derive(Debug, thiserror::Error)]
pub enum HeadlessError {
    /// An output of this name exists already.
    #[error("there is an output named {0} already")]
    NameTaken(String),
    /// The mode or the options are invalid.
    #[error("output {name}: {source}")]
    Options { name: String, source: OptionsError },
    /// The system has no timer or descriptor left.
    #[error("no timer for a virtual output: {0}")]
    System(#[from] rustix::io::Errno),
}

/// An output was plugged or unplugged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HotplugEvent {
    /// The name of the new output; [`HeadlessBackend::output`] returns it.
    Added(String),
    /// The output is gone, and has reported [`DisplayEvent::Gone`](crate::backend::DisplayEvent::Gone).
    Removed(String),
}

/// The virtual outputs, with one descriptor for all of them.
///
/// The descriptor ([`AsFd`]) is readable when [`dispatch`](Self::dispatch) has work to do, and never while no frame
/// waits. A duplicate of it can be a level-triggered `calloop::generic::Generic` source.
pub struct HeadlessBackend {
    epoll: Rc<OwnedFd>,
    clock: Rc<dyn Clock>,
    outputs: Vec<HeadlessOutput>,
    hotplug: VecDeque<HotplugEvent>,
}

impl HeadlessBackend {
    /// A backend without outputs, on `CLOCK_MONOTONIC`.
    pub fn new() -> Result<Self, HeadlessError> {
        Self::with_clock(Rc::new(MonotonicClock))
    }

    /// A backend on another clock. The descriptor works only with `CLOCK_MONOTONIC`; a simulation calls
    /// [`dispatch`](Self::dispatch) at the time that [`next_event`](Self::next_event) returns.
    pub fn with_clock(clock: Rc<dyn Clock>) -> Result<Self, HeadlessError> {
        let epoll = Rc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        Ok(HeadlessBackend { epoll, clock, outputs: Vec::new(), hotplug: VecDeque::new() })
    }

    /// Plugs in a new output.
    pub fn add_output(
        &mut self,
        name: &str,
        mode: VideoMode,
        options: OutputOptions,
    ) -> Result<HeadlessOutput, HeadlessError> {
        if self.output(name).is_some() {
            return Err(HeadlessError::NameTaken(name.to_owned()));
        }
        let display = VirtualDisplay::new(mode, options, self.clock.now())
            .map_err(|source| HeadlessError::Options { name: name.to_owned(), source })?;
        let output = HeadlessOutput::new(name.to_owned(), display, self.clock.clone(), self.epoll.clone())?;
        self.outputs.push(output.clone());
        self.hotplug.push_back(HotplugEvent::Added(name.to_owned()));
        Ok(output)
    }

    /// Unplugs an output: its waiting frames are lost, and it reports that it is gone. Returns false if there is no
    /// such output.
    pub fn remove_output(&mut self, name: &str) -> bool {
        let Some(index) = self.outputs.iter().position(|output| output.name() == name) else { return false };
        self.outputs.remove(index).unplug();
        self.hotplug.push_back(HotplugEvent::Removed(name.to_owned()));
        true
    }

    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&HeadlessOutput> {
        self.outputs.iter().find(|output| output.name() == name)
    }

    /// All outputs, in the order in which they were plugged in.
    pub fn outputs(&self) -> &[HeadlessOutput] {
        &self.outputs
    }

    /// Advances all outputs to now. Poll their events afterwards.
    pub fn dispatch(&mut self) {
        for output in &self.outputs {
            output.dispatch();
        }
        // A fault script may have unplugged an output.
        let hotplug = &mut self.hotplug;
        self.outputs.retain(|output| {
            let gone = output.is_gone();
            if gone {
                hotplug.push_back(HotplugEvent::Removed(output.name().to_owned()));
            }
            !gone
        });
    }

    /// When [`dispatch`](Self::dispatch) has work to do next; `None` while nothing waits.
    pub fn next_event(&self) -> Option<upbeat_timing::time::Instant> {
        self.outputs.iter().filter_map(HeadlessOutput::next_event).min()
    }

    /// The next hotplug event, in order.
    pub fn poll_hotplug(&mut self) -> Option<HotplugEvent> {
        self.hotplug.pop_front()
    }
}

impl AsFd for HeadlessBackend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
