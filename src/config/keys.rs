//! `[keys]`: shortcuts. What a file says is added to the defaults, and replaces those with the same keys.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bindings::{Action, Chord, default_keys};

/// Which keys do what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(pub BTreeMap<Chord, Action>);

impl Default for Keys {
    fn default() -> Self {
        Keys(default_keys())
    }
}

/// Shortcuts that work while the session is locked, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeysWhenLocked(pub BTreeSet<Chord>);

/// Text that stands for a value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Text<T>(T);

impl<'de, T: std::str::FromStr<Err: std::fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Text).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let said: BTreeMap<Text<Chord>, Text<Action>> = BTreeMap::deserialize(deserializer)?;
        let mut keys = default_keys();
        keys.extend(said.into_iter().map(|(chord, action)| (chord.0, action.0)));
        Ok(Keys(keys))
    }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(chord, action)| (chord.to_string(), action.to_string())))
    }
}

impl<'de> Deserialize<'de> for KeysWhenLocked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let said: BTreeSet<Text<Chord>> = BTreeSet::deserialize(deserializer)?;
        Ok(KeysWhenLocked(said.into_iter().map(|chord| chord.0).collect()))
    }
}

impl Serialize for KeysWhenLocked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(ToString::to_string))
    }
}
