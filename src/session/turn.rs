//! The work of one turn of the main loop: everything that is due, then the events that tell clients about it.

use crate::shell::{self, lock, notices, tiling, window_rules, workspace_indicator};
use crate::state::State;
use crate::{deferred_calls, input, output, protocol};
use upbeat_timing::time::{Clock as _, Instant};

/// Does everything that is due. Returns when the next work is due; `None` to sleep until an event arrives.
pub fn run(state: &mut State) -> Option<Instant> {
    deferred_calls::run_queued(state);
    // Before anything that a panic has left half done is drawn.
    protocol::panic_cleanup::clean_up_after_panic(state);
    protocol::deferred_destroy::begin_turn(state);
    protocol::postponed_retry::retry_if_due(state);
    protocol::output_management::apply_due(state);
    protocol::output_power::apply_due(state);
    super::rotation::update(state);
    shell::update_trees(state);
    lock::check_time_limit(state);
    notices::update(state);
    workspace_indicator::update(state);
    let repeated = input::shortcut_repeat::repeat_if_due(state);
    let switched = input::window_switcher::show_if_due(state);
    window_rules::apply_changed_rules(state);
    let arranges = tiling::arrange_in_time(state);
    output::scene::titles::update(state);
    let has_more = output::loop_turn::run(state).then(|| state.clock.now());
    let shot = super::screenshots::update(state);
    protocol::refresh(state);
    super::private_socket::send_events(state);
    protocol::selection::focus::send_pending(state);
    let satellite = super::satellite::update(state);
    let idle = protocol::idle_notify::send_due(state);
    let retry = protocol::postponed_retry::next_retry(state);
    // After every call that may ask for a frame: a frame asked for later would only be noticed at the next wake-up.
    let wake = output::loop_turn::next_wake(state)
        .into_iter()
        .chain(has_more)
        .chain(idle)
        .chain(retry)
        .chain(protocol::output_management::next_due(state))
        .chain(protocol::output_power::next_due(state))
        .chain(satellite)
        .chain(repeated)
        .chain(switched)
        .chain(arranges)
        .chain(window_rules::next_wake(state))
        .chain(state.shell.overlays().notices().until())
        .chain(state.shell.overlays().indicators().until())
        .chain(state.shell.lock().wake())
        .chain(shot)
        .min();
    // Last, because this work may wait: nothing else must be delayed by it.
    let goes_on = protocol::deferred_destroy::run_slice(state, wake);
    // Work that was put off in this turn starts at once in the next.
    let is_put_off = input::take_late_events(state) || state.deferred_calls.is_waiting();
    let put_off = is_put_off.then(|| state.clock.now());
    let next = goes_on.into_iter().chain(put_off).chain(wake).min();
    debug_assert!(covers_output_wakes(state, next), "a frame was asked for after the wake-up was computed");
    next
}

/// Whether no output needs to wake up before `next`.
fn covers_output_wakes(state: &mut State, next: Option<Instant>) -> bool {
    output::loop_turn::next_wake(state).is_none_or(|at| next.is_some_and(|next| next <= at))
}
