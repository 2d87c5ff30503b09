//! `[keys]`: shortcuts. Those of a file are added to the defaults, and replace defaults with the same keys.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, SeqAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ProgramCommand;
use crate::bindings::{Binding, Chord, Modifier, ShortcutAction, default_keys};

/// The shortcuts, by chord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(pub BTreeMap<Chord, Binding>);

impl Default for Keys {
    fn default() -> Self {
        Keys(default_keys())
    }
}

/// Shortcuts that work while the session is locked, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeysWhenLocked(pub BTreeSet<Chord>);

/// A value that is written as a string.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct StringValue<T>(T);

impl<'de, T: std::str::FromStr<Err: fmt::Display>> Deserialize<'de> for StringValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(StringValue).map_err(serde::de::Error::custom)
    }
}

impl<T: ToString> Serialize for StringValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_string())
    }
}

/// A shortcut with options: a table in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ShortcutTable {
    r#do: Option<StringValue<ShortcutAction>>,
    /// A program to run, instead of `do`.
    run: Option<ProgramCommand>,
    #[serde(default)]
    repeat: bool,
    #[serde(default)]
    locked: bool,
    #[serde(default)]
    inhibited: bool,
    about: Option<Box<str>>,
}

/// A shortcut in any of its forms: an action, a program with its arguments, or a table.
struct ShortcutEntry(Binding);

impl<'de> Deserialize<'de> for ShortcutEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = ShortcutEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an action, a list of a program and its arguments, or a table with `do`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ShortcutEntry, E> {
                ShortcutAction::from_words(text).map(|action| ShortcutEntry(action.into())).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, words: A) -> Result<ShortcutEntry, A::Error> {
                let ProgramCommand(line) = ProgramCommand::deserialize(SeqAccessDeserializer::new(words))?;
                Ok(ShortcutEntry(ShortcutAction::Run(line).into()))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<ShortcutEntry, A::Error> {
                let table = ShortcutTable::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let ShortcutTable { r#do, run, repeat, locked, inhibited, about } = table;
                let action = match (r#do, run) {
                    (Some(StringValue(action)), None) => action,
                    (None, Some(ProgramCommand(line))) => ShortcutAction::Run(line),
                    (Some(_), Some(_)) => return Err(A::Error::custom("expected either `do` or `run`, not both")),
                    (None, None) => return Err(A::Error::custom("expected an action: `do` or `run` is missing")),
                };
                Ok(ShortcutEntry(Binding {
                    action,
                    repeats: repeat,
                    when_locked: locked,
                    when_inhibited: inhibited,
                    about: about.map(Into::into),
                }))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for ShortcutEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Binding { action, repeats, when_locked, when_inhibited, about } = &self.0;
        let listed = match action {
            ShortcutAction::Run(line) if !line.is_plain() => Some(ProgramCommand(line.clone())),
            _ => None,
        };
        if listed.is_none() && self.0 == Binding::from(action.clone()) {
            return serializer.serialize_str(&action.to_string());
        }
        ShortcutTable {
            r#do: listed.is_none().then(|| StringValue(action.clone())),
            run: listed,
            repeat: *repeats,
            locked: *when_locked,
            inhibited: *when_inhibited,
            about: about.as_deref().map(Into::into),
        }
        .serialize(serializer)
    }
}

/// The chords of one file, with their spelling. Two spellings of the same keys are refused, because one of them would
/// have no effect.
#[derive(Default)]
struct ChordSpellings(BTreeMap<Chord, String>);

impl<'de> DeserializeSeed<'de> for &mut ChordSpellings {
    type Value = Chord;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Chord, D::Error> {
        let text = String::deserialize(deserializer)?;
        let chord: Chord = text.parse().map_err(D::Error::custom)?;
        // On displays `Mod` is Super. A nested session, where it is Alt, reads the same file, so Super is assumed.
        match self.0.entry(chord.resolve_mod(Modifier::Super)) {
            Entry::Occupied(other) => {
                Err(D::Error::custom(format!("\"{text}\" and \"{}\" are the same keys", other.get())))
            }
            Entry::Vacant(free) => {
                free.insert(text);
                Ok(chord)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of keys and their actions")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let (mut keys, mut spelled) = (default_keys(), ChordSpellings::default());
                while let Some(chord) = map.next_key_seed(&mut spelled)? {
                    keys.insert(chord, map.next_value::<ShortcutEntry>()?.0);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(chord, bound)| (chord.to_string(), ShortcutEntry(bound.clone()))))
    }
}

impl<'de> Deserialize<'de> for KeysWhenLocked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let chords: BTreeSet<StringValue<Chord>> = BTreeSet::deserialize(deserializer)?;
        Ok(KeysWhenLocked(chords.into_iter().map(|chord| chord.0).collect()))
    }
}

impl Serialize for KeysWhenLocked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(ToString::to_string))
    }
}
