//! The work of one turn of the main loop: everything that is due, then the events that tell clients about it.

use crate::shell::{self, lock, notices, strips, wishes};
use crate::state::State;
use crate::{input, later, output, protocol};
use upbeat_timing::time::{Clock as _, Instant};

/// Does everything that is due. Returns when the next work is due; `None` to sleep until an event arrives.
pub fn run(state: &mut State) -> Option<Instant> {
    later::attend(state);
    // Before anything that a panic has left half done is drawn.
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
    // After every call that may ask for a frame: a frame asked for later would only be noticed at the next wake-up.
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
    // Last, because this work may wait: nothing else must be delayed by it.
    let goes_on = protocol::estates::go_on(state, wake);
    // Work that was put off in this turn starts at once in the next.
    let put_off = state.later.is_waiting().then(|| state.clock.now());
    let next = goes_on.into_iter().chain(put_off).chain(wake).min();
    debug_assert!(knows_of_all(state, next), "a frame was asked for after the wake-up was computed");
    next
}

/// Whether no output needs to wake up before `next`.
fn knows_of_all(state: &mut State, next: Option<Instant>) -> bool {
    output::turn::next_wake(state).is_none_or(|at| next.is_some_and(|next| next <= at))
}
