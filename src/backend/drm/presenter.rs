//! The presenter: one thread per device, which hears of flips that are done and commits the frames that wait for theirs,
//! each a little before it has to be, or as soon as nothing can take its place, whatever the main thread is busy with.
//!
//! ```text
//!   poll(device, waker, until the next commit) ─► flip events ─► light ─► commits that are due ─► tell the main thread
//! ```
//!
//! It sleeps unless a flip is under way or a frame waits. With the permission to do so it runs in a real-time class;
//! [`watchdog`](super::watchdog) takes that away again if it ever computes for long.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use calloop::ping::Ping;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Device as _, Event, crtc};
use smithay::reexports::drm::{Device as _, DriverCapability};

use super::DrmError;
use super::clock::FlipEvent;
use super::flipper::Flipper;
use super::pipe::{SharedFlipper, lock};
use super::watchdog::RealTime;
use crate::time::{Clock, Instant, MonotonicClock, NANOS_PER_SECOND};

/// What both threads share.
struct Shared {
    device: DrmDeviceFd,
    pipes: Mutex<Vec<(crtc::Handle, SharedFlipper)>>,
    /// Wakes the presenter.
    waker: OwnedFd,
    ended: AtomicBool,
}

impl Shared {
    fn pipes(&self) -> MutexGuard<'_, Vec<(crtc::Handle, SharedFlipper)>> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        if let Err(error) = rustix::io::write(&self.waker, &1_u64.to_ne_bytes()) {
            tracing::error!(%error, "the presenter cannot be woken");
        }
    }
}

/// Wakes the presenter when there is a reason to.
#[derive(Clone)]
pub(super) struct Waker(Arc<Shared>);

impl Waker {
    /// Something was submitted to `flipper`. What the driver has taken wakes the presenter by itself when it is done.
    pub fn wake_for(&self, flipper: &Mutex<Flipper>) {
        if lock(flipper).next_wake().is_some() {
            self.0.wake();
        }
    }
}

/// The thread of one device. Dropping this ends it.
pub(super) struct Presenter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Presenter {
    /// Starts it. `heard` is rung when something has happened.
    pub fn start(device: DrmDeviceFd, heard: Ping) -> Result<Self, DrmError> {
        let failed = |error| DrmError::Device { what: "a presenter", error };
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
        let shared = Shared { device, pipes: Mutex::default(), waker, ended: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new().name("presenter".to_owned());
        let thread = thread.spawn(move || run(&of_thread, &heard)).map_err(failed)?;
        Ok(Presenter { shared, thread: Some(thread) })
    }

    /// Wakes it.
    pub fn waker(&self) -> Waker {
        Waker(self.shared.clone())
    }

    /// From now on it presents this CRTC, too.
    pub fn add(&self, crtc: crtc::Handle, flipper: SharedFlipper) {
        self.shared.pipes().push((crtc, flipper));
    }

    /// Not any more.
    pub fn remove(&self, crtc: crtc::Handle) {
        self.shared.pipes().retain(|(known, _)| *known != crtc);
    }
}

impl Drop for Presenter {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        self.shared.wake();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the presenter has panicked");
        }
        self.shared.pipes().clear();
    }
}

fn run(shared: &Shared, heard: &Ping) {
    let clock = MonotonicClock;
    let monotonic = shared.device.get_driver_capability(DriverCapability::MonotonicTimestamp);
    let monotonic = monotonic.is_ok_and(|value| value == 1);
    let mut real_time = RealTime::ask_for();
    let mut device_speaks = true;
    while !shared.ended.load(Ordering::Acquire) {
        let (flips, readable) = wait(shared, device_speaks, clock.now());
        device_speaks &= readable;
        if flips {
            hear(shared, monotonic, &clock);
        }
        let mut news = false;
        for (_, flipper) in shared.pipes().iter() {
            let mut flipper = lock(flipper);
            flipper.advance(&clock);
            news |= !flipper.events.is_empty();
        }
        if news {
            heard.ping();
        }
        real_time.check();
    }
}

/// Sleeps until there is something to do. Returns whether flips are done, and whether the device still answers.
fn wait(shared: &Shared, device_speaks: bool, now: Instant) -> (bool, bool) {
    let wake = shared.pipes().iter().filter_map(|(_, flipper)| lock(flipper).next_wake()).min();
    let timeout = wake.map(|wake| {
        let nanos = (wake - now).as_nanos().max(0);
        Timespec { tv_sec: nanos / NANOS_PER_SECOND, tv_nsec: nanos % NANOS_PER_SECOND }
    });
    let device = if device_speaks { PollFlags::IN } else { PollFlags::empty() };
    let mut watched = [PollFd::new(&shared.waker, PollFlags::IN), PollFd::new(&shared.device, device)];
    // One that is gone would wake us for ever.
    let watched = if device_speaks { &mut watched[..] } else { &mut watched[..1] };
    if poll(watched, timeout.as_ref()).is_err() {
        return (false, true);
    }
    if watched[0].revents().contains(PollFlags::IN) {
        let mut count = [0; 8];
        let _ = rustix::io::read(shared.waker.as_fd(), &mut count);
    }
    let told = watched.get(1).map_or(PollFlags::empty(), PollFd::revents);
    let gone = told.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) && !told.contains(PollFlags::IN);
    if gone {
        tracing::warn!("a display device says nothing any more");
    }
    (told.contains(PollFlags::IN), !gone)
}

/// Takes in what the driver has to say.
fn hear(shared: &Shared, monotonic: bool, clock: &MonotonicClock) {
    let events = match shared.device.receive_events() {
        Ok(events) => events,
        Err(error) => return tracing::debug!(%error, "a display device cannot be heard"),
    };
    for event in events {
        let Event::PageFlip(flip) = event else { continue };
        // A driver with another clock is none of this decade; it would be judged strange.
        let time = if monotonic { Instant::from_epoch(flip.duration) } else { Instant::ZERO };
        let pipes = shared.pipes();
        if let Some((_, flipper)) = pipes.iter().find(|(crtc, _)| *crtc == flip.crtc) {
            lock(flipper).flipped(FlipEvent { time, sequence: flip.frame }, clock);
        }
    }
}
