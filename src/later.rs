//! What is done later on the main thread: at the end of what is heard, or after a while.

use std::fmt;
use std::os::fd::OwnedFd;
use std::time::Duration;

use calloop::generic::Generic;
use calloop::{
    EventSource, Interest, LoopHandle, Mode, Poll, PostAction, Readiness, RegistrationToken, Token, TokenFactory,
};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use crate::state::State;

/// Something that is done once.
type Act = Box<dyn FnOnce(&mut State)>;

/// What is to be done when all that is heard in this turn was heard.
#[derive(Default)]
pub struct Later(Vec<Act>);

impl Later {
    /// Whether there is something to be done.
    pub fn is_waiting(&self) -> bool {
        !self.0.is_empty()
    }
}

impl fmt::Debug for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Later").field(&self.0.len()).finish()
    }
}

/// Does `act` when all that is heard in this turn was heard, and before anything follows from it: not while a client is read or
/// taken apart.
pub fn soon(state: &mut State, act: impl FnOnce(&mut State) + 'static) {
    state.later.0.push(Box::new(act));
}

/// Does all that was to be done, and what that adds.
pub fn attend(state: &mut State) {
    while !state.later.0.is_empty() {
        std::mem::take(&mut state.later.0).into_iter().for_each(|act| act(state));
    }
}

/// Does `act` in `wait`, and again after what it says then, if anything. Ended by removing what is returned.
///
/// # Errors
/// When the process has no descriptors left.
pub fn after(
    handle: &LoopHandle<'static, State>,
    wait: Duration,
    mut act: impl FnMut(&mut State) -> Option<Duration> + 'static,
) -> calloop::Result<RegistrationToken> {
    let inserted = handle.insert_source(After::new(wait)?, move |(), (), state| act(state));
    inserted.map_err(|refused| refused.error)
}

/// An event after a while, on `CLOCK_MONOTONIC`. What hears it says after how long there is another, if there is.
///
/// calloop's own timers are no descriptors: whoever waits for its loop from outside (`session/waiting`) would not hear them.
#[derive(Debug)]
struct After(Generic<OwnedFd>);

impl After {
    /// The first event is in `wait`.
    fn new(wait: Duration) -> std::io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        set(&timer, wait)?;
        Ok(After(Generic::new(timer, Interest::READ, Mode::Level)))
    }
}

/// Rings in `wait`, and until it is set again.
fn set(timer: &OwnedFd, wait: Duration) -> std::io::Result<()> {
    // A time of zero would disarm it.
    let wait = wait.max(Duration::from_nanos(1));
    let it_value = Timespec { tv_sec: wait.as_secs() as _, tv_nsec: wait.subsec_nanos().into() };
    let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
    let setting = Itimerspec { it_interval, it_value };
    rustix::time::timerfd_settime(timer, TimerfdTimerFlags::empty(), &setting)?;
    Ok(())
}

impl EventSource for After {
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
    fn it_comes_as_often_as_it_is_asked_for_and_no_more() {
        let mut event_loop: EventLoop<'_, Vec<u32>> = EventLoop::try_new().unwrap();
        let begun = std::time::Instant::now();
        let after = After::new(Duration::from_millis(1)).unwrap();
        let heard = |(): (), (): &mut (), heard: &mut Vec<u32>| {
            heard.push(1);
            (heard.len() < 3).then_some(Duration::from_millis(1))
        };
        event_loop.handle().insert_source(after, heard).unwrap();
        let mut heard = Vec::new();
        while heard.len() < 3 {
            event_loop.dispatch(None, &mut heard).unwrap();
        }
        assert!(begun.elapsed() >= Duration::from_millis(3));
        event_loop.dispatch(Some(Duration::from_millis(20)), &mut heard).unwrap();
        assert_eq!(heard.len(), 3);
    }
}
