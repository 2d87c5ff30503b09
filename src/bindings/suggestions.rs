//! "Did you mean" hints for misspelt names of modifiers, keys and actions.

use smithay::input::keyboard::{Keysym, xkb};

use super::trigger;

/// Similarity from which a name is suggested (0 to 1, Jaro-Winkler).
const ALIKE: f64 = 0.8;
/// Longest word, in bytes, that is compared: no name of a key is longer, and the comparison would take long.
const LONGEST: usize = 64;

const MODIFIERS: [&str; 5] = ["Mod", "Super", "Ctrl", "Alt", "Shift"];
/// Names of modifiers in other programs, with our names.
const ELSEWHERE: [(&str, &str); 6] = [
    ("Control", "Ctrl"),
    ("Logo", "Super"),
    ("Win", "Super"),
    ("Windows", "Super"),
    ("Meta", "Super"),
    ("Mod1", "Alt"),
];
/// Ranges of keysyms with names that users write: those of X, and those of media keyboards. The other keysyms are
/// letters of other alphabets.
const KEYS: [std::ops::RangeInclusive<u32>; 3] = [0x20..=0x7e, 0xfe00..=0xffff, 0x1008_fe00..=0x1008_ffff];

/// The hint for `word`, which is not a modifier.
pub(super) fn modifier_hint(word: &str) -> String {
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    let meant = elsewhere.map(|(_, name)| (*name).to_owned());
    let meant = meant.or_else(|| most_similar(word, MODIFIERS.into_iter().map(str::to_owned)));
    hint(meant, "expected Mod, Super, Ctrl, Alt or Shift")
}

/// The hint for `word`, which names no trigger.
pub(super) fn key_hint(word: &str) -> String {
    let keys = KEYS.into_iter().flatten().map(|key| xkb::keysym_get_name(Keysym::from(key)));
    let keys = keys.filter(|name| name.len() > 1 && !name.starts_with("0x"));
    let meant = most_similar(word, trigger::names().map(str::to_owned).chain(keys));
    hint(
        meant,
        "expected its XKB name, such as Return, or that of a button, a wheel, a swipe or a switch, such as MouseBack, WheelUp, \
         Swipe3Left or LidClose",
    )
}

/// The sentence for `text`, which is none of the `actions`; `arguments` are those of the action with the same first
/// word. `None` if no action is similar.
pub(super) fn action_hint(
    text: &str,
    arguments: Option<&[&str]>,
    actions: impl Iterator<Item = String>,
) -> Option<String> {
    let word = text.split(' ').next().unwrap_or_default();
    if let Some((last, others)) = arguments.and_then(<[&str]>::split_last) {
        let others = if others.is_empty() { String::new() } else { format!("{} or ", others.join(", ")) };
        return Some(format!("there is no such action; {word:?} is followed, for example, by {others}{last}"));
    }
    most_similar(text, actions).map(|name| format!("there is no action {text:?}; did you mean {name:?}?"))
}

fn hint(meant: Option<String>, expected: &str) -> String {
    meant.map_or_else(|| expected.to_owned(), |name| format!("did you mean {name}?"))
}

/// The most similar name, ignoring case; the first of equally similar names.
fn most_similar(word: &str, names: impl Iterator<Item = String>) -> Option<String> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let alike = names.map(|name| (strsim::jaro_winkler(&word, &name.to_lowercase()), name));
    let best = alike.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.filter(|(likeness, _)| *likeness >= ALIKE).map(|(_, name)| name)
}
