//! The input that has something done: a key, a button of a mouse, its wheel, fingers on a touchpad, a switch of the computer.

use std::fmt;

use smithay::input::keyboard::{Keysym, keysyms, xkb};

/// Linux event code of the left button.
pub const BUTTON_LEFT: u32 = 0x110;
/// Linux event code of the right button.
pub const BUTTON_RIGHT: u32 = 0x111;
const BUTTON_MIDDLE: u32 = 0x112;
/// Those at the side, which go back and forward in browsers (`BTN_SIDE`, `BTN_EXTRA`).
const BUTTON_BACK: u32 = 0x113;
const BUTTON_FORWARD: u32 = 0x114;

/// Every trigger with a name of ours: all but keys.
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

/// What is printed on keys that XKB calls otherwise.
const PRINTED: [(&str, &str); 5] =
    [("Enter", "Return"), ("Esc", "Escape"), ("Del", "Delete"), ("PgUp", "Page_Up"), ("PgDn", "Page_Down")];

/// A key, a button, a turn, a swipe or a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// A key, by what it gives without what is held; a letter is a small one.
    Key(Keysym),
    /// A button of a mouse (Linux event code).
    Button(u32),
    /// A step of a wheel.
    Wheel(Turned),
    /// A swipe on a touchpad, and where the fingers go.
    Swipe(Swiped, Turned),
    /// A switch of the computer.
    Switch(Toggled),
}

/// How many fingers swipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they say it")]
pub enum Swiped {
    Three,
    Four,
}

impl Swiped {
    /// Swipes of so many fingers, if they can have shortcuts.
    pub const fn by(fingers: u32) -> Option<Self> {
        match fingers {
            3 => Some(Swiped::Three),
            4 => Some(Swiped::Four),
            _ => None,
        }
    }
}

/// A switch of the computer changes its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toggled {
    /// The lid is closed.
    LidClose,
    /// The lid is opened.
    LidOpen,
    /// The keyboard is folded away.
    TabletModeOn,
    /// The keyboard is back.
    TabletModeOff,
}

/// Which way a wheel was turned (where what is scrolled by it goes on), or fingers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they say it")]
pub enum Turned {
    Up,
    Down,
    Left,
    Right,
}

/// The names of all triggers but keys, and those that are printed on keys.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name).chain(PRINTED.iter().flat_map(|(printed, name)| [*printed, *name]))
}

impl Trigger {
    /// The trigger of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let known = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some((_, trigger)) = known {
            return Some(*trigger);
        }
        // xkbcommon takes C strings.
        if name.contains('\0') {
            return None;
        }
        let printed = PRINTED.iter().find(|(printed, _)| printed.eq_ignore_ascii_case(name));
        let name = printed.map_or(name, |(_, name)| name);
        let key = xkb::keysym_from_name(name, xkb::KEYSYM_CASE_INSENSITIVE);
        (key.raw() != keysyms::KEY_NoSymbol).then_some(Trigger::Key(key))
    }

    /// Whether nobody could use a mouse any more if this alone did something.
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
        // The names that keyboards have for what XKB calls otherwise.
        let name = match name.as_str() {
            "Next" => "Page_Down",
            "Prior" => "Page_Up",
            name => name,
        };
        // Letters are printed on keys as capitals.
        if name.len() == 1 { f.write_str(&name.to_ascii_uppercase()) } else { f.write_str(name) }
    }
}
