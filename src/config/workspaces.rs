//! `workspaces`: workspaces with a name, besides 1 to 9; and uses of names that are not in that list.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::de::{DeserializeSeed, SeqAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Spanned;

use super::error::LocatedError;
use super::{Config, ConfigError};
use crate::bindings::Chord;
use crate::shell::workspaces::{MOST_NAMED, UnknownWorkspace, WorkspaceName, WorkspaceReference};

/// Names of workspaces, in their order, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceNames(Arc<[WorkspaceName]>);

impl Default for WorkspaceNames {
    fn default() -> Self {
        WorkspaceNames(Arc::new([]))
    }
}

impl WorkspaceNames {
    pub const fn names(&self) -> &Arc<[WorkspaceName]> {
        &self.0
    }
}

impl Serialize for WorkspaceNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// Reads the next name; `0` has those before it. An error is that of the entry, not of the whole list.
struct NextName<'a>(&'a [WorkspaceName]);

impl<'de> DeserializeSeed<'de> for NextName<'_> {
    type Value = WorkspaceName;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<WorkspaceName, D::Error> {
        deserializer.deserialize_str(self)
    }
}

// A visitor, because an error of a visitor is at the place of its entry.
impl serde::de::Visitor<'_> for NextName<'_> {
    type Value = WorkspaceName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WorkspaceName, E> {
        let name: WorkspaceName = text.parse().map_err(|error| E::custom(format!("\"{text}\": {error}")))?;
        match () {
            () if self.0.contains(&name) => Err(E::custom(format!("\"{name}\" is in the list already"))),
            () if self.0.len() == MOST_NAMED => Err(E::custom(format!("\"{name}\": more than {MOST_NAMED} names"))),
            () => Ok(name),
        }
    }
}

impl<'de> Deserialize<'de> for WorkspaceNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = WorkspaceNames;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<WorkspaceNames, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element_seed(NextName(&names))? {
                    names.push(name);
                }
                Ok(WorkspaceNames(names.into()))
            }
        }
        deserializer.deserialize_seq(Visitor)
    }
}

/// The use of a name that is not in the list.
#[derive(Debug)]
pub(super) struct UnknownNameUse {
    place: NameUse,
    error: UnknownWorkspace,
}

/// A place in the configuration that names a workspace.
#[derive(Clone, Copy, Debug)]
enum NameUse {
    Shortcut(Chord),
    /// The index of an `[[app]]` rule.
    App(usize),
    /// The index of a `[[window]]` rule.
    Window(usize),
}

impl fmt::Display for UnknownNameUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            NameUse::Shortcut(chord) => write!(f, "[keys] \"{chord}\": ")?,
            NameUse::App(index) => write!(f, "[[app]] rule {}: ", index + 1)?,
            NameUse::Window(index) => write!(f, "[[window]] rule {}: ", index + 1)?,
        }
        self.error.fmt(f)
    }
}

impl Config {
    /// The first use of a name that is not in the list.
    pub(super) fn unknown_workspace(&self) -> Option<UnknownNameUse> {
        let rules = self.apps.iter().map(|rule| rule.workspace.as_ref()).enumerate();
        let apps = rules.map(|(index, workspace)| (NameUse::App(index), workspace));
        let rules = self.windows.iter().map(|rule| rule.workspace.as_ref()).enumerate();
        let windows = rules.map(|(index, workspace)| (NameUse::Window(index), workspace));
        let keys = self.keys.0.iter().map(|(chord, bound)| (NameUse::Shortcut(*chord), bound.action.workspace()));
        keys.chain(apps).chain(windows).find_map(|(place, workspace)| {
            let error = UnknownWorkspace::check(workspace?, self.workspaces.names()).err()?;
            Some(UnknownNameUse { place, error })
        })
    }

    /// Returns an error at the first use of a name that is not in the list.
    pub(super) fn check_workspaces(&self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let Some(unknown) = self.unknown_workspace() else { return Ok(()) };
        let span = UsesOfNames::find(text, unknown.place).unwrap_or(0..0);
        Err(LocatedError::at(path, text, span, unknown.error.to_string()).into())
    }
}

/// The parts of a file in which workspaces are named, with their places in its text.
#[derive(Deserialize)]
struct UsesOfNames {
    #[serde(default)]
    keys: std::collections::BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default, rename = "app")]
    apps: Vec<RuleWithWorkspace>,
    #[serde(default, rename = "window")]
    windows: Vec<RuleWithWorkspace>,
}

#[derive(Deserialize)]
struct RuleWithWorkspace {
    workspace: Option<Spanned<WorkspaceReference>>,
}

impl UsesOfNames {
    fn find(text: &str, place: NameUse) -> Option<Range<usize>> {
        let uses: UsesOfNames = toml::from_str(text).ok()?;
        let of_rule = |rules: &[RuleWithWorkspace], index: usize| Some(rules.get(index)?.workspace.as_ref()?.span());
        match place {
            NameUse::Shortcut(chord) => {
                let own = |keys: &str| keys.parse::<Chord>().is_ok_and(|known| known == chord);
                uses.keys.iter().find(|(keys, _)| own(keys)).map(|(_, action)| action.span())
            }
            NameUse::App(index) => of_rule(&uses.apps, index),
            NameUse::Window(index) => of_rule(&uses.windows, index),
        }
    }
}
