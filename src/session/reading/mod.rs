//! How clients are read: all that is there, once in a turn of the loop, unless somebody floods.
//!
//! ```text
//!  flooder   ████████████████████████████████████████████   always something to read
//!  reading   ▆▆▆ ▆ paused ▆▁▁▁▁▁▁▁▁▁▁▁▁▁▆▁▁▁▁▁▁▁▆▁▁▁▁▁▁▁▁▁
//!  another                              ▲       ▲ what others say ends a pause at once, if it is the first in it
//! ```

mod ears;
mod throttle;

use std::sync::Arc;

use anyhow::Context as _;
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, Mode, PostAction, RegistrationToken};
use smithay::reexports::wayland_server::Display;

pub use ears::{Ear, Ears};
use throttle::Throttle;

use crate::state::State;
use crate::time::{Clock, Instant};

/// How clients are read.
#[derive(Debug, Default)]
pub struct Reading {
    sources: Option<Sources>,
    throttle: Throttle,
    /// Nobody is read before this moment, unless somebody speaks who does not flood.
    paused_until: Option<Instant>,
    /// The last reading ended with a pause.
    is_flooded: bool,
}

#[derive(Debug)]
struct Sources {
    ears: Arc<Ears>,
    clients: RegistrationToken,
    others: RegistrationToken,
}

impl Reading {
    /// Where clients are taken in.
    pub fn ears(&self) -> Option<&Arc<Ears>> {
        self.sources.as_ref().map(|sources| &sources.ears)
    }
}

/// Begins to read clients.
///
/// # Errors
/// When the process has no descriptors left.
pub(super) fn listen(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    display: Display<State>,
) -> anyhow::Result<()> {
    let ears = Arc::new(Ears::new().context("clients cannot be listened to")?);
    let clients = listen_to_clients(handle, display)?;
    let others = Generic::new(Arc::clone(&ears), Interest::READ, Mode::Level);
    let others = handle
        .insert_source(others, |_, _, state| {
            end_pause(state);
            Ok(PostAction::Disable)
        })
        .map_err(|error| anyhow::anyhow!("clients cannot be listened to: {error}"))?;
    handle.disable(&others).context("clients cannot be listened to")?;
    state.session.reading.sources = Some(Sources { ears, clients, others });
    Ok(())
}

#[expect(unsafe_code, reason = "calloop makes its caller promise that the descriptor stays open")]
fn listen_to_clients(
    handle: &LoopHandle<'static, State>,
    display: Display<State>,
) -> anyhow::Result<RegistrationToken> {
    let source = Generic::new(display, Interest::READ, Mode::Level);
    handle
        .insert_source(source, |_, display, state| {
            // SAFETY: the display is dispatched in place and never moved out or dropped.
            let display = unsafe { display.get_mut() };
            let is_paused = read(state, |state| {
                if let Err(error) = display.dispatch_clients(state) {
                    tracing::error!(%error, "clients cannot be listened to");
                }
            });
            Ok(if is_paused { PostAction::Disable } else { PostAction::Continue })
        })
        .map_err(|error| anyhow::anyhow!("clients cannot be listened to: {error}"))
}

/// Reads clients once, and says whether a pause follows.
fn read(state: &mut State, dispatch: impl FnOnce(&mut State)) -> bool {
    let ears = state.session.reading.is_flooded.then(|| state.session.reading.ears().cloned()).flatten();
    let before = ears.as_ref().map(|ears| ears.speaking()).unwrap_or_default();
    let start = state.clock.now();
    dispatch(state);
    let reading = &mut state.session.reading;
    reading.paused_until = reading.throttle.read(start, state.clock.now());
    reading.is_flooded = reading.paused_until.is_some();
    if let Some(ears) = ears {
        if reading.is_flooded {
            // Who had his say waits for the end of the pause; whoever spoke up meanwhile is read next.
            ears.mute(before);
        } else {
            ears.unmute();
        }
    }
    begin_pause(state)
}

/// Hears who else speaks, if there is a pause.
fn begin_pause(state: &mut State) -> bool {
    let reading = &state.session.reading;
    let (Some(_), Some(sources)) = (reading.paused_until, &reading.sources) else { return false };
    if let Err(error) = state.loop_handle.enable(&sources.others) {
        tracing::error!(%error, "flooding clients cannot be told from others");
    }
    true
}

/// Everybody is read again from now on.
fn end_pause(state: &mut State) {
    let reading = &mut state.session.reading;
    reading.paused_until = None;
    let Some(sources) = &reading.sources else { return };
    if let Err(error) = state.loop_handle.enable(&sources.clients) {
        tracing::error!(%error, "clients cannot be listened to any more");
    }
}

/// Ends a pause if it is time; else says when it will be.
pub(super) fn read_on(state: &mut State) -> Option<Instant> {
    let until = state.session.reading.paused_until?;
    if until > state.clock.now() {
        return Some(until);
    }
    end_pause(state);
    let sources = state.session.reading.sources.as_ref()?;
    sources.ears.unmute();
    if let Err(error) = state.loop_handle.disable(&sources.others) {
        tracing::error!(%error, "flooding clients cannot be told from others");
    }
    None
}
