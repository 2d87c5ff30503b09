//! A key and what is held with it, as people write it: `Mod+Shift+1`.

use std::fmt;
use std::str::FromStr;

use smithay::input::keyboard::{Keysym, ModifiersState, keysyms, xkb};

use super::Modifier;

/// What is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "one for each key")]
pub struct Held {
    /// `Mod`: Super, or Alt where Super is somebody else's.
    pub modifier: bool,
    /// Super, also called Logo or Windows.
    pub logo: bool,
    /// Ctrl.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
}

/// A key with what is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chord {
    /// What is held.
    pub held: Held,
    /// What the key gives without it; a letter is a small one.
    pub key: Keysym,
}

/// That is no chord.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a key with what is held, such as \"Mod+Shift+1\": Mod, Super, Ctrl, Alt and Shift, and then a key by its \
     XKB name"
)]
pub struct NotAChord;

/// A key that was pressed.
#[derive(Clone, Copy, Debug)]
pub struct Pressed<'a> {
    /// What is held.
    pub held: &'a ModifiersState,
    /// What the key gives with that.
    pub modified: Keysym,
    /// What it gives without.
    pub plain: &'a [Keysym],
}

impl Chord {
    /// Whether this is what was pressed, where `Mod` is `modifier`.
    pub fn is(&self, pressed: &Pressed<'_>, modifier: Modifier) -> bool {
        let Held { modifier: held_mod, logo, ctrl, alt, shift } = self.held;
        let logo = logo || (held_mod && modifier == Modifier::Super);
        let alt = alt || (held_mod && modifier == Modifier::Alt);
        let held = pressed.held;
        if (logo, ctrl, alt) != (held.logo, held.ctrl, held.alt) {
            return false;
        }
        if pressed.plain.contains(&self.key) {
            return shift == held.shift;
        }
        // A key that only Shift gives, such as a question mark, is named without it.
        pressed.modified == self.key && !shift
    }

    /// As it is printed on keys.
    pub fn name(&self, modifier: Modifier) -> String {
        let name = self.to_string().replacen("Mod", modifier.name(), usize::from(self.held.modifier));
        name.replace("Return", "Enter").replace('_', " ")
    }
}

impl FromStr for Chord {
    type Err = NotAChord;

    fn from_str(text: &str) -> Result<Self, NotAChord> {
        let mut held = Held::default();
        let mut words = text.split('+').map(str::trim);
        let key = words.next_back().filter(|key| !key.is_empty()).ok_or(NotAChord)?;
        for word in words {
            let flag = match word.to_ascii_lowercase().as_str() {
                "mod" => &mut held.modifier,
                "super" => &mut held.logo,
                "ctrl" => &mut held.ctrl,
                "alt" => &mut held.alt,
                "shift" => &mut held.shift,
                _ => return Err(NotAChord),
            };
            *flag = true;
        }
        // xkbcommon takes C strings.
        if key.contains('\0') {
            return Err(NotAChord);
        }
        let key = xkb::keysym_from_name(key, xkb::KEYSYM_CASE_INSENSITIVE);
        if key.raw() == keysyms::KEY_NoSymbol { Err(NotAChord) } else { Ok(Chord { held, key }) }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held { modifier, logo, ctrl, alt, shift } = self.held;
        let words = [(modifier, "Mod"), (logo, "Super"), (ctrl, "Ctrl"), (alt, "Alt"), (shift, "Shift")];
        words.iter().filter(|(held, _)| *held).try_for_each(|(_, word)| write!(f, "{word}+"))?;
        let name = xkb::keysym_get_name(self.key);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chord_is_written_as_it_is_read() {
        for text in ["Mod+Shift+1", "Alt+Tab", "Ctrl+Alt+Page_Up", "Super+Return", "F1", "Mod+Q"] {
            assert_eq!(text.parse::<Chord>().unwrap().to_string(), text);
        }
        for wrong in ["", "Mod+", "+", "Hyper+1", "Mod+Nonsense", "Mod+\0"] {
            assert_eq!(wrong.parse::<Chord>(), Err(NotAChord), "{wrong}");
        }
        assert_eq!("mod+shift+q".parse::<Chord>().unwrap().name(Modifier::Alt), "Alt+Shift+Q");
        assert_eq!("mod+return".parse::<Chord>().unwrap().name(Modifier::Super), "Super+Enter");
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
    fn what_is_held_has_to_be_that_exactly() {
        let (q, capital) = (Keysym::from(keysyms::KEY_q), Keysym::from(keysyms::KEY_Q));
        let chord: Chord = "Mod+Shift+Q".parse().unwrap();
        let pressed =
            |held: ModifiersState, modified| chord.is(&Pressed { held: &held, modified, plain: &[q] }, Modifier::Super);
        assert!(pressed(held(true, true), capital));
        // Caps Lock changes the letter and not the key.
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
        assert!(chord.is(&Pressed { held: &held(true, true), modified, plain: &plain }, Modifier::Super));
    }
}
