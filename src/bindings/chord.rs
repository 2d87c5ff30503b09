//! A key, a button, a wheel, a swipe or a switch with its modifiers, as users write it: `Mod+Shift+1`.

use std::fmt;
use std::str::FromStr;

use smithay::input::keyboard::{Keysym, ModifiersState};

use super::{Modifier, ShortcutTrigger, suggestions};

/// Modifiers that are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "one for each key")]
pub struct HeldModifiers {
    /// `Mod`: Super, or Alt where the compositor that we are nested in keeps Super for itself.
    pub modifier: bool,
    /// Super, also called Logo or Windows.
    pub logo: bool,
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

/// A trigger and the modifiers that are held with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chord {
    pub held: HeldModifiers,
    pub trigger: ShortcutTrigger,
}

/// The configuration has a text that is not a chord.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseChordError {
    #[error(
        "expected a key with what is held, such as \"Mod+Shift+1\": Mod, Super, Ctrl, Alt and Shift, and then a key by its \
         XKB name, MouseBack or MouseForward; with something held, MouseLeft, MouseMiddle, MouseRight, WheelUp, WheelDown, \
         WheelLeft or WheelRight; a swipe such as Swipe3Left or Swipe4Up; LidClose, LidOpen, TabletModeOn or TabletModeOff"
    )]
    MissingKey,
    /// No modifier has this name.
    #[error("no modifier is called {0}; {hint}", hint = suggestions::modifier_hint(.0))]
    UnknownModifier(String),
    /// No key, button or other trigger has this name.
    #[error("no key is called {0}; {hint}", hint = suggestions::key_hint(.0))]
    UnknownKey(String),
    /// Without a modifier this trigger would make the mouse unusable.
    #[error("{0} alone would not reach any window; expected something held with it, such as Mod+{0}")]
    NeedsModifier(ShortcutTrigger),
}

/// A key that was pressed.
#[derive(Clone, Copy, Debug)]
pub struct PressedKey<'a> {
    pub held: &'a ModifiersState,
    /// Keysym with the held modifiers applied.
    pub modified: Keysym,
    /// Keysyms of the key without modifiers.
    pub plain: &'a [Keysym],
}

impl Chord {
    /// Whether this chord was pressed, where `Mod` is `modifier`.
    pub fn matches_key(&self, pressed: &PressedKey<'_>, modifier: Modifier) -> bool {
        let ShortcutTrigger::Key(key) = self.trigger else { return false };
        if !self.held.is_but_for_shift(pressed.held, modifier) {
            return false;
        }
        if pressed.plain.contains(&key) {
            return self.held.shift == pressed.held.shift;
        }
        // A symbol that needs Shift, such as a question mark, is written without Shift.
        pressed.modified == key && !self.held.shift
    }

    /// Whether this chord was triggered by something other than a key, where `Mod` is `modifier`.
    pub fn matches_trigger(&self, held: &ModifiersState, trigger: ShortcutTrigger, modifier: Modifier) -> bool {
        self.trigger == trigger && self.held.shift == held.shift && self.held.is_but_for_shift(held, modifier)
    }

    /// The same chord with `Mod` replaced by `modifier`.
    pub fn resolve_mod(self, modifier: Modifier) -> Self {
        let Chord { mut held, trigger } = self;
        let named = std::mem::take(&mut held.modifier);
        held.logo |= named && modifier == Modifier::Super;
        held.alt |= named && modifier == Modifier::Alt;
        Chord { held, trigger }
    }

    /// Spelling in the configuration, with `Mod` replaced by the name of `modifier`.
    pub fn name(&self, modifier: Modifier) -> String {
        self.to_string().replacen("Mod", modifier.name(), usize::from(self.held.modifier))
    }
}

impl FromStr for Chord {
    type Err = ParseChordError;

    fn from_str(text: &str) -> Result<Self, ParseChordError> {
        let mut held = HeldModifiers::default();
        let mut words = text.split('+').map(str::trim);
        let key = words.next_back().filter(|key| !key.is_empty()).ok_or(ParseChordError::MissingKey)?;
        for word in words {
            if word.is_empty() {
                return Err(ParseChordError::MissingKey);
            }
            let flag = match word.to_ascii_lowercase().as_str() {
                "mod" => &mut held.modifier,
                "super" => &mut held.logo,
                "ctrl" => &mut held.ctrl,
                "alt" => &mut held.alt,
                "shift" => &mut held.shift,
                _ => return Err(ParseChordError::UnknownModifier(word.to_owned())),
            };
            *flag = true;
        }
        let trigger =
            ShortcutTrigger::named(key).ok_or_else(|| ParseChordError::UnknownKey(key.replace('\0', "\\0")))?;
        let is_too_bare = trigger.needs_something_held() && held == HeldModifiers::default();
        if is_too_bare { Err(ParseChordError::NeedsModifier(trigger)) } else { Ok(Chord { held, trigger }) }
    }
}

impl HeldModifiers {
    /// Whether exactly these modifiers are held, not counting Shift, where `Mod` is `modifier`.
    fn is_but_for_shift(&self, held: &ModifiersState, modifier: Modifier) -> bool {
        let logo = self.logo || (self.modifier && modifier == Modifier::Super);
        let alt = self.alt || (self.modifier && modifier == Modifier::Alt);
        (logo, self.ctrl, alt) == (held.logo, held.ctrl, held.alt)
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HeldModifiers { modifier, logo, ctrl, alt, shift } = self.held;
        let words = [(modifier, "Mod"), (logo, "Super"), (ctrl, "Ctrl"), (alt, "Alt"), (shift, "Shift")];
        words.iter().filter(|(held, _)| *held).try_for_each(|(_, word)| write!(f, "{word}+"))?;
        self.trigger.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smithay::input::keyboard::keysyms;

    use super::*;
    use crate::bindings::TriggerDirection;

    #[test]
    fn a_chord_is_written_as_it_is_read() {
        let keys = ["Mod+Shift+1", "Alt+Tab", "Ctrl+Alt+Page_Up", "Super+Return", "F1", "Mod+Q"];
        for text in keys.into_iter().chain([
            "Mod+MouseLeft",
            "MouseBack",
            "Alt+WheelUp",
            "Swipe3Left",
            "Mod+Swipe4Up",
            "LidClose",
            "TabletModeOff",
        ]) {
            assert_eq!(text.parse::<Chord>().unwrap().to_string(), text);
        }
        for wrong in [
            "",
            "Mod+",
            "+",
            "Hyper+1",
            "Mod+Nonsense",
            "Mod+\0",
            "MouseLeft",
            "WheelDown",
            "Swipe2Left",
            "Swipe5Up",
            "Swipe3",
        ] {
            assert!(wrong.parse::<Chord>().is_err(), "{wrong}");
        }
        assert_eq!("mod+shift+q".parse::<Chord>().unwrap().name(Modifier::Alt), "Alt+Shift+Q");
        assert_eq!("mod+enter".parse::<Chord>(), "Mod+Return".parse());
        assert_eq!("mod+return".parse::<Chord>().unwrap().name(Modifier::Super), "Super+Return");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,20}") {
            let _ = text.parse::<Chord>();
        }
    }

    fn held(logo: bool, shift: bool) -> ModifiersState {
        ModifiersState { logo, shift, ..ModifiersState::default() }
    }

    #[test]
    fn chord_matches_only_its_exact_modifiers() {
        let (q, capital) = (Keysym::from(keysyms::KEY_q), Keysym::from(keysyms::KEY_Q));
        let chord: Chord = "Mod+Shift+Q".parse().unwrap();
        let pressed = |held: ModifiersState, modified| {
            chord.matches_key(&PressedKey { held: &held, modified, plain: &[q] }, Modifier::Super)
        };
        assert!(pressed(held(true, true), capital));
        // Caps Lock changes the letter, but not the key.
        assert!(pressed(held(true, true), q));
        assert!(!pressed(held(true, false), q));
        assert!(!pressed(held(false, true), capital));
        assert!(!pressed(ModifiersState { ctrl: true, ..held(true, true) }, capital));
    }

    #[test]
    fn a_key_that_only_shift_gives_is_named_without_it() {
        let chord: Chord = "Mod+question".parse().unwrap();
        let plain = [Keysym::from(keysyms::KEY_slash)];
        let modified = Keysym::from(keysyms::KEY_question);
        assert!(chord.matches_key(&PressedKey { held: &held(true, true), modified, plain: &plain }, Modifier::Super));
    }

    #[test]
    fn error_names_the_wrong_part_of_a_chord() {
        let error_of = |text: &str| text.parse::<Chord>().unwrap_err().to_string();
        assert_eq!(error_of("Supr+Z"), "no modifier is called Supr; did you mean Super?");
        assert_eq!(error_of("Control+Z"), "no modifier is called Control; did you mean Ctrl?");
        assert_eq!(error_of("Foo+Z"), "no modifier is called Foo; expected Mod, Super, Ctrl, Alt or Shift");
        assert_eq!(error_of("Mod+Retrun"), "no key is called Retrun; did you mean Return?");
        assert_eq!(error_of("Mod+MouseLeff"), "no key is called MouseLeff; did you mean MouseLeft?");
        assert_eq!(error_of("Pirnt"), "no key is called Pirnt; did you mean Print?");
        assert_eq!(
            error_of("XF86AudioRaiseVolum"),
            "no key is called XF86AudioRaiseVolum; did you mean XF86AudioRaiseVolume?"
        );
        assert!(
            error_of("Mod+~!x").starts_with("no key is called ~!x; expected its XKB name"),
            "{}",
            error_of("Mod+~!x")
        );
        assert!(
            error_of("WheelDown").ends_with("such as Mod+WheelDown") && error_of("Mod+").starts_with("expected a key")
        );
        assert!(error_of("+A").starts_with("expected a key") && error_of("Mod++A").starts_with("expected a key"));
    }

    #[test]
    fn a_wheel_is_no_key_and_what_is_held_with_it_has_to_be_that_too() {
        let chord: Chord = "mod+wheeldown".parse().unwrap();
        let down = ShortcutTrigger::Wheel(TriggerDirection::Down);
        assert!(chord.matches_trigger(&held(true, false), down, Modifier::Super));
        assert!(!chord.matches_trigger(&held(true, true), down, Modifier::Super));
        assert!(!chord.matches_trigger(&held(true, false), down, Modifier::Alt));
        assert!(!chord.matches_trigger(
            &held(true, false),
            ShortcutTrigger::Wheel(TriggerDirection::Up),
            Modifier::Super
        ));
        let key = Keysym::from(keysyms::KEY_Down);
        assert!(
            !chord.matches_key(&PressedKey { held: &held(true, false), modified: key, plain: &[key] }, Modifier::Super)
        );
    }
}
