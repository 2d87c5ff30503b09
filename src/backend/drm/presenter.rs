//! The presenter: one thread per output, which owns the [`Flipper`] of its CRTC. It commits frames, receives flip
//! events and switches modes. A driver that blocks delays only its own output.
//!
//! ```text
//!   poll(inbox, device, fence, until the next commit) ─► commands ─► flip events ─► light ─► due commits ─► messages
//! ```
//!
//! All outputs of a device share one file, from which any presenter may read the events. A presenter that awaits an
//! event reads all that are there, and forwards the events of other CRTCs. So no extra reader thread is needed, a
//! device with one output has no needless wake-up, and a blocked presenter does not hold up the events of other
//! outputs. A presenter sleeps unless a flip is in flight or a frame waits. If permitted it runs in a real-time class;
//! [`real_time`](crate::real_time) takes that away again if it ever computes for long.

use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use calloop::ping::Ping;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Device as _, Event, crtc};

use super::DrmError;
use super::command_queue::{QueueReceiver, QueueSender, queue};
use super::flip_clock::FlipEvent;
use super::flipper::Flipper;
use super::messages::{PipeMessage, PresenterCommand};
use crate::backend::LossReason;
use crate::real_time::{RealTime, ThreadRole};
use upbeat_timing::time::{Clock, Instant, MonotonicClock, NANOS_PER_SECOND};

/// A presenter's connections to its device and to the main thread.
pub(super) struct PresenterChannels {
    pub device: DrmDeviceFd,
    pub crtc: crtc::Handle,
    /// The device stamps with `CLOCK_MONOTONIC`.
    pub monotonic: bool,
    /// The queue to the main thread.
    pub messages: QueueSender<PipeMessage>,
    /// Wakes the main thread for new messages.
    pub wakeup: Ping,
}

/// Starts the thread of a presenter for `flipper`. It ends when the output is unplugged.
pub(super) fn start(
    flipper: Flipper,
    channels: PresenterChannels,
) -> Result<(QueueSender<PresenterCommand>, JoinHandle<()>), DrmError> {
    let failed = |error| DrmError::Device { what: "the presenter cannot be started", error };
    let (mailbox, inbox) = queue().map_err(failed)?;
    let thread = std::thread::Builder::new().name("presenter".to_owned());
    let run = move || {
        let (messages, wakeup) = (channels.messages.clone(), channels.wakeup.clone());
        let (peers, unclaimed_events) = (Vec::new(), Vec::new());
        let presenter =
            Presenter { flipper, channels, inbox, peers, unclaimed_events, device_is_readable: true, ended: false };
        if catch_unwind(AssertUnwindSafe(|| presenter.run())).is_err() {
            // Without this message the output would freeze for ever, since its commands are not read any more.
            messages.send_quietly(PipeMessage::PresenterDied);
            wakeup.ping();
        }
    };
    Ok((mailbox, thread.spawn(run).map_err(failed)?))
}

struct Presenter {
    flipper: Flipper,
    channels: PresenterChannels,
    inbox: QueueReceiver<PresenterCommand>,
    /// The presenters of the device's other CRTCs.
    peers: Vec<(crtc::Handle, QueueSender<PresenterCommand>)>,
    /// Flip events of CRTCs whose presenters are not known yet.
    unclaimed_events: Vec<(crtc::Handle, FlipEvent)>,
    /// The device file can still be read.
    device_is_readable: bool,
    ended: bool,
}

impl Presenter {
    fn run(mut self) {
        let clock = MonotonicClock;
        let mut real_time = RealTime::ask_for(ThreadRole::Presenter);
        while !self.ended {
            let flips = self.wait(clock.now());
            self.run_commands(&clock);
            if flips {
                self.handle_device_events(&clock);
            }
            self.flipper.advance(&clock);
            self.send_messages();
            real_time.check();
        }
    }

    /// Sleeps until there is work. Returns whether the device has events.
    fn wait(&mut self, now: Instant) -> bool {
        let timeout = self.flipper.next_wake().map(|wake| {
            let nanos = (wake - now).as_nanos().max(0);
            Timespec { tv_sec: nanos / NANOS_PER_SECOND, tv_nsec: nanos % NANOS_PER_SECOND }
        });
        let inbox = self.inbox.as_fd();
        // `poll` takes a fixed array: where there is nothing to wait for, the inbox is listed again.
        let awaits = self.device_is_readable && self.flipper.awaits_event();
        let device = if awaits { self.channels.device.as_fd() } else { inbox };
        let fence = self.flipper.awaits_fence().unwrap_or(inbox);
        let mut watched = [inbox, device, fence].map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        if poll(&mut watched, timeout.as_ref()).is_err() {
            return false;
        }
        let device_events = watched[1].revents();
        if !watched[0].revents().is_empty() {
            self.inbox.clear_wakeup();
        }
        let gone = device_events.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
            && !device_events.contains(PollFlags::IN);
        if awaits && gone {
            // A broken descriptor would wake us for ever.
            tracing::warn!("a display device sends no events any more");
            self.device_is_readable = false;
        }
        awaits && device_events.contains(PollFlags::IN)
    }

    /// Executes the queued commands.
    fn run_commands(&mut self, clock: &impl Clock) {
        // Read this first, so that all commands sent before the end are executed.
        let closed = self.inbox.is_closed();
        // A command after the end would switch on an output that does not exist any more.
        while !self.ended
            && let Some(command) = self.inbox.take()
        {
            self.run_command(command, clock);
        }
        self.ended |= closed;
        // The presenters of these CRTCs have ended.
        self.unclaimed_events.clear();
    }

    fn run_command(&mut self, command: PresenterCommand, clock: &impl Clock) {
        let flipper = &mut self.flipper;
        match command {
            PresenterCommand::Submit(frame) => flipper.submit(frame, clock),
            PresenterCommand::WriteFront(write) => flipper.write_front(write, clock),
            PresenterCommand::ShareFront(shared) => flipper.share_front(shared, clock),
            PresenterCommand::Withdraw(from) => flipper.withdraw(from, LossReason::Superseded),
            PresenterCommand::Cursor(cursor) => flipper.set_waiting_cursor(cursor.as_ref()),
            PresenterCommand::Gamma(ramp) => flipper.set_gamma(ramp.as_ref()),
            PresenterCommand::Test(key, shown) => flipper.test_planes(key, shown),
            PresenterCommand::Power(on) => {
                if on && flipper.awaits_event() {
                    // Read the events of abandoned flips now, so that they are not taken for later commits.
                    self.read(clock);
                }
                self.flipper.set_power(on, clock.now());
            }
            PresenterCommand::Switch(switch) => flipper.switch(switch, clock),
            PresenterCommand::TestMode(test) => flipper.test_mode(&test),
            PresenterCommand::Pause => flipper.pause(),
            PresenterCommand::Resume => flipper.resume(),
            PresenterCommand::Flipped(event) => flipper.flipped(event, clock),
            PresenterCommand::AddPeer(crtc, mailbox) => {
                self.unclaimed_events.extract_if(.., |(known, _)| *known == crtc).for_each(|(_, event)| {
                    mailbox.send(PresenterCommand::Flipped(event));
                });
                self.peers.push((crtc, mailbox));
            }
            PresenterCommand::RemovePeer(crtc) => self.peers.retain(|(known, _)| *known != crtc),
            PresenterCommand::Unplug => {
                flipper.unplug();
                self.ended = true;
            }
        }
    }

    /// Handles the device's events, and forwards the events of other CRTCs.
    fn handle_device_events(&mut self, clock: &impl Clock) {
        self.read(clock);
        if !self.unclaimed_events.is_empty() {
            // A presenter is introduced before its first commit, perhaps just now: read that command first.
            self.run_commands(clock);
        }
    }

    fn read(&mut self, clock: &impl Clock) {
        let events = match self.channels.device.receive_events() {
            Ok(events) => events,
            // Another presenter has read the events.
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
            Err(error) => return tracing::debug!(%error, "the events of a display device cannot be read"),
        };
        for event in events {
            let Event::PageFlip(flip) = event else { continue };
            // A driver without `CLOCK_MONOTONIC` is older than ten years; a zero time makes its events implausible.
            let time = if self.channels.monotonic { Instant::from_epoch(flip.duration) } else { Instant::ZERO };
            let flip_event = FlipEvent { time, sequence: flip.frame };
            if flip.crtc == self.channels.crtc {
                self.flipper.flipped(flip_event, clock);
            } else if let Some((_, mailbox)) = self.peers.iter().find(|(known, _)| *known == flip.crtc) {
                mailbox.send(PresenterCommand::Flipped(flip_event));
            } else {
                self.unclaimed_events.push((flip.crtc, flip_event));
            }
        }
    }

    /// Sends the pending messages to the main thread.
    fn send_messages(&mut self) {
        let mut loud = false;
        for message in self.flipper.messages.drain(..) {
            loud |= !message.needs_no_wakeup();
            self.channels.messages.send_quietly(message);
        }
        if loud {
            self.channels.wakeup.ping();
        }
    }
}
