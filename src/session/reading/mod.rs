//! How clients are read: all that is there, once in a turn of the loop, unless somebody floods. Who does is muted, and
//! has his turns when nobody waits for the compositor.
//!
//! ```text
//!  flooder   ████████████████████████████████████████████████████████   always something to read
//!  victim         ▽ callback ░░░░░ commit ▆ │latch▕ light ▽ callback
//!  his turns ▆▆▆ ▆                                ▆    ▆       (after a latch, while the next thing to do is far enough)
//! ```

mod muting;
mod throttle;

use std::collections::VecDeque;

use anyhow::Context as _;
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, Mode, PostAction};
use smithay::reexports::wayland_server::Display;

use crate::output;
use crate::state::State;
use crate::time::{Clock, Instant, Span};
use muting::{Listening, Speaker};
use throttle::Throttle;

/// A flooder has a turn that long after his pause even if others are kept waiting by it: between two refreshes and three
/// at 60 Hz, so that a busy screen does not starve him.
const LONGEST_WAIT: Span = Span::from_millis(40);
/// A turn may take so many times what the last one took.
const MARGIN: i64 = 2;

/// How clients are read.
#[derive(Debug, Default)]
pub struct Reading {
    listening: Option<Listening>,
    throttle: Throttle,
    /// The last reading was more than is read without a pause.
    is_flooded: bool,
    /// Who floods, and is not listened to; the next one to have a turn is the first.
    muted: VecDeque<Speaker>,
    /// None of them has one before this moment.
    paused_until: Instant,
    /// What the last one took.
    cost: Span,
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
    state.session.reading.listening = Some(Listening::of(&display).context("clients cannot be listened to")?);
    listen_to_clients(handle, display)
}

#[expect(unsafe_code, reason = "calloop makes its caller promise that the descriptor stays open")]
fn listen_to_clients(handle: &LoopHandle<'static, State>, display: Display<State>) -> anyhow::Result<()> {
    let source = Generic::new(display, Interest::READ, Mode::Level);
    handle
        .insert_source(source, |_, display, state| {
            // SAFETY: the display is dispatched in place and never moved out or dropped.
            let display = unsafe { display.get_mut() };
            read(state, |state| {
                if let Err(error) = display.dispatch_clients(state) {
                    tracing::error!(%error, "clients cannot be listened to");
                }
            });
            Ok(PostAction::Continue)
        })
        .map_err(|error| anyhow::anyhow!("clients cannot be listened to: {error}"))?;
    Ok(())
}

/// Reads clients once, and mutes those who flood.
fn read(state: &mut State, dispatch: impl FnOnce(&mut State)) {
    let before = state.session.reading.suspects();
    let start = state.clock.now();
    dispatch(state);
    let end = state.clock.now();
    state.session.reading.was_read(&before, start, end);
}

impl Reading {
    /// Those who are about to be read, while somebody floods.
    fn suspects(&self) -> Vec<Speaker> {
        let listening = self.listening.as_ref().filter(|_| self.is_flooded || !self.muted.is_empty());
        listening.map(Listening::speaking).unwrap_or_default()
    }

    /// Those who spoke `before` were read from `start` to `end`. One who was read and still has something to say has more
    /// of it than is read at once: he floods.
    fn was_read(&mut self, before: &[Speaker], start: Instant, end: Instant) {
        let pause = self.throttle.read(start, end);
        self.is_flooded = pause.is_some();
        let Some(listening) = self.listening.as_ref().filter(|_| !before.is_empty()) else { return };
        let flooding = listening.speaking().into_iter().filter(|speaker| before.contains(speaker));
        let muted = self.muted.len();
        self.muted.extend(flooding.filter(|speaker| listening.mute(*speaker)));
        if self.muted.len() > muted {
            self.cost = end - start;
            self.paused_until = pause.unwrap_or(end);
        }
    }

    /// Listens to the next of those who are muted.
    fn give_a_turn(&mut self) {
        let Some(listening) = &self.listening else { return };
        while let Some(speaker) = self.muted.pop_front() {
            // One who has gone, or has nothing to say, has had his turn.
            if listening.unmute(speaker) && listening.speaking().contains(&speaker) {
                return;
            }
        }
    }
}

/// Lets one who floods have a turn if it is time; else says when it will be. `next`: when there is something else to do.
pub(super) fn read_on(state: &mut State, next: Option<Instant>) -> Option<Instant> {
    let reading = &state.session.reading;
    if reading.muted.is_empty() {
        return None;
    }
    let (now, until) = (state.clock.now(), reading.paused_until);
    if now < until {
        return Some(until);
    }
    let latest = until + LONGEST_WAIT;
    let has_time = next.is_none_or(|next| next - now > reading.cost * MARGIN);
    if now < latest && (!has_time || output::pacing::is_anybody_drawing(state, now)) {
        return Some(latest);
    }
    state.session.reading.give_a_turn();
    None
}
