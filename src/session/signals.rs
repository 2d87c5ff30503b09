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
