//! Workspaces as they are talked about.

use serde::{Deserialize, Serialize};

use upbeat_timing::id::WindowId;

/// The number of a workspace: 1 to 9, as there are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u8", into = "u8")]
pub struct Number(u8);

/// There is no workspace of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a workspace, 1 to 9")]
pub struct NoSuchNumber;

impl Number {
    /// The first one.
    pub const FIRST: Number = Number(1);
    /// The last one.
    pub const LAST: Number = Number(9);

    /// All of them.
    pub fn all() -> impl DoubleEndedIterator<Item = Number> {
        (Self::FIRST.0..=Self::LAST.0).map(Number)
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The one after it; the last one has none.
    pub fn next(self) -> Self {
        Number(self.0 + 1).min(Self::LAST)
    }

    /// The one before it; the first one has none.
    pub fn previous(self) -> Self {
        Number(self.0 - 1).max(Self::FIRST)
    }
}

impl TryFrom<u8> for Number {
    type Error = NoSuchNumber;

    fn try_from(number: u8) -> Result<Self, NoSuchNumber> {
        let number = Number(number);
        if (Self::FIRST..=Self::LAST).contains(&number) { Ok(number) } else { Err(NoSuchNumber) }
    }
}

impl From<Number> for u8 {
    fn from(number: Number) -> u8 {
        number.0
    }
}

impl std::str::FromStr for Number {
    type Err = NoSuchNumber;

    fn from_str(text: &str) -> Result<Self, NoSuchNumber> {
        text.parse::<u8>().map_err(|_| NoSuchNumber)?.try_into()
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A workspace that is seen or has windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspace {
    /// The output that it is on.
    pub output: String,
    /// Its number, 1 to 9.
    pub number: Number,
    /// Whether it is the one that is seen there.
    pub active: bool,
    /// Whether any of its windows is urgent.
    #[serde(default)]
    pub urgent: bool,
    /// Its windows, the topmost first.
    pub windows: Vec<WindowId>,
}

/// Which workspace, and what for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceOrder {
    /// Of which output; that of the window, or else the focused one otherwise.
    pub output: Option<String>,
    /// Its number, 1 to 9.
    pub number: Number,
    /// The window to be put there; the workspace is shown otherwise.
    pub window: Option<WindowId>,
}
