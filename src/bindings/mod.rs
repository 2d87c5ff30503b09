//! Keyboard shortcuts: a table. `config/default.toml` lists the keys; besides them there are
//!
//! | held | press | does |
//! |---|---|---|
//! | Ctrl+Alt | F1 to F12 | another virtual terminal (on the displays of this machine) |
//! | `Mod` | left button | moves the window under the pointer |
//! | `Mod` | right button | resizes it by the nearest corner |
//!
//! `Mod` is Super; nested in another compositor, which keeps Super for itself, it is Alt.

mod action;
mod chord;

use std::collections::{BTreeMap, BTreeSet};

pub use action::{Action, NoSuchAction};
pub use chord::{Chord, Held, NotAChord, Pressed};
use smithay::input::keyboard::{Keysym, ModifiersState, keysyms};

use crate::shell::workspaces::Number;

/// Linux event code of the left button.
pub const BUTTON_LEFT: u32 = 0x110;
/// Linux event code of the right button.
pub const BUTTON_RIGHT: u32 = 0x111;

/// What a button does with `Mod`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonAction {
    /// Moves the window under the pointer.
    Move,
    /// Resizes it.
    Resize,
}

/// The modifier that `Mod` stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Modifier {
    /// Super, also called Logo or Windows.
    #[default]
    Super,
    /// Alt.
    Alt,
}

impl Modifier {
    /// Its name on keys.
    pub const fn name(self) -> &'static str {
        match self {
            Modifier::Super => "Super",
            Modifier::Alt => "Alt",
        }
    }

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
    /// The keys.
    pub keys: BTreeMap<Chord, Action>,
    /// Those of them that work while the session is locked, too.
    pub when_locked: BTreeSet<Chord>,
    buttons: Vec<(u32, ButtonAction)>,
    /// What `Mod` is.
    pub modifier: Modifier,
}

impl Default for Bindings {
    fn default() -> Self {
        Bindings {
            keys: default_keys(),
            when_locked: BTreeSet::new(),
            buttons: vec![(BUTTON_LEFT, ButtonAction::Move), (BUTTON_RIGHT, ButtonAction::Resize)],
            modifier: Modifier::Super,
        }
    }
}

/// The keys that are bound without a configuration.
pub fn default_keys() -> BTreeMap<Chord, Action> {
    let with = |key: u32| Chord { held: Held { modifier: true, ..Held::default() }, key: Keysym::from(key) };
    let shifted = |chord: Chord| Chord { held: Held { shift: true, ..chord.held }, ..chord };
    let alt = |key: u32| Chord { held: Held { alt: true, ..Held::default() }, key: Keysym::from(key) };
    let mut keys = BTreeMap::from([
        (with(keysyms::KEY_F1), Action::Help),
        (with(keysyms::KEY_Return), Action::Terminal),
        (alt(keysyms::KEY_Tab), Action::NextWindow),
        (shifted(alt(keysyms::KEY_Tab)), Action::PreviousWindow),
        (alt(keysyms::KEY_F4), Action::CloseWindow),
        (with(keysyms::KEY_Up), Action::Maximise),
        (with(keysyms::KEY_f), Action::Fullscreen),
        (with(keysyms::KEY_o), Action::Overview),
        (with(keysyms::KEY_Escape), Action::Shortcuts),
        (with(keysyms::KEY_Page_Down), Action::NextWorkspace),
        (with(keysyms::KEY_Page_Up), Action::PreviousWorkspace),
        (shifted(with(keysyms::KEY_Page_Down)), Action::MoveToNextWorkspace),
        (shifted(with(keysyms::KEY_Page_Up)), Action::MoveToPreviousWorkspace),
        (shifted(with(keysyms::KEY_q)), Action::EndSession),
    ]);
    for (number, digit) in Number::all().zip(keysyms::KEY_1..) {
        keys.insert(with(digit), Action::Workspace(number));
        keys.insert(shifted(with(digit)), Action::MoveToWorkspace(number));
    }
    keys
}

impl Bindings {
    /// What a key does. While the session `is_locked`, only what may: another virtual terminal, and what the user marked.
    pub fn key(&self, pressed: &Pressed<'_>, is_locked: bool) -> Option<Action> {
        // Every keymap has these on Ctrl+Alt+F1 to F12.
        let terminals = keysyms::KEY_XF86Switch_VT_1..=keysyms::KEY_XF86Switch_VT_12;
        if terminals.contains(&pressed.modified.raw()) {
            return Some(Action::SwitchTerminal(pressed.modified.raw() - keysyms::KEY_XF86Switch_VT_1 + 1));
        }
        let mut bound = self.keys.iter().filter(|(chord, _)| !is_locked || self.when_locked.contains(chord));
        let bound = bound.find(|(chord, _)| chord.is(pressed, self.modifier));
        bound.map(|(_, action)| *action).filter(|action| *action != Action::None)
    }

    /// What `Mod` is called.
    pub const fn modifier_name(&self) -> &'static str {
        self.modifier.name()
    }

    /// What `button` does while `held` is held.
    pub fn button(&self, held: &ModifiersState, button: u32) -> Option<ButtonAction> {
        if !self.modifier.is_held(held) {
            return None;
        }
        self.buttons.iter().find(|(bound, _)| *bound == button).map(|(_, action)| *action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(held: &ModifiersState, key: u32) -> Option<Action> {
        let key = Keysym::from(key);
        Bindings::default().key(&Pressed { held, modified: key, plain: &[key] }, false)
    }

    #[test]
    fn a_shortcut_needs_its_modifier() {
        let mut held = ModifiersState::default();
        assert_eq!(pressed(&held, keysyms::KEY_F4), None);
        assert_eq!(Bindings::default().button(&held, BUTTON_LEFT), None);
        held.alt = true;
        assert_eq!(pressed(&held, keysyms::KEY_F4), Some(Action::CloseWindow));
        held.logo = true;
        assert_eq!(Bindings::default().button(&held, BUTTON_RIGHT), Some(ButtonAction::Resize));
    }

    #[test]
    fn the_keymap_says_which_terminal_is_meant() {
        let held = ModifiersState { ctrl: true, alt: true, ..ModifiersState::default() };
        assert_eq!(pressed(&held, keysyms::KEY_XF86Switch_VT_3), Some(Action::SwitchTerminal(3)));
    }

    #[test]
    fn while_the_session_is_locked_only_what_is_marked_works() {
        let held = ModifiersState { logo: true, ..ModifiersState::default() };
        let pressed = |bindings: &Bindings, key: u32, held: &ModifiersState| {
            let key = Keysym::from(key);
            bindings.key(&Pressed { held, modified: key, plain: &[key] }, true)
        };
        let mut bindings = Bindings::default();
        let all = default_keys();
        assert!(all.keys().all(|chord| pressed(&bindings, chord.key.raw(), &held).is_none()));
        bindings.when_locked.insert(*all.iter().find(|(_, action)| **action == Action::Terminal).unwrap().0);
        assert_eq!(pressed(&bindings, keysyms::KEY_Return, &held), Some(Action::Terminal));
        assert_eq!(pressed(&bindings, keysyms::KEY_o, &held), None);
        let terminal = pressed(&bindings, keysyms::KEY_XF86Switch_VT_2, &ModifiersState::default());
        assert_eq!(terminal, Some(Action::SwitchTerminal(2)));
    }

    #[test]
    fn nested_in_another_session_mod_is_alt() {
        let bindings = Bindings { modifier: Modifier::Alt, ..Bindings::default() };
        let held = ModifiersState { alt: true, ..ModifiersState::default() };
        let key = Keysym::from(keysyms::KEY_2);
        let action = bindings.key(&Pressed { held: &held, modified: key, plain: &[key] }, false);
        assert_eq!(action, Some(Action::Workspace(2.try_into().unwrap())));
    }
}
