//! Converts an X server's keyboard and pointer events to those of other parents. No I/O.
//!
//! X repeats held keys itself: it sends a release and a press of the same key at the same time. Here clients repeat
//! keys on their own, so both are dropped. Therefore a release is held back until the next event is known.

use crate::backend::nested::{ParentEvent, WindowId};
use crate::backend::scroll::{ScrollAxis, ScrollSource};
use upbeat_timing::time::Instant;

/// X key codes start at 8.
const FIRST_KEY: u8 = 8;
const BTN_LEFT: u32 = 0x110;
const BTN_RIGHT: u32 = 0x111;
const BTN_MIDDLE: u32 = 0x112;
const BTN_SIDE: u32 = 0x113;
const BTN_EXTRA: u32 = 0x114;
/// One step of a wheel, in 120ths as `wl_pointer` has it and in pixels as libinput has it.
const STEP_V120: i32 = 120;
const STEP_PIXELS: f64 = 15.0;

/// A released key, unless the next event shows a repeat.
#[derive(Clone, Copy, Debug)]
struct HeldBackRelease {
    key: u8,
    /// The server's time, in milliseconds.
    stamp: u32,
    at: Instant,
}

/// The state of the keyboard.
#[derive(Debug, Default)]
pub(super) struct KeyRepeatFilter {
    released: Option<HeldBackRelease>,
}

impl KeyRepeatFilter {
    /// A key went down. Calls `tell` for each resulting event.
    pub(super) fn press(&mut self, key: u8, stamp: u32, time: Instant, mut tell: impl FnMut(ParentEvent)) {
        if let Some(before) = self.released.take() {
            if (before.key, before.stamp) == (key, stamp) {
                return;
            }
            tell(key_event(before.key, false, before.at));
        }
        tell(key_event(key, true, time));
    }

    /// A key went up, or is repeated.
    pub(super) fn release(&mut self, key: u8, stamp: u32, at: Instant, mut tell: impl FnMut(ParentEvent)) {
        self.flush(&mut tell);
        self.released = Some(HeldBackRelease { key, stamp, at });
    }

    /// No further event has arrived, so a held-back release is final.
    pub(super) fn flush(&mut self, mut tell: impl FnMut(ParentEvent)) {
        if let Some(before) = self.released.take() {
            tell(key_event(before.key, false, before.at));
        }
    }
}

fn key_event(key: u8, pressed: bool, time: Instant) -> ParentEvent {
    ParentEvent::Key { time, key: u32::from(key.saturating_sub(FIRST_KEY)), pressed }
}

/// Converts a button or a step of the wheel; `None` for unknown buttons.
pub(super) fn button(button: u8, pressed: bool, time: Instant) -> Option<ParentEvent> {
    let code = match button {
        1 => BTN_LEFT,
        2 => BTN_MIDDLE,
        3 => BTN_RIGHT,
        4..=7 => return pressed.then(|| wheel(button, time)),
        8 => BTN_SIDE,
        9 => BTN_EXTRA,
        _ => return None,
    };
    Some(ParentEvent::Button { time, button: code, pressed })
}

/// Buttons 4 to 7: up, down, left, right.
fn wheel(button: u8, time: Instant) -> ParentEvent {
    let sign = if matches!(button, 4 | 6) { -1 } else { 1 };
    let step =
        ScrollAxis { distance: f64::from(sign) * STEP_PIXELS, v120: Some(sign * STEP_V120), ..ScrollAxis::default() };
    let (horizontal, vertical) =
        if button >= 6 { (step, ScrollAxis::default()) } else { (ScrollAxis::default(), step) };
    ParentEvent::Axis { time, source: ScrollSource::Wheel, horizontal, vertical }
}

/// Converts a pointer position in pixels of the window.
pub(super) fn moved(window: WindowId, x: i16, y: i16, time: Instant) -> ParentEvent {
    ParentEvent::PointerMoved { time, window, x: f64::from(x), y: f64::from(y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key events that result from presses (`true`) and releases, each with its server time.
    fn key_events(events: &[(u8, bool, u32)]) -> Vec<(u32, bool)> {
        let (mut filter, mut key_events) = (KeyRepeatFilter::default(), Vec::new());
        let mut tell = |event: ParentEvent| {
            if let ParentEvent::Key { key, pressed, .. } = event {
                key_events.push((key, pressed));
            }
        };
        for (key, pressed, stamp) in events {
            match pressed {
                true => filter.press(*key, *stamp, Instant::ZERO, &mut tell),
                false => filter.release(*key, *stamp, Instant::ZERO, &mut tell),
            }
        }
        filter.flush(&mut tell);
        key_events
    }

    #[test]
    fn a_held_key_is_pressed_once_however_often_the_server_repeats_it() {
        let repeated = [(38, true, 10), (38, false, 400), (38, true, 400), (38, false, 430), (38, true, 430)];
        assert_eq!(key_events(&repeated), [(30, true)]);
        assert_eq!(key_events(&[&repeated[..], &[(38, false, 500)]].concat()), [(30, true), (30, false)]);
    }

    #[test]
    fn two_keys_in_the_same_millisecond_are_two_keys() {
        let events = [(38, true, 10), (38, false, 20), (39, true, 20), (39, false, 20)];
        assert_eq!(key_events(&events), [(30, true), (30, false), (31, true), (31, false)]);
    }

    #[test]
    fn the_wheel_has_steps_and_no_releases() {
        let Some(ParentEvent::Axis { vertical, horizontal, .. }) = button(5, true, Instant::ZERO) else { panic!() };
        assert_eq!((vertical.v120, horizontal.v120), (Some(120), None));
        assert!(button(5, false, Instant::ZERO).is_none());
        assert!(matches!(button(3, false, Instant::ZERO), Some(ParentEvent::Button { button: BTN_RIGHT, .. })));
    }
}
