//! What follows every wake-up: all that is due, and then the news of it for clients that watch.

use crate::shell::{lock, notices};
use crate::state::State;
use crate::time::Instant;
use crate::{output, protocol};

/// Does everything that is due. Returns when the next thing is; `None` to sleep until something happens.
pub fn run(state: &mut State) -> Option<Instant> {
    // Before anything is drawn of it.
    protocol::sweep::after_a_bug(state);
    protocol::estates::attend(state);
    lock::attend(state);
    notices::attend(state);
    let wake = output::turn::run(state);
    protocol::refresh(state);
    let satellite = super::satellite::attend(state);
    let idle = protocol::idle_notify::attend(state);
    let wake = wake
        .into_iter()
        .chain(idle)
        .chain(satellite)
        .chain(state.shell.overlays.notices.until())
        .chain(state.shell.lock.wake())
        .min();
    // Last: it keeps nobody waiting.
    protocol::estates::go_on(state, wake).into_iter().chain(wake).min()
}
