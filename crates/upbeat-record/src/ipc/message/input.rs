//! Input events that are injected for tests: the reports of a device, with names for buttons and keys.

use serde::{Deserialize, Serialize};

/// An event of an input device. It takes the same path as an event of a real device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum InputEvent {
    /// The pointer moves to a position (global logical coordinates).
    PointerMove {
        /// Logical pixels from the left.
        x: f64,
        /// Logical pixels from the top.
        y: f64,
    },
    /// The pointer moves by this many logical pixels.
    PointerMoveBy {
        /// Logical pixels, positive is right.
        dx: f64,
        /// Logical pixels, positive is down.
        dy: f64,
    },
    /// A mouse button is pressed or released.
    Button {
        /// Its evdev code (`BTN_LEFT` is 272).
        button: u32,
        /// Whether it is pressed.
        pressed: bool,
    },
    /// A wheel scrolls, in logical pixels; 15 are one click.
    Scroll {
        /// Logical pixels, positive is right.
        dx: f64,
        /// Logical pixels, positive is down.
        dy: f64,
    },
    /// Fingers scroll on a touchpad.
    FingersScroll {
        /// Logical pixels, positive is right.
        dx: f64,
        /// Logical pixels, positive is down.
        dy: f64,
    },
    /// The fingers that scroll are lifted.
    FingersLift,
    /// A key is pressed or released.
    Key {
        /// Its evdev code (`KEY_A` is 30).
        key: u32,
        /// Whether it is pressed.
        pressed: bool,
    },
    /// A finger touches a position (global logical coordinates).
    TouchDown {
        /// Number that identifies the finger.
        finger: u32,
        /// Logical pixels from the left.
        x: f64,
        /// Logical pixels from the top.
        y: f64,
    },
    /// A finger moves to a position (global logical coordinates).
    TouchMove {
        /// Number that identifies the finger.
        finger: u32,
        /// Logical pixels from the left.
        x: f64,
        /// Logical pixels from the top.
        y: f64,
    },
    /// A finger is lifted.
    TouchUp {
        /// Number that identifies the finger.
        finger: u32,
    },
    /// A pen comes near a graphics tablet, over a position (global logical coordinates). The first such event also
    /// plugs in the tablet, which covers the whole logical space.
    PenNear {
        /// Logical pixels from the left.
        x: f64,
        /// Logical pixels from the top.
        y: f64,
    },
    /// The pen moves to a position, near the tablet or on it.
    PenMove {
        /// Logical pixels from the left.
        x: f64,
        /// Logical pixels from the top.
        y: f64,
        /// Pressure of its tip, 0 to 1; unchanged if left out.
        #[serde(default)]
        pressure: Option<f64>,
    },
    /// The tip of the pen touches the tablet.
    PenDown {
        /// Logical pixels from the left.
        x: f64,
        /// Logical pixels from the top.
        y: f64,
        /// Pressure of its tip, 0 to 1.
        pressure: f64,
    },
    /// The tip of the pen is lifted.
    PenUp {
        /// Logical pixels from the left.
        x: f64,
        /// Logical pixels from the top.
        y: f64,
    },
    /// The pen leaves the tablet.
    PenAway,
}

/// The evdev code of a button called `left`, `right`, `middle`, `side` or `extra`, or given as a number.
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

/// Keys by rows of the keyboard: the first code of a run of consecutive codes, and the names of its keys
/// (linux/input-event-codes.h).
const KEYS: [(u32, &[&str]); 13] = [
    (1, &["escape", "1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "minus", "equal", "backspace"]),
    (15, &["tab", "q", "w", "e", "r", "t", "y", "u", "i", "o", "p", "leftbracket", "rightbracket", "enter"]),
    (29, &["ctrl", "a", "s", "d", "f", "g", "h", "j", "k", "l", "semicolon", "apostrophe", "grave"]),
    (42, &["shift", "backslash", "z", "x", "c", "v", "b", "n", "m", "comma", "dot", "slash", "rightshift"]),
    (56, &["alt", "space", "capslock", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10"]),
    (87, &["f11", "f12"]),
    (99, &["print"]),
    (102, &["home", "up", "pageup", "left", "right", "end", "down", "pagedown", "insert", "delete"]),
    (113, &["xf86audiomute", "xf86audiolowervolume", "xf86audioraisevolume"]),
    (125, &["super"]),
    (163, &["xf86audionext", "xf86audioplay", "xf86audioprev", "xf86audiostop"]),
    (224, &["xf86monbrightnessdown", "xf86monbrightnessup"]),
    (248, &["xf86audiomicmute"]),
];

/// Other names of keys: as printed on some keyboards, and as in XKB and in the configuration.
const ALIASES: [(&str, &str); 9] = [
    ("bracketleft", "leftbracket"),
    ("bracketright", "rightbracket"),
    ("period", "dot"),
    ("esc", "escape"),
    ("return", "enter"),
    ("control", "ctrl"),
    ("del", "delete"),
    ("pgup", "pageup"),
    ("pgdn", "pagedown"),
];

/// The evdev code of a key with a name as in the configuration (`A`, `Return`, `F5`, `Super`, `Page_Up`), or given as
/// `code:N`.
pub fn key_code(name: &str) -> Option<u32> {
    if let Some(number) = name.strip_prefix("code:") {
        return number.parse().ok();
    }
    // XKB names have underscores, such as Page_Down.
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
    fn names_stand_for_the_codes_of_the_kernel() {
        let codes = [("escape", 1), ("q", 16), ("enter", 28), ("a", 30), ("z", 44), ("space", 57), ("f10", 68)];
        for (name, code) in codes.into_iter().chain([
            ("f11", 87),
            ("up", 103),
            ("Page_Down", 109),
            ("delete", 111),
            ("super", 125),
            ("Esc", 1),
            ("XF86AudioRaiseVolume", 115),
            ("XF86MonBrightnessUp", 225),
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
