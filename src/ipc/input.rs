//! Input as it is injected: what a device would report, with names for buttons and keys.

use serde::{Deserialize, Serialize};

use crate::input::{InputEvent as DeviceEvent, KeyboardId, Scroll, ScrollSource};
use crate::time::Instant;

/// Something that a device reports. It takes the same path as a real one's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum InputEvent {
    /// The pointer is at a place in the logical space.
    PointerMove {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
    },
    /// The pointer moves by so many logical pixels.
    PointerMoveBy {
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
    },
    /// A mouse button, by its evdev code (`BTN_LEFT` is 272).
    Button {
        /// The code.
        button: u32,
        /// Down or up.
        pressed: bool,
    },
    /// A wheel, in logical pixels; 15 are one click.
    Scroll {
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
    },
    /// Fingers move on a touchpad and scroll, in logical pixels.
    FingersScroll {
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
    },
    /// Those fingers are lifted.
    FingersLift,
    /// A key, by its evdev code (`KEY_A` is 30).
    Key {
        /// The code.
        key: u32,
        /// Down or up.
        pressed: bool,
    },
    /// A finger lands at a place in the logical space.
    TouchDown {
        /// Which finger.
        finger: u32,
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
    },
    /// A finger moves to a place.
    TouchMove {
        /// Which finger.
        finger: u32,
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
    },
    /// A finger is lifted.
    TouchUp {
        /// Which finger.
        finger: u32,
    },
}

/// One click of a wheel, in logical pixels.
const WHEEL_CLICK: f64 = 15.0;

/// One click of a wheel, in 120ths.
const V120_CLICK: f64 = 120.0;

impl InputEvent {
    /// What a device reports of it when it happens at `time`, to be handled in this order.
    pub fn device_events(self, time: Instant) -> impl Iterator<Item = DeviceEvent> {
        let event = match self {
            InputEvent::PointerMove { x, y } => DeviceEvent::PointerPosition { time, position: (x, y).into() },
            InputEvent::PointerMoveBy { dx, dy } => {
                DeviceEvent::PointerMotion { time, delta: (dx, dy).into(), raw: (dx, dy).into() }
            }
            InputEvent::Button { button, pressed } => DeviceEvent::Button { time, button, pressed },
            InputEvent::Scroll { dx, dy } => {
                let (horizontal, vertical) = (wheel(dx), wheel(dy));
                DeviceEvent::Axis { time, source: ScrollSource::Wheel, horizontal, vertical }
            }
            InputEvent::FingersScroll { dx, dy } => fingers(time, dx, dy, false),
            InputEvent::FingersLift => fingers(time, 0.0, 0.0, true),
            InputEvent::Key { key, pressed } => DeviceEvent::Key { time, keyboard: KeyboardId::Session, key, pressed },
            InputEvent::TouchDown { finger, x, y } => {
                DeviceEvent::TouchDown { time, slot: finger, position: (x, y).into() }
            }
            InputEvent::TouchMove { finger, x, y } => {
                DeviceEvent::TouchMotion { time, slot: finger, position: (x, y).into() }
            }
            InputEvent::TouchUp { finger } => DeviceEvent::TouchUp { time, slot: finger },
        };
        let touches =
            matches!(self, InputEvent::TouchDown { .. } | InputEvent::TouchMove { .. } | InputEvent::TouchUp { .. });
        [Some(event), touches.then_some(DeviceEvent::TouchFrame { time })].into_iter().flatten()
    }
}

/// A wheel turned so far that content moves by `distance` logical pixels.
fn wheel(distance: f64) -> Scroll {
    let clicks = (distance / WHEEL_CLICK * V120_CLICK).round() as i32;
    Scroll { distance, v120: (clicks != 0).then_some(clicks), ..Scroll::default() }
}

/// Fingers that scroll, as libinput reports them: when they are lifted, both axes stop.
fn fingers(time: Instant, dx: f64, dy: f64, stop: bool) -> DeviceEvent {
    let axis = |distance| Scroll { distance, stop, ..Scroll::default() };
    DeviceEvent::Axis { time, source: ScrollSource::Finger, horizontal: axis(dx), vertical: axis(dy) }
}

/// The evdev code of a button called `left`, `right` or `middle`, or given as a number.
pub fn button_code(name: &str) -> Option<u32> {
    const BTN_LEFT: u32 = 0x110;
    match name {
        "left" => Some(BTN_LEFT),
        "right" => Some(BTN_LEFT + 1),
        "middle" => Some(BTN_LEFT + 2),
        "side" => Some(BTN_LEFT + 3),
        "extra" => Some(BTN_LEFT + 4),
        number => number.parse().ok(),
    }
}

/// The keys by rows of the keyboard: the first code of a run of consecutive ones, and their names
/// (linux/input-event-codes.h).
const KEYS: [(u32, &[&str]); 9] = [
    (1, &["escape", "1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "minus", "equal", "backspace"]),
    (15, &["tab", "q", "w", "e", "r", "t", "y", "u", "i", "o", "p", "leftbracket", "rightbracket", "enter"]),
    (29, &["ctrl", "a", "s", "d", "f", "g", "h", "j", "k", "l", "semicolon", "apostrophe", "grave"]),
    (42, &["shift", "backslash", "z", "x", "c", "v", "b", "n", "m", "comma", "dot", "slash", "rightshift"]),
    (56, &["alt", "space", "capslock", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10"]),
    (87, &["f11", "f12"]),
    (99, &["print"]),
    (102, &["home", "up", "pageup", "left", "right", "end", "down", "pagedown", "insert", "delete"]),
    (125, &["super"]),
];

/// What some keyboards have on them instead.
const ALIASES: [(&str, &str); 6] = [
    ("esc", "escape"),
    ("return", "enter"),
    ("control", "ctrl"),
    ("del", "delete"),
    ("pgup", "pageup"),
    ("pgdn", "pagedown"),
];

/// The evdev code of a key called by what is printed on it (`a`, `enter`, `f5`, `super`, `up`), or given as `code:N`.
pub fn key_code(name: &str) -> Option<u32> {
    if let Some(number) = name.strip_prefix("code:") {
        return number.parse().ok();
    }
    // As the configuration has it: Page_Down.
    let name = name.to_ascii_lowercase().replace('_', "");
    let name = ALIASES.iter().find(|(other, _)| *other == name).map_or(name.as_str(), |(_, known)| *known);
    KEYS.iter().find_map(|(first, names)| {
        let at = names.iter().position(|known| *known == name)?;
        Some(first + u32::try_from(at).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finger_ends_each_of_its_events_with_a_frame_and_a_wheel_turns_in_clicks() {
        let time = Instant::from_nanos(7);
        let events: Vec<_> = InputEvent::TouchUp { finger: 2 }.device_events(time).collect();
        assert_eq!(events, [DeviceEvent::TouchUp { time, slot: 2 }, DeviceEvent::TouchFrame { time }]);
        let events: Vec<_> = InputEvent::Scroll { dx: 0.0, dy: -30.0 }.device_events(time).collect();
        let [DeviceEvent::Axis { horizontal, vertical, .. }] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!((horizontal.v120, vertical.v120, vertical.distance), (None, Some(-240), -30.0));
    }

    #[test]
    fn fingers_scroll_without_clicks_and_stop_both_axes_when_they_are_lifted() {
        let time = Instant::from_nanos(7);
        let scrolled = |event: InputEvent| match event.device_events(time).collect::<Vec<_>>().as_slice() {
            [DeviceEvent::Axis { source: ScrollSource::Finger, horizontal, vertical, .. }] => (*horizontal, *vertical),
            other => panic!("{other:?}"),
        };
        let (x, y) = scrolled(InputEvent::FingersScroll { dx: 0.0, dy: 2.5 });
        assert_eq!((x, y), (Scroll::default(), Scroll { distance: 2.5, ..Scroll::default() }));
        let stop = Scroll { stop: true, ..Scroll::default() };
        assert_eq!(scrolled(InputEvent::FingersLift), (stop, stop));
    }

    #[test]
    fn names_stand_for_the_codes_of_the_kernel() {
        let codes = [("escape", 1), ("q", 16), ("enter", 28), ("a", 30), ("z", 44), ("space", 57), ("f10", 68)];
        for (name, code) in codes.into_iter().chain([
            ("f11", 87),
            ("up", 103),
            ("Page_Down", 109),
            ("delete", 111),
            ("super", 125),
            ("Esc", 1),
        ]) {
            assert_eq!(key_code(name), Some(code), "{name}");
        }
        assert_eq!(key_code("code:240"), Some(240));
        assert_eq!(key_code("anykey"), None);
        assert_eq!(button_code("middle"), Some(274));
        assert_eq!(button_code("272"), Some(272));
        assert_eq!(button_code("upper"), None);
    }
}
