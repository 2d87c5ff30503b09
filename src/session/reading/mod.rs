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

use std::cell::RefCell;
use std::os::fd::AsFd as _;
use std::rc::Rc;

use ahash::HashMap;
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
/// A turn may take so many times what it took lately.
const MARGIN: i64 = 2;
/// The part of a turn's expected cost that each further turn takes away from it, as long as none costs as much again: one
/// that another process got into must not stand in the way of the next for long.
const FORGET: i64 = 8;
/// No turn is expected to take longer: twice that fits between a latch and the next frame's start at 60 Hz.
const LONGEST_TURN: Span = Span::from_millis(5);

/// How clients are read.
#[derive(Debug, Default)]
pub struct Reading {
    display: Option<Rc<RefCell<Display<State>>>>,
    listening: Option<Listening>,
    all: Throttle,
    /// Lately more was read than without a pause is: it is looked who says so much.
    is_flooded: bool,
    /// What those say who have spoken meanwhile.
    accounts: HashMap<Speaker, Throttle>,
    /// Who floods, and is not listened to; with the end of his pause.
    muted: Vec<(Instant, Speaker)>,
    /// What a turn takes, at most, lately.
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
    let listening = Listening::of(&display).context("clients cannot be listened to")?;
    let descriptor = display.as_fd().try_clone_to_owned().context("clients cannot be listened to")?;
    let reading = &mut state.session.reading;
    (reading.listening, reading.display) = (Some(listening), Some(Rc::new(RefCell::new(display))));
    handle
        .insert_source(Generic::new(descriptor, Interest::READ, Mode::Level), |_, _, state| {
            read(state);
            Ok(PostAction::Continue)
        })
        .map_err(|error| anyhow::anyhow!("clients cannot be listened to: {error}"))?;
    Ok(())
}

/// Reads clients once, and mutes those who flood.
fn read(state: &mut State) {
    let Some(display) = state.session.reading.display.clone() else { return };
    let before = state.session.reading.suspects();
    let start = state.clock.now();
    if let Err(error) = display.borrow_mut().dispatch_clients(state) {
        tracing::error!(%error, "clients cannot be listened to");
    }
    let end = state.clock.now();
    state.session.reading.was_read(&before, start, end);
}

/// Lets go of objects that ended with an event of ours (callbacks, presentation feedback), if there are any. Whether
/// there were: then clients were read on the way, and what they said has to be acted upon.
///
/// The server library does so when it reads clients the next time, and wakes us up for that a millisecond after the
/// events are sent: twice in a refresh of each client, unless it is done before.
pub(super) fn bury_objects(state: &mut State) -> bool {
    let ended = std::mem::take(&mut state.outputs.objects_ended);
    if ended {
        read(state);
    }
    ended
}

impl Reading {
    /// Those who are about to be read, while somebody floods.
    fn suspects(&self) -> Vec<Speaker> {
        let listening = self.listening.as_ref().filter(|_| self.is_flooded || !self.accounts.is_empty());
        listening.map(Listening::speaking).unwrap_or_default()
    }

    /// Those who spoke `before` were read from `start` to `end`, and share what that took. Who has had more than his share
    /// of the time is muted.
    fn was_read(&mut self, before: &[Speaker], start: Instant, end: Instant) {
        self.is_flooded = self.all.is_flooded(start, end);
        let Some(listening) = self.listening.as_ref().filter(|_| !before.is_empty()) else { return };
        let each = (end - start) / before.len() as i64;
        for speaker in before {
            let pause = self.accounts.entry(*speaker).or_default().read(end - each, end);
            if let Some(until) = pause.filter(|_| listening.mute(*speaker)) {
                self.muted.push((until, *speaker));
                self.cost = (end - start).max(self.cost - self.cost / FORGET).min(LONGEST_TURN);
            }
        }
        self.accounts.retain(|_, account| !account.is_forgotten(end));
        if !self.is_flooded && !self.accounts.values().any(Throttle::is_on_probation) {
            self.accounts.clear();
        }
    }

    /// The end of the first pause, and whose it is in the list.
    fn next_turn(&self) -> Option<(Instant, usize)> {
        self.muted.iter().enumerate().map(|(index, (until, _))| (*until, index)).min()
    }

    /// Listens to the next of those who are muted and whose pause is over. Whether there was one with something to say.
    fn give_a_turn(&mut self, now: Instant) -> bool {
        let Some(listening) = &self.listening else { return false };
        while let Some((_, index)) = self.next_turn().filter(|(until, _)| *until <= now) {
            let (_, speaker) = self.muted.swap_remove(index);
            if listening.unmute(speaker) && listening.speaking().contains(&speaker) {
                return true;
            }
            // One who had nothing to say in his pause only had much to say once, as a program that starts. Or he is gone.
            self.accounts.remove(&speaker);
        }
        false
    }
}

/// Lets one who floods have a turn if it is time; else says when it will be. `next`: when there is something else to do.
pub(super) fn read_on(state: &mut State, next: Option<Instant>) -> Option<Instant> {
    let reading = &state.session.reading;
    let (until, _) = reading.next_turn()?;
    let now = state.clock.now();
    if now < until {
        return Some(until);
    }
    let latest = until + LONGEST_WAIT;
    let has_time = next.is_none_or(|next| next - now > reading.cost * MARGIN);
    if now < latest && (!has_time || output::pacing::is_anybody_drawing(state, now)) {
        return Some(latest);
    }
    let reading = &mut state.session.reading;
    if reading.give_a_turn(now) { None } else { reading.next_turn().map(|(until, _)| until) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use super::*;

    const START: Instant = Instant::from_nanos(1_000_000_000);
    /// A reading that is more than anybody may have at once.
    const LONG: Span = Span::from_millis(5);

    /// A display with one client, which has spoken and was read for a long time.
    fn flooded() -> (Display<()>, UnixStream, Reading, Instant) {
        let mut display = Display::<()>::new().unwrap();
        let (mut client, ours) = UnixStream::pair().unwrap();
        display.handle().insert_client(ours, Arc::new(())).unwrap();
        let listening = Some(Listening::of(&display).unwrap());
        let mut reading = Reading { listening, is_flooded: true, ..Reading::default() };
        speak(&mut client);
        let before = reading.suspects();
        display.dispatch_clients(&mut ()).unwrap();
        reading.was_read(&before, START, START + LONG);
        let (until, _) = reading.next_turn().expect("he is muted");
        (display, client, reading, until)
    }

    /// `wl_display.sync`.
    fn speak(client: &mut UnixStream) {
        [1_u32, 12 << 16, 2].iter().for_each(|word| client.write_all(&word.to_ne_bytes()).unwrap());
    }

    #[test]
    fn one_who_goes_on_to_flood_has_his_turn_when_his_pause_is_over_and_pauses_again() {
        let (_display, mut client, mut reading, until) = flooded();
        speak(&mut client);
        assert!(!reading.give_a_turn(START + LONG), "he pauses");
        assert_eq!(reading.suspects(), []);
        assert!(reading.give_a_turn(until));
        let before = reading.suspects();
        assert_eq!(before.len(), 1);
        reading.was_read(&before, until, until + Span::from_millis(1));
        assert!(reading.next_turn().is_some_and(|(next, _)| next > until + Span::from_millis(1)));
    }

    #[test]
    fn one_who_only_had_much_to_say_once_is_read_like_everybody_after_his_pause() {
        let (_display, mut client, mut reading, until) = flooded();
        assert!(!reading.give_a_turn(until), "he has nothing to say");
        assert!(reading.muted.is_empty() && reading.accounts.is_empty());
        speak(&mut client);
        reading.is_flooded = true;
        let before = reading.suspects();
        reading.was_read(&before, until, until + Span::from_millis(1));
        assert!(reading.muted.is_empty(), "he may speak");
    }
}
