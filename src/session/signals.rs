//! Unix signals as events of the loop: SIGINT and SIGTERM end the session in order, SIGHUP reloads the configuration.

use std::io;

use calloop::LoopHandle;
use calloop::signals::{Signal, Signals};

/// The request that a signal stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalWish {
    /// End the session in order.
    End,
    /// Reload the configuration files.
    Reload,
}

/// Blocks these signals, and calls `act` for each instead of letting it end the process.
///
/// Call it before any thread is started: the signals are only blocked on threads that start later, and on other threads
/// they would still end the process.
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

/// Runs `start` with all signals blocked. Threads inherit the mask, so that signals only reach the main thread, which
/// reads them as events.
#[expect(unsafe_code, reason = "no safe wrapper sets the signal mask of a thread")]
pub fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: both masks are valid places for signal sets, and a zeroed set is valid.
    let before = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    };
    let started = start();
    // SAFETY: `before` was written by the call above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    started
}
