//! Names of workspaces, and references to workspaces by number or name.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::workspace::WorkspaceNumber;

/// Longest name, in characters.
const LONGEST: usize = 32;

/// The name of a workspace: 1 to 32 characters, not a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceName(Arc<str>);

/// The text cannot be the name of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWorkspaceName {
    /// It has no characters or too many.
    #[error("expected a name of 1 to {LONGEST} characters")]
    Length,
    /// It has a line break or another control character.
    #[error("expected a name without control characters")]
    Control,
    /// It begins or ends with white space.
    #[error("expected a name without a space at its start and end")]
    Space,
    /// It is a number, which means one of the workspaces 1 to 9.
    #[error("expected a name, not a number: the workspaces 1 to 9 are always there")]
    Number,
}

impl WorkspaceName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text means a number, and so cannot be a name.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit())
}

impl std::str::FromStr for WorkspaceName {
    type Err = InvalidWorkspaceName;

    fn from_str(text: &str) -> Result<Self, InvalidWorkspaceName> {
        match () {
            () if text.is_empty() || text.chars().count() > LONGEST => Err(InvalidWorkspaceName::Length),
            () if text.chars().any(char::is_control) => Err(InvalidWorkspaceName::Control),
            () if text.trim() != text => Err(InvalidWorkspaceName::Space),
            () if is_number(text) => Err(InvalidWorkspaceName::Number),
            () => Ok(WorkspaceName(text.into())),
        }
    }
}

impl TryFrom<String> for WorkspaceName {
    type Error = InvalidWorkspaceName;

    fn try_from(text: String) -> Result<Self, InvalidWorkspaceName> {
        text.parse()
    }
}

impl From<WorkspaceName> for String {
    fn from(name: WorkspaceName) -> String {
        name.as_str().to_owned()
    }
}

impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A workspace as users write it: its number, 1 to 9, or its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkspaceReference {
    /// The workspace with this number.
    Number(WorkspaceNumber),
    /// The workspace with this name.
    Name(WorkspaceName),
}

/// The text is neither the number of a workspace nor a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a workspace, 1 to 9, or the name of one")]
pub struct ParseWorkspaceError;

impl WorkspaceReference {
    /// Reads the number of a workspace without a name.
    fn of_number(number: i64) -> Result<Self, ParseWorkspaceError> {
        let number = u8::try_from(number).ok().and_then(|number| WorkspaceNumber::try_from(number).ok());
        let number = number.filter(|number| *number <= WorkspaceNumber::LAST_UNNAMED);
        number.map(WorkspaceReference::Number).ok_or(ParseWorkspaceError)
    }
}

impl std::str::FromStr for WorkspaceReference {
    type Err = ParseWorkspaceError;

    fn from_str(text: &str) -> Result<Self, ParseWorkspaceError> {
        match text.parse() {
            Ok(number) => WorkspaceReference::of_number(number),
            Err(_) => text.parse().map(WorkspaceReference::Name).map_err(|_| ParseWorkspaceError),
        }
    }
}

impl fmt::Display for WorkspaceReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkspaceReference::Number(number) => number.fmt(f),
            WorkspaceReference::Name(name) => name.fmt(f),
        }
    }
}

impl Serialize for WorkspaceReference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WorkspaceReference::Number(number) => number.serialize(serializer),
            WorkspaceReference::Name(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WorkspaceReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = WorkspaceReference;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a workspace, 1 to 9, or the name of one")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<WorkspaceReference, E> {
                WorkspaceReference::of_number(number).map_err(E::custom)
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<WorkspaceReference, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WorkspaceReference, E> {
                text.parse().map(WorkspaceReference::Name).map_err(|error: InvalidWorkspaceName| E::custom(error))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipc::message::workspace::MOST_NAMED;

    #[test]
    fn name_is_short_plain_and_not_a_number() {
        let parse = |text: &str| text.parse::<WorkspaceName>().map(String::from);
        for good in ["mail", "my mail", "é", "2nd", "-", "next", &"x".repeat(32)] {
            assert_eq!(parse(good).as_deref(), Ok(good));
        }
        for (wrong, error) in [
            ("", InvalidWorkspaceName::Length),
            (&"x".repeat(33), InvalidWorkspaceName::Length),
            ("a\nb", InvalidWorkspaceName::Control),
            ("a\u{7f}", InvalidWorkspaceName::Control),
            (" mail", InvalidWorkspaceName::Space),
            ("mail\u{a0}", InvalidWorkspaceName::Space),
            ("7", InvalidWorkspaceName::Number),
            ("-12", InvalidWorkspaceName::Number),
            ("99999999999999999999", InvalidWorkspaceName::Number),
        ] {
            assert_eq!(parse(wrong), Err(error), "{wrong:?}");
        }
    }

    #[test]
    fn reference_is_a_number_from_1_to_9_or_a_name() {
        let parse = |text: &str| text.parse::<WorkspaceReference>().map(|reference| reference.to_string());
        assert_eq!((parse("3").as_deref(), parse("my mail").as_deref()), (Ok("3"), Ok("my mail")));
        assert!(matches!("3".parse(), Ok(WorkspaceReference::Number(_))));
        for wrong in ["", "0", "10", "-1", "99999999999999999999", " x"] {
            assert_eq!(parse(wrong), Err(ParseWorkspaceError), "{wrong:?}");
        }
        let read = serde_json::from_str::<WorkspaceReference>;
        assert_eq!(read("3").unwrap().to_string(), "3");
        assert_eq!(read("\"mail\"").unwrap().to_string(), "mail");
        assert!(read("10").is_err() && read("-1").is_err() && read("\"3\"").is_err());
    }

    #[test]
    fn names_have_the_numbers_from_10() {
        assert_eq!(WorkspaceNumber::of_name(0).map(WorkspaceNumber::get), Some(10));
        assert_eq!(WorkspaceNumber::of_name(MOST_NAMED - 1), Some(WorkspaceNumber::LARGEST));
        assert_eq!(WorkspaceNumber::of_name(MOST_NAMED), None);
        for number in WorkspaceNumber::all() {
            assert_eq!(number.name_index().and_then(WorkspaceNumber::of_name).unwrap_or(number), number);
            assert_eq!(number.name_index().is_none(), number <= WorkspaceNumber::LAST_UNNAMED);
        }
    }
}
