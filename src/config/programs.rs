//! `autostart` and `[environment]`: programs that start with the session, and their environment variables.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ValueError;
use crate::bindings::CommandLine;

/// A program and its arguments: a string with blanks between them, or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCommand(pub CommandLine);

impl<'de> Deserialize<'de> for ProgramCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ProgramVisitor;
        impl<'de> Visitor<'de> for ProgramVisitor {
            type Value = ProgramCommand;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a program with its arguments")
            }

            fn visit_str<E: serde::de::Error>(self, line: &str) -> Result<ProgramCommand, E> {
                line.parse().map(ProgramCommand).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ProgramCommand, A::Error> {
                let mut words: Vec<String> = Vec::new();
                while let Some(word) = list.next_element()? {
                    words.push(word);
                }
                CommandLine::of(words).map(ProgramCommand).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(ProgramVisitor)
    }
}

impl Serialize for ProgramCommand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_plain() {
            serializer.serialize_str(&self.0.to_string())
        } else {
            serializer.collect_seq(self.0.words())
        }
    }
}

/// Programs that start with the session, each as a line for the shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Autostart(Vec<ShellLine>);

/// A line that a shell runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct ShellLine(String);

impl Autostart {
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|line| line.0.as_str())
    }
}

impl TryFrom<String> for ShellLine {
    type Error = ValueError;

    fn try_from(line: String) -> Result<Self, ValueError> {
        match line.trim() {
            "" => Err(ValueError("expected a program with its arguments, such as \"waybar\"")),
            // Arguments of programs are C strings, which end at a NUL.
            text if text.contains('\0') => Err(ValueError("expected a line without NUL characters")),
            _ => Ok(ShellLine(line)),
        }
    }
}

impl From<ShellLine> for String {
    fn from(line: ShellLine) -> String {
        line.0
    }
}

/// Environment variables of the programs that the session starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Names and values.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl TryFrom<BTreeMap<String, String>> for Environment {
    type Error = ValueError;

    fn try_from(variables: BTreeMap<String, String>) -> Result<Self, ValueError> {
        let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
        if !variables.iter().all(|(name, value)| is_name(name) && !value.contains('\0')) {
            return Err(ValueError("expected names without = and NUL, such as MOZ_ENABLE_WAYLAND = \"1\""));
        }
        Ok(Environment(variables))
    }
}

impl From<Environment> for BTreeMap<String, String> {
    fn from(environment: Environment) -> Self {
        environment.0
    }
}
