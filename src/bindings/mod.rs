//! Keyboard shortcuts, and shortcuts of buttons, the wheel, swipes and switches. `config/default.toml` lists the
//! default shortcuts. Besides them, Ctrl+Alt+F1 to F12 switch to another virtual terminal if we run on this machine's
//! displays.
//!
//! `Mod` is Super. Nested in another compositor, which keeps Super for itself, `Mod` is Alt.

mod action;
mod chord;
mod command_line;
mod defaults;
mod suggestions;
mod trigger;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

pub use action::{ParseActionError, ScreenshotOf, ShortcutAction};
pub use chord::{Chord, HeldModifiers, ParseChordError, PressedKey};
pub use command_line::{CommandLine, ParseCommandLineError};
pub use defaults::default_keys;
use smithay::input::keyboard::{Keysym, ModifiersState, keysyms};
pub use trigger::{
    BUTTON_LEFT, BUTTON_MIDDLE, BUTTON_RIGHT, ShortcutTrigger, SwipeFingers, SwitchChange, TriggerDirection,
};

/// The modifier that `Mod` stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Modifier {
    /// Super, also called Logo or Windows.
    #[default]
    Super,
    Alt,
}

impl Modifier {
    /// Name that is printed on keys.
    pub const fn name(self) -> &'static str {
        match self {
            Modifier::Super => "Super",
            Modifier::Alt => "Alt",
        }
    }
}

/// The action of a shortcut, and when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub action: ShortcutAction,
    /// The action repeats while the key is held.
    pub repeats: bool,
    /// The action also runs while the session is locked.
    pub when_locked: bool,
    /// The action also runs while a window inhibits shortcuts.
    pub when_inhibited: bool,
    /// The user's own description of the action.
    pub about: Option<Arc<str>>,
}

impl From<ShortcutAction> for Binding {
    fn from(action: ShortcutAction) -> Self {
        Binding { action, repeats: false, when_locked: false, when_inhibited: false, about: None }
    }
}

impl Binding {
    /// Description for the list of shortcuts.
    pub fn description(&self) -> String {
        self.about.as_deref().map_or_else(|| self.action.description(), ToOwned::to_owned)
    }
}

/// The bindings of [`default_keys`]. Bindings of the configuration override them.
static DEFAULTS: LazyLock<BTreeMap<Chord, Binding>> = LazyLock::new(default_keys);

/// All shortcuts in use.
#[derive(Clone, Debug)]
pub struct Bindings {
    /// Shortcuts of keys and of all other triggers.
    pub keys: BTreeMap<Chord, Binding>,
    /// Further chords that also work while the session is locked.
    pub when_locked: BTreeSet<Chord>,
    /// The modifier that `Mod` stands for.
    pub modifier: Modifier,
    /// Maps the keysym of a key without Shift to its keysym with Shift, for the session's keyboards.
    pub shifted: BTreeMap<Keysym, Keysym>,
}

impl Default for Bindings {
    fn default() -> Self {
        let (when_locked, shifted) = (BTreeSet::new(), BTreeMap::new());
        Bindings { keys: default_keys(), when_locked, modifier: Modifier::Super, shifted }
    }
}

impl Bindings {
    /// The binding of a key. While the session `is_locked`, only VT switches and the bindings marked by the user count.
    pub fn binding_of_key(&self, pressed: &PressedKey<'_>, is_locked: bool) -> Option<Binding> {
        // Every keymap has these keysyms on Ctrl+Alt+F1 to F12.
        let terminals = keysyms::KEY_XF86Switch_VT_1..=keysyms::KEY_XF86Switch_VT_12;
        if terminals.contains(&pressed.modified.raw()) {
            let number = pressed.modified.raw() - keysyms::KEY_XF86Switch_VT_1 + 1;
            return Some(ShortcutAction::SwitchTerminal(number).into());
        }
        self.find(is_locked, |chord| chord.matches_key(pressed, self.modifier))
    }

    /// The binding of a button, a step of the wheel, a swipe or a switch while `held` is held.
    pub fn binding_of_trigger(
        &self,
        held: &ModifiersState,
        trigger: ShortcutTrigger,
        is_locked: bool,
    ) -> Option<Binding> {
        self.find(is_locked, |chord| chord.matches_trigger(held, trigger, self.modifier))
    }

    /// The bindings that can be triggered. A binding of the configuration overrides a default binding of the same keys,
    /// even if it is written in another way: `Mod+Alt+L` overrides `Super+Alt+L` where `Mod` is Super, and `Mod+exclam`
    /// overrides `Mod+Shift+1` where Shift+1 gives an exclamation mark.
    pub fn effective(&self) -> impl Iterator<Item = (&Chord, &Binding)> {
        let own = self.keys.iter().filter(|(chord, bound)| !is_default(chord, bound));
        let own: BTreeSet<Chord> = own.map(|(chord, _)| chord.resolve_mod(self.modifier)).collect();
        let gives_way = move |chord: &Chord| {
            let chord = chord.resolve_mod(self.modifier);
            own.contains(&chord) || self.as_symbol(chord).is_some_and(|symbol| own.contains(&symbol))
        };
        self.keys.iter().filter(move |(chord, bound)| !is_default(chord, bound) || !gives_way(chord))
    }

    /// The same chord, named by the keysym that its key has with Shift.
    fn as_symbol(&self, Chord { mut held, trigger }: Chord) -> Option<Chord> {
        let ShortcutTrigger::Key(key) = trigger else { return None };
        let symbol = self.shifted.get(&key).filter(|_| held.shift)?;
        held.shift = false;
        Some(Chord { held, trigger: ShortcutTrigger::Key(*symbol) })
    }

    fn find(&self, is_locked: bool, is_it: impl Fn(&Chord) -> bool) -> Option<Binding> {
        let matching = || self.keys.iter().filter(|(chord, _)| is_it(chord));
        let has_own = matching().any(|(chord, bound)| !is_default(chord, bound));
        let preferred = matching().filter(|(chord, bound)| !has_own || !is_default(chord, bound));
        let may = preferred.filter_map(|(chord, bound)| {
            let when_locked = bound.when_locked || self.is_listed_when_locked(chord);
            (!is_locked || when_locked).then_some((bound, when_locked))
        });
        let (bound, when_locked) = may.into_iter().next()?;
        (bound.action != ShortcutAction::None).then(|| Binding { when_locked, ..bound.clone() })
    }

    fn is_listed_when_locked(&self, chord: &Chord) -> bool {
        let chord = chord.resolve_mod(self.modifier);
        self.when_locked.iter().any(|listed| listed.resolve_mod(self.modifier) == chord)
    }
}

/// Whether this is a default binding that the configuration has not changed.
fn is_default(chord: &Chord, bound: &Binding) -> bool {
    DEFAULTS.get(chord) == Some(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(held: &ModifiersState, key: u32) -> Option<ShortcutAction> {
        let key = Keysym::from(key);
        let bound = Bindings::default().binding_of_key(&PressedKey { held, modified: key, plain: &[key] }, false);
        bound.map(|bound| bound.action)
    }

    #[test]
    fn a_shortcut_needs_its_modifier() {
        let mut held = ModifiersState::default();
        assert_eq!(pressed(&held, keysyms::KEY_F4), None);
        let press = |held: &ModifiersState, button| {
            Bindings::default()
                .binding_of_trigger(held, ShortcutTrigger::Button(button), false)
                .map(|bound| bound.action)
        };
        assert_eq!(press(&held, BUTTON_LEFT), None);
        held.alt = true;
        assert_eq!(pressed(&held, keysyms::KEY_F4), Some(ShortcutAction::CloseWindow));
        (held.logo, held.alt) = (true, false);
        assert_eq!(press(&held, BUTTON_RIGHT), Some(ShortcutAction::ResizeWithPointer));
        assert_eq!(press(&held, BUTTON_LEFT), Some(ShortcutAction::MoveWithPointer));
    }

    #[test]
    fn the_keymap_says_which_terminal_is_meant() {
        let held = ModifiersState { ctrl: true, alt: true, ..ModifiersState::default() };
        assert_eq!(pressed(&held, keysyms::KEY_XF86Switch_VT_3), Some(ShortcutAction::SwitchTerminal(3)));
    }

    #[test]
    fn only_marked_bindings_work_while_locked() {
        let held = ModifiersState { logo: true, ..ModifiersState::default() };
        let pressed = |bindings: &Bindings, key: u32, held: &ModifiersState| {
            let key = Keysym::from(key);
            bindings.binding_of_key(&PressedKey { held, modified: key, plain: &[key] }, true).map(|bound| bound.action)
        };
        let mut bindings = Bindings::default();
        let all = default_keys();
        // The keys for volume, brightness and media players work: they reveal nothing of the session.
        let may = |bound: &Binding| matches!(bound.action, ShortcutAction::Run(_)) && bound.when_locked;
        let others = all.iter().filter(|(_, bound)| !may(bound));
        assert!(others.into_iter().all(|(chord, _)| match chord.trigger {
            ShortcutTrigger::Key(key) => pressed(&bindings, key.raw(), &held).is_none(),
            other => bindings.binding_of_trigger(&held, other, true).is_none(),
        }));
        bindings.when_locked.insert(*all.iter().find(|(_, bound)| bound.action == ShortcutAction::Terminal).unwrap().0);
        assert_eq!(pressed(&bindings, keysyms::KEY_Return, &held), Some(ShortcutAction::Terminal));
        assert_eq!(pressed(&bindings, keysyms::KEY_o, &held), None);
        let terminal = pressed(&bindings, keysyms::KEY_XF86Switch_VT_2, &ModifiersState::default());
        assert_eq!(terminal, Some(ShortcutAction::SwitchTerminal(2)));
    }

    #[test]
    fn configured_binding_wins_over_a_default_for_the_same_keys() {
        let held = ModifiersState { logo: true, alt: true, ..ModifiersState::default() };
        let key = Keysym::from(keysyms::KEY_l);
        let pressed = PressedKey { held: &held, modified: key, plain: &[key] };
        let mut bindings = Bindings::default();
        let action =
            |bindings: &Bindings, is_locked| bindings.binding_of_key(&pressed, is_locked).map(|bound| bound.action);
        assert_eq!(action(&bindings, false), Some(ShortcutAction::Run("swaylock -f".parse().unwrap())));
        let chord: Chord = "Mod+Alt+L".parse().unwrap();
        bindings.keys.insert(chord, ShortcutAction::Overview.into());
        assert_eq!(action(&bindings, false), Some(ShortcutAction::Overview));
        assert!(
            bindings.effective().all(|(_, bound)| bound.action != ShortcutAction::Run("swaylock -f".parse().unwrap()))
        );
        bindings.when_locked.insert("Super+Alt+L".parse().unwrap());
        assert_eq!(action(&bindings, true), Some(ShortcutAction::Overview));
        bindings.keys.insert(chord, ShortcutAction::None.into());
        assert_eq!(action(&bindings, false), None, "\"none\" takes the default away, however it is written");
        // Nested, `Mod` is another key, so the default is not overridden.
        bindings.modifier = Modifier::Alt;
        assert_eq!(action(&bindings, false), Some(ShortcutAction::Run("swaylock -f".parse().unwrap())));
    }

    #[test]
    fn symbol_of_the_user_wins_over_the_default_of_the_key_that_gives_it() {
        let held = ModifiersState { logo: true, shift: true, ..ModifiersState::default() };
        let (plain, modified) = ([Keysym::from(keysyms::KEY_1)], Keysym::from(keysyms::KEY_exclam));
        let mut bindings = Bindings::default();
        bindings.keys.insert("Mod+exclam".parse().unwrap(), ShortcutAction::Overview.into());
        let found = bindings.binding_of_key(&PressedKey { held: &held, modified, plain: &plain }, false);
        assert_eq!(found.map(|bound| bound.action), Some(ShortcutAction::Overview));
        let lists = |bindings: &Bindings| bindings.effective().any(|(chord, _)| chord.to_string() == "Mod+Shift+1");
        assert!(lists(&bindings), "on another keyboard these are other keys");
        bindings.shifted.insert(plain[0], modified);
        assert!(!lists(&bindings));
    }

    #[test]
    fn nested_in_another_session_mod_is_alt() {
        let bindings = Bindings { modifier: Modifier::Alt, ..Bindings::default() };
        let held = ModifiersState { alt: true, ..ModifiersState::default() };
        let key = Keysym::from(keysyms::KEY_2);
        let action = bindings.binding_of_key(&PressedKey { held: &held, modified: key, plain: &[key] }, false);
        assert_eq!(action.map(|bound| bound.action), Some(ShortcutAction::Workspace("2".parse().unwrap())));
    }
}
