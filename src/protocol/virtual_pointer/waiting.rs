//! Buttons and wheels of virtual pointers wait while the client with the pointer has no room for them.
//!
//! A program clicks as fast as it likes, and a client that does not read for a moment would be thrown out for it. What
//! waits is done in its order. Motions and wheels that follow each other are one; buttons count as their client's.

use std::collections::VecDeque;
use std::time::Duration;

use smithay::reexports::wayland_server::Client;

use crate::guard::{self, Held, Kind};
use crate::input::{self, InputEvent, Scroll};
use crate::later;
use crate::state::State;

/// Until it is looked again whether there is room.
const LOOK_AGAIN: Duration = Duration::from_millis(16);

/// What waits, of all virtual pointers.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    events: VecDeque<(InputEvent, Option<Held>)>,
    is_watched: bool,
}

fn waiting(state: &mut State) -> &mut Waiting {
    &mut state.protocols.virtual_pointer.waiting
}

/// Does what a virtual pointer of `client` said; `None`: its client is gone.
pub(super) fn pass_on(state: &mut State, client: Option<&Client>, events: Vec<InputEvent>) {
    for event in events {
        // A motion is never too much: only the newest is told to a client that is behind.
        let bears_it = matches!(event, InputEvent::PointerMotion { .. } | InputEvent::PointerPosition { .. })
            || input::has_room_for_buttons(state);
        if bears_it && waiting(state).events.is_empty() {
            input::handle(state, event);
        } else {
            wait(state, client, event);
        }
    }
}

fn wait(state: &mut State, client: Option<&Client>, event: InputEvent) {
    let display = state.display_handle.clone();
    let events = &mut waiting(state).events;
    if !events.back_mut().is_some_and(|(last, _)| joins(last, &event)) {
        let held = client.and_then(|client| guard::hold(&display, client, Kind::WaitingKeys));
        events.push_back((event, held));
    }
    if std::mem::replace(&mut waiting(state).is_watched, true) {
        return;
    }
    let watched = later::after(&state.loop_handle, LOOK_AGAIN, |state| {
        go_on(state);
        let is_left = !waiting(state).events.is_empty();
        waiting(state).is_watched = is_left;
        is_left.then_some(LOOK_AGAIN)
    });
    if let Err(error) = watched {
        tracing::warn!(%error, "clicks of a virtual pointer wait for the next one");
        waiting(state).is_watched = false;
    }
}

/// Does what waits while there is room.
fn go_on(state: &mut State) {
    while input::has_room_for_buttons(state) {
        let Some((event, _)) = waiting(state).events.pop_front() else { return };
        input::handle(state, event);
    }
}

/// Whether `next` is part of `last` from now on.
fn joins(last: &mut InputEvent, next: &InputEvent) -> bool {
    match (last, next) {
        (
            InputEvent::PointerMotion { time, delta, raw },
            InputEvent::PointerMotion { time: at, delta: more, raw: and },
        ) => {
            (*time, *delta, *raw) = (*at, *delta + *more, *raw + *and);
            true
        }
        (
            InputEvent::PointerPosition { time, position },
            InputEvent::PointerPosition { time: at, position: newest },
        ) => {
            (*time, *position) = (*at, *newest);
            true
        }
        (
            InputEvent::Axis { time, source, horizontal, vertical },
            InputEvent::Axis { time: at, source: same, horizontal: across, vertical: down },
        ) if source == same && !horizontal.stop && !vertical.stop => {
            *time = *at;
            add(horizontal, across);
            add(vertical, down);
            true
        }
        _ => false,
    }
}

fn add(scroll: &mut Scroll, more: &Scroll) {
    scroll.distance += more.distance;
    scroll.v120 = match (scroll.v120, more.v120) {
        (Some(steps), Some(others)) => Some(steps.saturating_add(others)),
        (steps, others) => steps.or(others),
    };
    scroll.stop |= more.stop;
}
