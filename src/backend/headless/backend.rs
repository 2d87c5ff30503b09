//! The headless backend: virtual outputs that come and go, and one descriptor to wait for all of them.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::event::epoll;

use super::display::VirtualDisplay;
use super::limits::OptionsError;
use super::options::OutputOptions;
use super::output::HeadlessOutput;
use crate::backend::{Display, Mode};
use upbeat_timing::time::{Clock, MonotonicClock};

/// Why an output could not be made.
#[derive(Debug, thiserror::Error)]
pub enum HeadlessError {
    /// There is one of that name.
    #[error("there is an output named {0} already")]
    NameTaken(String),
    /// The mode or the options make no sense.
    #[error("output {name}: {source}")]
    Options {
        /// The output.
        name: String,
        /// What is wrong.
        source: OptionsError,
    },
    /// The system has no timer or descriptor left.
    #[error("no timer for a virtual output: {0}")]
    System(#[from] rustix::io::Errno),
}

/// An output came or went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HotplugEvent {
    /// There is a new output; [`HeadlessBackend::output`] has it.
    Added(String),
    /// The output is gone. It has reported [`DisplayEvent::Gone`](crate::backend::DisplayEvent::Gone).
    Removed(String),
}

/// Virtual outputs and the descriptor to wait for them.
///
/// The descriptor ([`AsFd`]) is readable when [`dispatch`](Self::dispatch) has something to do, and silent while no
/// frame waits. A duplicate of it can be a level-triggered `calloop::generic::Generic` source.
pub struct HeadlessBackend {
    epoll: Rc<OwnedFd>,
    clock: Rc<dyn Clock>,
    outputs: Vec<HeadlessOutput>,
    hotplug: VecDeque<HotplugEvent>,
}

impl HeadlessBackend {
    /// A backend without outputs on the real clock.
    pub fn new() -> Result<Self, HeadlessError> {
        Self::with_clock(Rc::new(MonotonicClock))
    }

    /// The same on another clock. The descriptor is of use only on `CLOCK_MONOTONIC`; a simulation calls
    /// [`dispatch`](Self::dispatch) when [`next_event`](Self::next_event) says.
    pub fn with_clock(clock: Rc<dyn Clock>) -> Result<Self, HeadlessError> {
        let epoll = Rc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        Ok(HeadlessBackend { epoll, clock, outputs: Vec::new(), hotplug: VecDeque::new() })
    }

    /// Plugs an output in.
    pub fn add_output(
        &mut self,
        name: &str,
        mode: Mode,
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

    /// Unplugs an output. What waited is lost, and the output says that it is gone. Returns whether there was one.
    pub fn remove_output(&mut self, name: &str) -> bool {
        let Some(index) = self.outputs.iter().position(|output| output.name() == name) else { return false };
        self.outputs.remove(index).unplug();
        self.hotplug.push_back(HotplugEvent::Removed(name.to_owned()));
        true
    }

    /// The output of that name.
    pub fn output(&self, name: &str) -> Option<&HeadlessOutput> {
        self.outputs.iter().find(|output| output.name() == name)
    }

    /// All outputs, in the order in which they were plugged in.
    pub fn outputs(&self) -> &[HeadlessOutput] {
        &self.outputs
    }

    /// Lets everything happen that is due by now, on all outputs; their events can be polled after.
    pub fn dispatch(&mut self) {
        for output in &self.outputs {
            output.dispatch();
        }
        // A fault script may have pulled a plug.
        let hotplug = &mut self.hotplug;
        self.outputs.retain(|output| {
            let gone = output.is_gone();
            if gone {
                hotplug.push_back(HotplugEvent::Removed(output.name().to_owned()));
            }
            !gone
        });
    }

    /// When [`dispatch`](Self::dispatch) is wanted next; `None` while nothing waits.
    pub fn next_event(&self) -> Option<upbeat_timing::time::Instant> {
        self.outputs.iter().filter_map(HeadlessOutput::next_event).min()
    }

    /// The next output that came or went, in order.
    pub fn poll_hotplug(&mut self) -> Option<HotplugEvent> {
        self.hotplug.pop_front()
    }
}

impl AsFd for HeadlessBackend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
