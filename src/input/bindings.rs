//! Keyboard shortcuts: a table.
//!
//! | held | press | does |
//! |---|---|---|
//! | Alt | Tab, Shift+Tab | next, previous window, most recently used first |
//! | Alt | F4 | closes the focused window |
//! | Super | Enter | runs the configured terminal |
//! | Super | Shift+Q | ends the session |
//! | Ctrl+Alt | F1 to F12 | another virtual terminal (on the displays of this machine) |
//! | the drag modifier | left button | moves the window under the pointer |
//! | the drag modifier | right button | resizes it by the nearest corner |
//!
//! The drag modifier is Super; nested in another compositor, which keeps Super for itself, it is Alt.

use smithay::input::keyboard::{Keysym, ModifiersState, keysyms};

/// Linux event code of the left button.
pub const BUTTON_LEFT: u32 = 0x110;
/// Linux event code of the right button.
pub const BUTTON_RIGHT: u32 = 0x111;

/// What a shortcut does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Focuses the next window of the switcher, or the previous one.
    SwitchWindow {
        /// The other way round.
        backwards: bool,
    },
    /// Asks the focused window to close.
    CloseWindow,
    /// Runs the configured terminal.
    Terminal,
    /// Ends the session.
    EndSession,
    /// Asks for another virtual terminal.
    SwitchTerminal(u32),
    /// Moves the window under the pointer.
    Move,
    /// Resizes the window under the pointer.
    Resize,
}

/// The modifier that has to be held for a shortcut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Modifier {
    /// Super, also called Logo or Windows.
    #[default]
    Super,
    /// Alt.
    Alt,
}

impl Modifier {
    fn is_held(self, held: &ModifiersState) -> bool {
        match self {
            Modifier::Super => held.logo,
            Modifier::Alt => held.alt,
        }
    }
}

/// What is bound to what.
#[derive(Clone, Debug)]
pub struct Bindings {
    keys: Vec<(Modifier, u32, Action)>,
    buttons: Vec<(u32, Action)>,
    /// Held for the button shortcuts.
    pub drag_modifier: Modifier,
}

impl Default for Bindings {
    fn default() -> Self {
        Bindings {
            keys: vec![
                (Modifier::Alt, keysyms::KEY_Tab, Action::SwitchWindow { backwards: false }),
                (Modifier::Alt, keysyms::KEY_ISO_Left_Tab, Action::SwitchWindow { backwards: true }),
                (Modifier::Alt, keysyms::KEY_F4, Action::CloseWindow),
                (Modifier::Super, keysyms::KEY_Return, Action::Terminal),
                (Modifier::Super, keysyms::KEY_Q, Action::EndSession),
            ],
            buttons: vec![(BUTTON_LEFT, Action::Move), (BUTTON_RIGHT, Action::Resize)],
            drag_modifier: Modifier::Super,
        }
    }
}

impl Bindings {
    /// What `key` does while `held` is held.
    pub fn key(&self, held: &ModifiersState, key: Keysym) -> Option<Action> {
        // Every keymap has these on Ctrl+Alt+F1 to F12.
        if (keysyms::KEY_XF86Switch_VT_1..=keysyms::KEY_XF86Switch_VT_12).contains(&key.raw()) {
            return Some(Action::SwitchTerminal(key.raw() - keysyms::KEY_XF86Switch_VT_1 + 1));
        }
        self.keys
            .iter()
            .find(|(modifier, bound, _)| modifier.is_held(held) && *bound == key.raw())
            .map(|(_, _, action)| *action)
    }

    /// What `button` does while `held` is held.
    pub fn button(&self, held: &ModifiersState, button: u32) -> Option<Action> {
        if !self.drag_modifier.is_held(held) {
            return None;
        }
        self.buttons.iter().find(|(bound, _)| *bound == button).map(|(_, action)| *action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortcut_needs_its_modifier() {
        let bindings = Bindings::default();
        let mut held = ModifiersState::default();
        assert_eq!(bindings.key(&held, Keysym::from(keysyms::KEY_F4)), None);
        assert_eq!(bindings.button(&held, BUTTON_LEFT), None);
        held.alt = true;
        assert_eq!(bindings.key(&held, Keysym::from(keysyms::KEY_F4)), Some(Action::CloseWindow));
        held.logo = true;
        assert_eq!(bindings.button(&held, BUTTON_RIGHT), Some(Action::Resize));
        // A capital Q: with Shift.
        assert_eq!(bindings.key(&held, Keysym::from(keysyms::KEY_q)), None);
        assert_eq!(bindings.key(&held, Keysym::from(keysyms::KEY_Q)), Some(Action::EndSession));
    }

    #[test]
    fn the_keymap_says_which_terminal_is_meant() {
        let key = Keysym::from(keysyms::KEY_XF86Switch_VT_3);
        assert_eq!(Bindings::default().key(&ModifiersState::default(), key), Some(Action::SwitchTerminal(3)));
    }
}
