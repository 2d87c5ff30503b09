//! Signals as events: SIGINT and SIGTERM end the session in order, SIGHUP reads the configuration again.

use std::io;

use calloop::LoopHandle;
use calloop::signals::{Signal, Signals};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalWish {
    /// End the session in order.
    End,
    /// Read the configuration again.
    Reload,
}

/// Delivers signals to `act` from now on, instead of letting them end the process.
///
/// Call it before any thread is started: threads that exist already would still be ended by the signals.
pub fn insert<State>(
    handle: &LoopHandle<'_, State>,
    mut act: impl FnMut(SignalWish, &mut State) + 'static,
) -> io::Result<()> {
    let signals = Signals::new(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
    let insertion = handle.insert_source(signals, move |event, (), state| {
        let wish = match event.signal() {
            Signal::SIGHUP => SignalWish::Reload,
            _ => SignalWish::End,
        };
        act(wish, state);
    });
    insertion.map(|_| ()).map_err(|error| io::Error::other(error.error))
}

/// Starts threads that no signal reaches: signals are for the loop's thread, which lets them be events.
#[expect(unsafe_code, reason = "the mask of a thread is set through libc: nothing safe has this call")]
pub fn out_of_reach<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: both masks are valid places for signal sets, and a zeroed one is a set.
    let before = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    };
    let started = start();
    // SAFETY: `before` is what the call above has written.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    started
}
