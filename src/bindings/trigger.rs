//! Input that can trigger a shortcut: a key, a mouse button, the wheel, a touchpad swipe, a switch of the computer.

use std::fmt;

use smithay::input::keyboard::{Keysym, keysyms, xkb};

/// Linux event code of the left button.
pub const BUTTON_LEFT: u32 = 0x110;
/// Linux event code of the right button.
pub const BUTTON_RIGHT: u32 = 0x111;
/// Linux event code of the middle button.
pub const BUTTON_MIDDLE: u32 = 0x112;
/// Side buttons, which go back and forward in browsers (`BTN_SIDE`, `BTN_EXTRA`).
const BUTTON_BACK: u32 = 0x113;
const BUTTON_FORWARD: u32 = 0x114;

/// Names of all triggers that are not keys. Keys have the names of XKB.
const NAMED: [(&str, ShortcutTrigger); 21] = [
    ("MouseLeft", ShortcutTrigger::Button(BUTTON_LEFT)),
    ("MouseMiddle", ShortcutTrigger::Button(BUTTON_MIDDLE)),
    ("MouseRight", ShortcutTrigger::Button(BUTTON_RIGHT)),
    ("MouseBack", ShortcutTrigger::Button(BUTTON_BACK)),
    ("MouseForward", ShortcutTrigger::Button(BUTTON_FORWARD)),
    ("WheelUp", ShortcutTrigger::Wheel(TriggerDirection::Up)),
    ("WheelDown", ShortcutTrigger::Wheel(TriggerDirection::Down)),
    ("WheelLeft", ShortcutTrigger::Wheel(TriggerDirection::Left)),
    ("WheelRight", ShortcutTrigger::Wheel(TriggerDirection::Right)),
    ("Swipe3Up", ShortcutTrigger::Swipe(SwipeFingers::Three, TriggerDirection::Up)),
    ("Swipe3Down", ShortcutTrigger::Swipe(SwipeFingers::Three, TriggerDirection::Down)),
    ("Swipe3Left", ShortcutTrigger::Swipe(SwipeFingers::Three, TriggerDirection::Left)),
    ("Swipe3Right", ShortcutTrigger::Swipe(SwipeFingers::Three, TriggerDirection::Right)),
    ("Swipe4Up", ShortcutTrigger::Swipe(SwipeFingers::Four, TriggerDirection::Up)),
    ("Swipe4Down", ShortcutTrigger::Swipe(SwipeFingers::Four, TriggerDirection::Down)),
    ("Swipe4Left", ShortcutTrigger::Swipe(SwipeFingers::Four, TriggerDirection::Left)),
    ("Swipe4Right", ShortcutTrigger::Swipe(SwipeFingers::Four, TriggerDirection::Right)),
    ("LidClose", ShortcutTrigger::Switch(SwitchChange::LidClose)),
    ("LidOpen", ShortcutTrigger::Switch(SwitchChange::LidOpen)),
    ("TabletModeOn", ShortcutTrigger::Switch(SwitchChange::TabletModeOn)),
    ("TabletModeOff", ShortcutTrigger::Switch(SwitchChange::TabletModeOff)),
];

/// Names that are printed on keys, with the names that XKB has for them.
const PRINTED: [(&str, &str); 5] =
    [("Enter", "Return"), ("Esc", "Escape"), ("Del", "Delete"), ("PgUp", "Page_Up"), ("PgDn", "Page_Down")];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShortcutTrigger {
    /// Keysym without modifiers; letters are lower case.
    Key(Keysym),
    /// A button of a mouse (Linux event code).
    Button(u32),
    /// A step of a wheel.
    Wheel(TriggerDirection),
    /// A swipe on a touchpad, and the direction of the fingers.
    Swipe(SwipeFingers, TriggerDirection),
    /// A switch of the computer, such as its lid.
    Switch(SwitchChange),
}

/// Number of fingers of a swipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwipeFingers {
    Three,
    Four,
}

impl SwipeFingers {
    /// `None` for numbers of fingers that cannot have shortcuts.
    pub const fn by(fingers: u32) -> Option<Self> {
        match fingers {
            3 => Some(SwipeFingers::Three),
            4 => Some(SwipeFingers::Four),
            _ => None,
        }
    }
}

/// New state of a switch of the computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchChange {
    LidClose,
    LidOpen,
    /// The keyboard is folded away.
    TabletModeOn,
    /// The keyboard is back.
    TabletModeOff,
}

/// Scroll direction of a wheel (of the view, not of the content), or direction of the fingers of a swipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriggerDirection {
    Up,
    Down,
    Left,
    Right,
}

/// Names of all triggers that are not keys, and names printed on keys.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name).chain(PRINTED.iter().flat_map(|(printed, name)| [*printed, *name]))
}

impl ShortcutTrigger {
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
        (key.raw() != keysyms::KEY_NoSymbol).then_some(ShortcutTrigger::Key(key))
    }

    /// Whether a shortcut of this trigger alone, without a modifier, would make the mouse unusable.
    pub(super) const fn needs_something_held(self) -> bool {
        matches!(self, ShortcutTrigger::Wheel(_) | ShortcutTrigger::Button(BUTTON_LEFT | BUTTON_MIDDLE | BUTTON_RIGHT))
    }
}

impl fmt::Display for ShortcutTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShortcutTrigger::Key(key) = self else {
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
