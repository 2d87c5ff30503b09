//! Input that can trigger a shortcut: a key, a mouse button, the wheel, a touchpad swipe, a switch of the computer.

use std::fmt;

use smithay::input::keyboard::{Keysym, keysyms, xkb};

/// Linux event code of the left button.
pub const BUTTON_LEFT: u32 = 0x110;
/// Linux event code of the right button.
pub const BUTTON_RIGHT: u32 = 0x111;
const BUTTON_MIDDLE: u32 = 0x112;
/// Side buttons, which go back and forward in browsers (`BTN_SIDE`, `BTN_EXTRA`).
const BUTTON_BACK: u32 = 0x113;
const BUTTON_FORWARD: u32 = 0x114;

/// Names of all triggers that are not keys. Keys have the names of XKB.
const NAMED: [(&str, Trigger); 21] = [
    ("MouseLeft", Trigger::Button(BUTTON_LEFT)),
    ("MouseMiddle", Trigger::Button(BUTTON_MIDDLE)),
    ("MouseRight", Trigger::Button(BUTTON_RIGHT)),
    ("MouseBack", Trigger::Button(BUTTON_BACK)),
    ("MouseForward", Trigger::Button(BUTTON_FORWARD)),
    ("WheelUp", Trigger::Wheel(Turned::Up)),
    ("WheelDown", Trigger::Wheel(Turned::Down)),
    ("WheelLeft", Trigger::Wheel(Turned::Left)),
    ("WheelRight", Trigger::Wheel(Turned::Right)),
    ("Swipe3Up", Trigger::Swipe(Swiped::Three, Turned::Up)),
    ("Swipe3Down", Trigger::Swipe(Swiped::Three, Turned::Down)),
    ("Swipe3Left", Trigger::Swipe(Swiped::Three, Turned::Left)),
    ("Swipe3Right", Trigger::Swipe(Swiped::Three, Turned::Right)),
    ("Swipe4Up", Trigger::Swipe(Swiped::Four, Turned::Up)),
    ("Swipe4Down", Trigger::Swipe(Swiped::Four, Turned::Down)),
    ("Swipe4Left", Trigger::Swipe(Swiped::Four, Turned::Left)),
    ("Swipe4Right", Trigger::Swipe(Swiped::Four, Turned::Right)),
    ("LidClose", Trigger::Switch(Toggled::LidClose)),
    ("LidOpen", Trigger::Switch(Toggled::LidOpen)),
    ("TabletModeOn", Trigger::Switch(Toggled::TabletModeOn)),
    ("TabletModeOff", Trigger::Switch(Toggled::TabletModeOff)),
];

/// Names that are printed on keys, with the names that XKB has for them.
const PRINTED: [(&str, &str); 5] =
    [("Enter", "Return"), ("Esc", "Escape"), ("Del", "Delete"), ("PgUp", "Page_Up"), ("PgDn", "Page_Down")];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// Keysym without modifiers; letters are lower case.
    Key(Keysym),
    /// A button of a mouse (Linux event code).
    Button(u32),
    /// A step of a wheel.
    Wheel(Turned),
    /// A swipe on a touchpad, and the direction of the fingers.
    Swipe(Swiped, Turned),
    /// A switch of the computer, such as its lid.
    Switch(Toggled),
}

/// Number of fingers of a swipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Swiped {
    Three,
    Four,
}

impl Swiped {
    /// `None` for numbers of fingers that cannot have shortcuts.
    pub const fn by(fingers: u32) -> Option<Self> {
        match fingers {
            3 => Some(Swiped::Three),
            4 => Some(Swiped::Four),
            _ => None,
        }
    }
}

/// New state of a switch of the computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toggled {
    LidClose,
    LidOpen,
    /// The keyboard is folded away.
    TabletModeOn,
    /// The keyboard is back.
    TabletModeOff,
}

/// Scroll direction of a wheel (of the view, not of the content), or direction of the fingers of a swipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turned {
    Up,
    Down,
    Left,
    Right,
}

/// Names of all triggers that are not keys, and names printed on keys.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name).chain(PRINTED.iter().flat_map(|(printed, name)| [*printed, *name]))
}

impl Trigger {
    /// Looks up a trigger by its name, ignoring case.
    pub(super) fn named(name: &str) -> Option<Self> {
        let known = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some((_, trigger)) = known {
            return Some(*trigger);
        }
        // xkbcommon takes C strings, which cannot contain NUL.
        if name.contains('\0') {
            return None;
        }
        let printed = PRINTED.iter().find(|(printed, _)| printed.eq_ignore_ascii_case(name));
        let name = printed.map_or(name, |(_, name)| name);
        let key = xkb::keysym_from_name(name, xkb::KEYSYM_CASE_INSENSITIVE);
        (key.raw() != keysyms::KEY_NoSymbol).then_some(Trigger::Key(key))
    }

    /// Whether a shortcut of this trigger alone, without a modifier, would make the mouse unusable.
    pub(super) const fn needs_something_held(self) -> bool {
        matches!(self, Trigger::Wheel(_) | Trigger::Button(BUTTON_LEFT | BUTTON_MIDDLE | BUTTON_RIGHT))
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trigger::Key(key) = self else {
            let known = NAMED.iter().find(|(_, known)| known == self);
            return f.write_str(known.map_or("", |(name, _)| name));
        };
        let name = xkb::keysym_get_name(*key);
        // Print the names that keyboards have where XKB has other names.
        let name = match name.as_str() {
            "Next" => "Page_Down",
            "Prior" => "Page_Up",
            name => name,
        };
        // Letters are printed on keys as capitals.
        if name.len() == 1 { f.write_str(&name.to_ascii_uppercase()) } else { f.write_str(name) }
    }
}
