//! The presenter: one thread per output, which owns the [`Flipper`] of its CRTC. It commits frames, those that wait a
//! little before they have to be, hears of flips that are done, and switches modes: a driver that blocks makes its own
//! output wait, and nobody else.
//!
//! ```text
//!   poll(inbox, device, fence, until the next commit) ─► commands ─► flip events ─► light ─► commits that are due ─► news
//! ```
//!
//! All outputs of a device share one file, whose events any of them may read: whoever awaits one reads what there is and
//! sends on what is another's. So no thread is needed that only reads, and on a device with one output nobody wakes for
//! nothing; one that is blocked is not needed for the events of the others. It sleeps unless a flip is under way or a frame
//! waits. With the permission to do so it runs in a real-time class; [`real_time`](crate::real_time) takes that away again if
//! it ever computes for long.

use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use calloop::ping::Ping;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Device as _, Event, crtc};

use super::DrmError;
use super::clock::FlipEvent;
use super::flipper::Flipper;
use super::messages::{Command, News};
use super::post::{Inbox, Mailbox, queue};
use crate::backend::LossReason;
use crate::real_time::{RealTime, Role};
use upbeat_timing::time::{Clock, Instant, MonotonicClock, NANOS_PER_SECOND};

/// What a presenter is told of its surroundings.
pub(super) struct Surroundings {
    pub device: DrmDeviceFd,
    pub crtc: crtc::Handle,
    /// The device stamps with `CLOCK_MONOTONIC`.
    pub monotonic: bool,
    /// Where its news go ...
    pub news: Mailbox<News>,
    /// ... and who is told that there are some.
    pub heard: Ping,
}

/// Starts a presenter for `flipper`, which ends when the output is unplugged.
pub(super) fn start(
    flipper: Flipper,
    surroundings: Surroundings,
) -> Result<(Mailbox<Command>, JoinHandle<()>), DrmError> {
    let failed = |error| DrmError::Device { what: "a presenter", error };
    let (mailbox, inbox) = queue().map_err(failed)?;
    let thread = std::thread::Builder::new().name("presenter".to_owned());
    let run = move || {
        let (news, heard) = (surroundings.news.clone(), surroundings.heard.clone());
        let (peers, strangers) = (Vec::new(), Vec::new());
        let presenter = Presenter { flipper, surroundings, inbox, peers, strangers, device_speaks: true, ended: false };
        if catch_unwind(AssertUnwindSafe(|| presenter.run())).is_err() {
            // Nobody takes its commands any more: without a word the output would stand still for ever.
            news.note(News::Died);
            heard.ping();
        }
    };
    Ok((mailbox, thread.spawn(run).map_err(failed)?))
}

struct Presenter {
    flipper: Flipper,
    surroundings: Surroundings,
    inbox: Inbox<Command>,
    /// The presenters of the device's other CRTCs.
    peers: Vec<(crtc::Handle, Mailbox<Command>)>,
    /// Events of CRTCs whose presenters it was not introduced to yet.
    strangers: Vec<(crtc::Handle, FlipEvent)>,
    /// The device still answers.
    device_speaks: bool,
    ended: bool,
}

impl Presenter {
    fn run(mut self) {
        let clock = MonotonicClock;
        let mut real_time = RealTime::ask_for(Role::Presenter);
        while !self.ended {
            let flips = self.wait(clock.now());
            self.obey(&clock);
            if flips {
                self.hear(&clock);
            }
            self.flipper.advance(&clock);
            self.tell();
            real_time.check();
        }
    }

    /// Sleeps until there is something to do. Returns whether the device has something to say.
    fn wait(&mut self, now: Instant) -> bool {
        let timeout = self.flipper.next_wake().map(|wake| {
            let nanos = (wake - now).as_nanos().max(0);
            Timespec { tv_sec: nanos / NANOS_PER_SECOND, tv_nsec: nanos % NANOS_PER_SECOND }
        });
        let inbox = self.inbox.as_fd();
        // What is not waited for stands in for itself twice.
        let awaits = self.device_speaks && self.flipper.awaits_event();
        let device = if awaits { self.surroundings.device.as_fd() } else { inbox };
        let fence = self.flipper.awaits_fence().unwrap_or(inbox);
        let mut watched = [inbox, device, fence].map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        if poll(&mut watched, timeout.as_ref()).is_err() {
            return false;
        }
        let told = watched[1].revents();
        if !watched[0].revents().is_empty() {
            self.inbox.quiet();
        }
        let gone = told.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) && !told.contains(PollFlags::IN);
        if awaits && gone {
            // One that is gone would wake us for ever.
            tracing::warn!("a display device says nothing any more");
            self.device_speaks = false;
        }
        awaits && told.contains(PollFlags::IN)
    }

    /// Does what was asked for.
    fn obey(&mut self, clock: &impl Clock) {
        // Asked first: what was sent before that is taken.
        let closed = self.inbox.is_closed();
        // What comes after the end would light an output that is not there any more.
        while !self.ended
            && let Some(command) = self.inbox.take()
        {
            self.act(command, clock);
        }
        self.ended |= closed;
        // Whoever they are of is gone.
        self.strangers.clear();
    }

    fn act(&mut self, command: Command, clock: &impl Clock) {
        let flipper = &mut self.flipper;
        match command {
            Command::Submit(frame) => flipper.submit(frame, clock),
            Command::Withdraw(from) => flipper.withdraw(from, LossReason::Superseded),
            Command::Cursor(cursor) => flipper.move_cursor(cursor.as_ref()),
            Command::Gamma(ramp) => flipper.set_gamma(ramp.as_ref()),
            Command::Test(shape, shown) => flipper.test_planes(shape, shown),
            Command::Power(on) => {
                if on && flipper.awaits_event() {
                    // What was given up before is not to be taken for what is committed from now on.
                    self.read(clock);
                }
                self.flipper.set_power(on, clock.now());
            }
            Command::Switch(switch) => flipper.switch(switch, clock),
            Command::Pause => flipper.pause(),
            Command::Resume => flipper.resume(),
            Command::Flipped(event) => flipper.flipped(event, clock),
            Command::Meet(crtc, mailbox) => {
                self.strangers.extract_if(.., |(known, _)| *known == crtc).for_each(|(_, event)| {
                    mailbox.send(Command::Flipped(event));
                });
                self.peers.push((crtc, mailbox));
            }
            Command::Part(crtc) => self.peers.retain(|(known, _)| *known != crtc),
            Command::Unplug => {
                flipper.unplug();
                self.ended = true;
            }
        }
    }

    /// Takes in what the driver has to say, for all outputs of the device.
    fn hear(&mut self, clock: &impl Clock) {
        self.read(clock);
        if !self.strangers.is_empty() {
            // Each was introduced before it committed anything, perhaps just now.
            self.obey(clock);
        }
    }

    fn read(&mut self, clock: &impl Clock) {
        let events = match self.surroundings.device.receive_events() {
            Ok(events) => events,
            // Another presenter was quicker.
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
            Err(error) => return tracing::debug!(%error, "a display device cannot be heard"),
        };
        for event in events {
            let Event::PageFlip(flip) = event else { continue };
            // A driver with another clock is none of this decade; it would be judged strange.
            let time = if self.surroundings.monotonic { Instant::from_epoch(flip.duration) } else { Instant::ZERO };
            let told = FlipEvent { time, sequence: flip.frame };
            if flip.crtc == self.surroundings.crtc {
                self.flipper.flipped(told, clock);
            } else if let Some((_, mailbox)) = self.peers.iter().find(|(known, _)| *known == flip.crtc) {
                mailbox.send(Command::Flipped(told));
            } else {
                self.strangers.push((flip.crtc, told));
            }
        }
    }

    /// Says what has happened.
    fn tell(&mut self) {
        let mut loud = false;
        for news in self.flipper.news.drain(..) {
            loud |= !news.is_quiet();
            self.surroundings.news.note(news);
        }
        if loud {
            self.surroundings.heard.ping();
        }
    }
}
