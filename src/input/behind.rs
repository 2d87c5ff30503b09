//! Coalesces pointer motion for a client that does not read its events for a moment: stopped in a debugger, swapped
//! out, busy.
//!
//! A mouse reports a thousand times a second, and unread events fill a client's socket in half a second; then the
//! client would be disconnected. A client does not need every motion event. So no motion is sent while a client is
//! behind. When it has read on, it gets the pointer's position and the sum of the relative motion.
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

/// The first delay between checks whether the client reads on. It doubles, so that a stopped client is checked seldom.
const FIRST_LOOK: std::time::Duration = std::time::Duration::from_millis(16);
/// The longest delay between checks.
const LAST_LOOK: std::time::Duration = std::time::Duration::from_secs(1);

/// Motion that was not sent to the client with the pointer.
#[derive(Debug, Default)]
pub struct Owed {
    /// The pointer's position was not sent.
    position: bool,
    /// The sum of the unsent relative motion: accelerated, and as the device reports it.
    relative: Option<(Point<f64, Logical>, Point<f64, Logical>)>,
    /// A timer checks whether the client reads on.
    is_watched: bool,
}

impl Owed {
    fn any(&self) -> bool {
        self.position || self.relative.is_some()
    }
}

/// A surface and its origin (global logical coordinates).
type Focus = Option<(WlSurface, Point<f64, Logical>)>;

fn is_behind(surface: Option<&WlSurface>) -> bool {
    let client = surface.and_then(Resource::client);
    client.is_some_and(|client| guard::account(&client).is_some_and(|account| account.is_behind()))
}

/// Drops a new focus if its client's socket is full: `enter` and `leave` events would overflow it as surfaces come and
/// go under the pointer. The client gets the pointer when it has read on.
pub(super) fn with_room(state: &State, focus: Focus) -> Focus {
    let before = state.input.pointer.current_focus();
    focus.filter(|(surface, _)| before.as_ref() == Some(surface) || guard::has_room(surface))
}

/// The pointer moves to `position`, on `focus`. Returns whether the motion is held back.
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

/// Adds a relative motion. Returns the sum to send now; `None` while the client is behind.
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

/// Whether relative motion is held back.
pub(super) fn holds_relative(state: &State) -> bool {
    state.input.owed.relative.is_some()
}

/// Sends the motion that was held back. Called before the client with the pointer gets any other event.
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

/// The pointer leaves its client: drops the motion that was held back.
pub(super) fn forget(state: &mut State) {
    let owed = &mut state.input.owed;
    (owed.position, owed.relative) = (false, None);
}

/// Checks from time to time whether the client reads on.
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
