//! Callbacks that run later on the main thread: after the events of this turn, or after a delay.

use std::fmt;
use std::os::fd::OwnedFd;
use std::time::Duration;

use calloop::generic::Generic;
use calloop::{
    EventSource, Interest, LoopHandle, Mode, Poll, PostAction, Readiness, RegistrationToken, Token, TokenFactory,
};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use crate::state::State;

/// A callback that runs once.
type DeferredCall = Box<dyn FnOnce(&mut State)>;

/// Callbacks that run once all events of this turn are dispatched.
#[derive(Default)]
pub struct DeferredCalls(Vec<DeferredCall>);

impl DeferredCalls {
    /// Whether callbacks are queued.
    pub fn is_waiting(&self) -> bool {
        !self.0.is_empty()
    }
}

impl fmt::Debug for DeferredCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeferredCalls").field(&self.0.len()).finish()
    }
}

/// Queues `act` for the end of this turn's events, before any decision is made from them. It never runs while a client
/// is being read or destroyed.
pub fn queue(state: &mut State, act: impl FnOnce(&mut State) + 'static) {
    state.deferred_calls.0.push(Box::new(act));
}

/// Runs all queued callbacks, and the callbacks that they queue.
pub fn run_queued(state: &mut State) {
    while !state.deferred_calls.0.is_empty() {
        std::mem::take(&mut state.deferred_calls.0).into_iter().for_each(|act| act(state));
    }
}

/// Calls `act` after `wait`, and again after each delay that it returns. Removing the returned token stops it.
///
/// # Errors
/// When the process has no descriptors left.
pub fn add_timer(
    handle: &LoopHandle<'static, State>,
    wait: Duration,
    mut act: impl FnMut(&mut State) -> Option<Duration> + 'static,
) -> calloop::Result<RegistrationToken> {
    let inserted = handle.insert_source(DescriptorTimer::new(wait)?, move |(), (), state| act(state));
    inserted.map_err(|refused| refused.error)
}

/// A timer on `CLOCK_MONOTONIC`. Its callback returns the delay until the next event, or `None` for no further event.
///
/// A descriptor of its own, since calloop's timers have none: `session/event_sources.rs`, which waits for calloop's
/// loop from outside, would not wake for them.
#[derive(Debug)]
struct DescriptorTimer(Generic<OwnedFd>);

impl DescriptorTimer {
    /// Fires first after `wait`.
    fn new(wait: Duration) -> std::io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        set(&timer, wait)?;
        Ok(DescriptorTimer(Generic::new(timer, Interest::READ, Mode::Level)))
    }
}

/// Fires after `wait`, and stays readable until it is set again.
fn set(timer: &OwnedFd, wait: Duration) -> std::io::Result<()> {
    // A time of zero would disarm it.
    let wait = wait.max(Duration::from_nanos(1));
    let it_value = Timespec { tv_sec: wait.as_secs() as _, tv_nsec: wait.subsec_nanos().into() };
    let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
    let setting = Itimerspec { it_interval, it_value };
    rustix::time::timerfd_settime(timer, TimerfdTimerFlags::empty(), &setting)?;
    Ok(())
}

impl EventSource for DescriptorTimer {
    type Event = ();
    type Metadata = ();
    type Ret = Option<Duration>;
    type Error = std::io::Error;

    fn process_events<F>(
        &mut self,
        readiness: Readiness,
        token: Token,
        mut callback: F,
    ) -> Result<PostAction, Self::Error>
    where
        F: FnMut((), &mut ()) -> Self::Ret,
    {
        self.0.process_events(readiness, token, |_, timer| match callback((), &mut ()) {
            Some(wait) => set(timer, wait).map(|()| PostAction::Continue),
            None => Ok(PostAction::Remove),
        })
    }

    fn register(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
        self.0.register(poll, tokens)
    }

    fn reregister(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
        self.0.reregister(poll, tokens)
    }

    fn unregister(&mut self, poll: &mut Poll) -> calloop::Result<()> {
        self.0.unregister(poll)
    }
}

#[cfg(test)]
mod tests {
    use calloop::EventLoop;

    use super::*;

    #[test]
    fn timer_fires_as_often_as_its_callback_asks() {
        let mut event_loop: EventLoop<'_, Vec<u32>> = EventLoop::try_new().unwrap();
        let begun = std::time::Instant::now();
        let after = DescriptorTimer::new(Duration::from_millis(1)).unwrap();
        let fired = |(): (), (): &mut (), fired: &mut Vec<u32>| {
            fired.push(1);
            (fired.len() < 3).then_some(Duration::from_millis(1))
        };
        event_loop.handle().insert_source(after, fired).unwrap();
        let mut fired = Vec::new();
        while fired.len() < 3 {
            event_loop.dispatch(None, &mut fired).unwrap();
        }
        assert!(begun.elapsed() >= Duration::from_millis(3));
        event_loop.dispatch(Some(Duration::from_millis(20)), &mut fired).unwrap();
        assert_eq!(fired.len(), 3);
    }
}
