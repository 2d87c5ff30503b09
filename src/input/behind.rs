//! Motion for clients that do not read for a moment: stopped in a debugger, swapped out, busy.
//!
//! A mouse moves a thousand times a second, and what a client has not read fills its socket in half of one; then it would
//! be thrown out. Nobody needs every motion. So while a client is behind nothing is sent to it of motion, and when it has
//! read on it is told where the pointer is, and how far it has moved in all.
//!
//! ```text
//!  moved    ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌
//!  sent     ▌▌▌▌▌▌▌▌                    ▌  one for all, or before the next button
//!  unread   ▁▂▃▄▅▆▇█████████████████▃▁▁▁▁
//! ```

use smithay::input::pointer::{MotionEvent, RelativeMotionEvent};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, SERIAL_COUNTER};

use super::{InputTimes, Timed};
use crate::guard;
use crate::later;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

/// Between two looks whether the client reads on: soon after a moment, seldom for one that is stopped.
const FIRST_LOOK: std::time::Duration = std::time::Duration::from_millis(16);
/// The longest time between two looks.
const LAST_LOOK: std::time::Duration = std::time::Duration::from_secs(1);

/// What the client with the pointer was not told.
#[derive(Debug, Default)]
pub struct Owed {
    /// Where the pointer is.
    position: bool,
    /// How far it has moved, and how far the device says it has.
    relative: Option<(Point<f64, Logical>, Point<f64, Logical>)>,
    /// Somebody looks whether it reads on.
    is_watched: bool,
}

impl Owed {
    fn any(&self) -> bool {
        self.position || self.relative.is_some()
    }
}

/// A surface and where its origin is (global logical coordinates).
type Focus = Option<(WlSurface, Point<f64, Logical>)>;

fn is_behind(surface: Option<&WlSurface>) -> bool {
    let client = surface.and_then(Resource::client);
    client.is_some_and(|client| guard::account(&client).is_some_and(|account| account.is_behind()))
}

/// Who gets the pointer of whom it lies on: nobody rather than one who has no room to hear of it, as something comes and goes
/// above him. He has it when he has read on.
pub(super) fn with_room(state: &State, focus: Focus) -> Focus {
    let before = state.input.pointer.current_focus();
    focus.filter(|(surface, _)| before.as_ref() == Some(surface) || guard::has_room(surface))
}

/// The pointer moves to `position`, on `focus`. Whether nobody is to be told for now.
pub(super) fn holds_position(state: &mut State, focus: &Focus, position: Point<f64, Logical>) -> bool {
    let surface = |focus: &Focus| focus.as_ref().map(|(surface, _)| surface.clone());
    let (picked, before) = (surface(focus), surface(&state.input.pointer_focus));
    let told = state.input.pointer.current_focus();
    if picked != before || !(is_behind(picked.as_ref()) || is_behind(told.as_ref())) {
        state.input.owed.position = false;
        return false;
    }
    state.input.pointer.set_location(position);
    state.input.owed.position = true;
    watch(state);
    true
}

/// The pointer moved by so much. What the client is to be told of that now, with all that it was not told before.
pub(super) fn relative(
    state: &mut State,
    delta: Point<f64, Logical>,
    raw: Point<f64, Logical>,
) -> Option<(Point<f64, Logical>, Point<f64, Logical>)> {
    let (before, before_raw) = state.input.owed.relative.take().unwrap_or_default();
    let sum = (before + delta, before_raw + raw);
    let focus = state.input.pointer_focus.as_ref().map(|(surface, _)| surface);
    if !is_behind(focus) {
        return Some(sum);
    }
    state.input.owed.relative = Some(sum);
    watch(state);
    None
}

/// Whether the client was not told how far the pointer has moved.
pub(super) fn holds_relative(state: &State) -> bool {
    state.input.owed.relative.is_some()
}

/// Something else happens to the client with the pointer: before that it is told where the pointer is.
pub(super) fn pay(state: &mut State, time: Instant) {
    let Owed { position, relative, .. } = &mut state.input.owed;
    let (position, relative) = (std::mem::take(position), relative.take());
    let pointer = state.input.pointer.clone();
    if let Some((delta, delta_unaccel)) = relative {
        let event = RelativeMotionEvent { delta, delta_unaccel, utime: time.as_micros() };
        pointer.relative_motion(state, state.input.pointer_focus.clone(), &event);
    }
    if position {
        let location = pointer.current_location();
        let event = MotionEvent { location, serial: SERIAL_COUNTER.next_serial(), time: time.as_wayland_millis() };
        let focus = state.input.pointer_focus.clone();
        state.tell_time(Timed::Pointer, pointer.current_focus().as_ref(), time);
        pointer.motion(state, focus, &event);
    }
    if position || relative.is_some() {
        pointer.frame(state);
    }
}

/// The pointer is taken away: nobody is told any more.
pub(super) fn forget(state: &mut State) {
    let owed = &mut state.input.owed;
    (owed.position, owed.relative) = (false, None);
}

/// Looks from time to time whether the client reads on.
fn watch(state: &mut State) {
    if std::mem::replace(&mut state.input.owed.is_watched, true) {
        return;
    }
    let mut wait = FIRST_LOOK;
    let watched = later::after(&state.loop_handle, FIRST_LOOK, move |state| {
        let focus = state.input.pointer_focus.as_ref().map(|(surface, _)| surface.clone());
        let told = state.input.pointer.current_focus();
        if state.input.owed.any() && (is_behind(focus.as_ref()) || is_behind(told.as_ref())) {
            wait = (wait * 2).min(LAST_LOOK);
            return Some(wait);
        }
        state.input.owed.is_watched = false;
        let now = state.clock.now();
        pay(state, now);
        None
    });
    if watched.is_err() {
        state.input.owed.is_watched = false;
    }
}
