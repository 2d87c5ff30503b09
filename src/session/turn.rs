//! What follows every wake-up: all that is due, and then the news of it for clients that watch.

use crate::shell::{self, lock, notices, strips, wishes};
use crate::state::State;
use crate::{input, later, output, protocol};
use upbeat_timing::time::{Clock as _, Instant};

/// Does everything that is due. Returns when the next thing is; `None` to sleep until something happens.
pub fn run(state: &mut State) -> Option<Instant> {
    later::attend(state);
    // Before anything is drawn of it.
    protocol::sweep::after_a_bug(state);
    protocol::estates::attend(state);
    protocol::owed::attend(state);
    protocol::output_management::attend(state);
    protocol::output_power::attend(state);
    shell::catch_up(state);
    lock::attend(state);
    notices::attend(state);
    let repeated = input::repeating::attend(state);
    let switched = input::switcher::attend(state);
    wishes::attend(state);
    let arranges = strips::arrange_in_time(state);
    output::scene::titles::attend(state);
    let has_more = output::turn::run(state).then(|| state.clock.now());
    let shot = super::screenshots::attend(state);
    protocol::refresh(state);
    super::messages::attend(state);
    protocol::selection::focus::attend(state);
    let satellite = super::satellite::attend(state);
    let idle = protocol::idle_notify::attend(state);
    let owed = protocol::owed::next(state);
    // After all that may ask for a frame: what is asked for later is heard of with the next wake-up alone.
    let wake = output::turn::next_wake(state)
        .into_iter()
        .chain(has_more)
        .chain(idle)
        .chain(owed)
        .chain(protocol::output_management::next(state))
        .chain(protocol::output_power::next(state))
        .chain(satellite)
        .chain(repeated)
        .chain(switched)
        .chain(arranges)
        .chain(wishes::next(state))
        .chain(state.shell.overlays().notices().until())
        .chain(state.shell.lock().wake())
        .chain(shot)
        .min();
    // Last: it keeps nobody waiting.
    let goes_on = protocol::estates::go_on(state, wake);
    // What was put off in this turn is done at once in the next.
    let put_off = state.later.is_waiting().then(|| state.clock.now());
    let next = goes_on.into_iter().chain(put_off).chain(wake).min();
    debug_assert!(knows_of_all(state, next), "a frame was asked for after the wake-up was computed");
    next
}

/// Whether outputs want nothing before the wake-up `next`.
fn knows_of_all(state: &mut State, next: Option<Instant>) -> bool {
    output::turn::next_wake(state).is_none_or(|at| next.is_some_and(|next| next <= at))
}
