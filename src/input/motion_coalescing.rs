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

use super::{InputTimes, TimestampedDevice};
use crate::deferred_calls;
use crate::guard;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

/// The first delay between checks whether the client reads on. It doubles, so that a stopped client is checked seldom.
const FIRST_LOOK: std::time::Duration = std::time::Duration::from_millis(16);
/// The longest delay between checks.
const LAST_LOOK: std::time::Duration = std::time::Duration::from_secs(1);

/// Motion that was not sent to the client with the pointer.
#[derive(Debug, Default)]
pub struct UnsentMotion {
    /// The pointer's position was not sent.
    position: bool,
    /// The sum of the unsent relative motion: accelerated, and as the device reports it.
    relative: Option<(Point<f64, Logical>, Point<f64, Logical>)>,
    /// A timer checks whether the client reads on.
    is_watched: bool,
}

impl UnsentMotion {
    fn any(&self) -> bool {
        self.position || self.relative.is_some()
    }
}

/// A surface and its origin (global logical coordinates).
type MotionFocus = Option<(WlSurface, Point<f64, Logical>)>;

fn is_behind(surface: Option<&WlSurface>) -> bool {
    let client = surface.and_then(Resource::client);
    client.is_some_and(|client| guard::account(&client).is_some_and(|account| account.is_behind()))
}

/// Drops a new focus if its client's socket is full: `enter` and `leave` events would overflow it as surfaces come and
/// go under the pointer. The client gets the pointer when it has read on.
pub(super) fn unless_socket_full(state: &State, focus: MotionFocus) -> MotionFocus {
    let before = state.input.pointer.current_focus();
    focus.filter(|(surface, _)| before.as_ref() == Some(surface) || guard::may_send_urgent(surface))
}

/// The pointer moves to `position`, on `focus`. Returns whether the motion is held back.
pub(super) fn hold_position(state: &mut State, focus: &MotionFocus, position: Point<f64, Logical>) -> bool {
    let surface = |focus: &MotionFocus| focus.as_ref().map(|(surface, _)| surface.clone());
    let (picked, before) = (surface(focus), surface(&state.input.pointer_focus));
    let current = state.input.pointer.current_focus();
    if picked != before || !(is_behind(picked.as_ref()) || is_behind(current.as_ref())) {
        state.input.unsent_motion.position = false;
        return false;
    }
    state.input.pointer.set_location(position);
    state.input.unsent_motion.position = true;
    check_later(state);
    true
}

/// Adds a relative motion. Returns the sum to send now; `None` while the client is behind.
pub(super) fn add_relative(
    state: &mut State,
    delta: Point<f64, Logical>,
    raw: Point<f64, Logical>,
) -> Option<(Point<f64, Logical>, Point<f64, Logical>)> {
    let (before, before_raw) = state.input.unsent_motion.relative.take().unwrap_or_default();
    let sum = (before + delta, before_raw + raw);
    let focus = state.input.pointer_focus.as_ref().map(|(surface, _)| surface);
    if !is_behind(focus) {
        return Some(sum);
    }
    state.input.unsent_motion.relative = Some(sum);
    check_later(state);
    None
}

/// Whether relative motion is held back.
pub(super) fn has_held_relative(state: &State) -> bool {
    state.input.unsent_motion.relative.is_some()
}

/// Sends the motion that was held back. Called before the client with the pointer gets any other event.
pub(super) fn flush(state: &mut State, time: Instant) {
    let UnsentMotion { position, relative, .. } = &mut state.input.unsent_motion;
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
        state.send_time(TimestampedDevice::Pointer, pointer.current_focus().as_ref(), time);
        pointer.motion(state, focus, &event);
    }
    if position || relative.is_some() {
        pointer.frame(state);
    }
}

/// The pointer leaves its client: drops the motion that was held back.
pub(super) fn discard(state: &mut State) {
    let unsent = &mut state.input.unsent_motion;
    (unsent.position, unsent.relative) = (false, None);
}

/// Checks from time to time whether the client reads on.
fn check_later(state: &mut State) {
    if std::mem::replace(&mut state.input.unsent_motion.is_watched, true) {
        return;
    }
    let mut wait = FIRST_LOOK;
    let watched = deferred_calls::add_timer(&state.loop_handle, FIRST_LOOK, move |state| {
        let focus = state.input.pointer_focus.as_ref().map(|(surface, _)| surface.clone());
        let current = state.input.pointer.current_focus();
        if state.input.unsent_motion.any() && (is_behind(focus.as_ref()) || is_behind(current.as_ref())) {
            wait = (wait * 2).min(LAST_LOOK);
            return Some(wait);
        }
        state.input.unsent_motion.is_watched = false;
        let now = state.clock.now();
        flush(state, now);
        None
    });
    if watched.is_err() {
        state.input.unsent_motion.is_watched = false;
    }
}
