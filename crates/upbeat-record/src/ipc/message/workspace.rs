//! Workspaces as the private socket describes them.

use serde::{Deserialize, Serialize};

use upbeat_timing::id::WindowId;

/// The number of a workspace: 1 to 9, because each has a number key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u8", into = "u8")]
pub struct Number(u8);

/// The value is not the number of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a workspace, 1 to 9")]
pub struct NoSuchNumber;

impl Number {
    /// The number of the first workspace, 1.
    pub const FIRST: Number = Number(1);
    /// The number of the last workspace, 9.
    pub const LAST: Number = Number(9);

    /// All numbers, in ascending order.
    pub fn all() -> impl DoubleEndedIterator<Item = Number> {
        (Self::FIRST.0..=Self::LAST.0).map(Number)
    }

    /// The number as an integer, 1 to 9.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The next number; for the last number, itself.
    pub fn next(self) -> Self {
        Number(self.0 + 1).min(Self::LAST)
    }

    /// The previous number; for the first number, itself.
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

/// A workspace that is visible or has windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspace {
    /// Name of the output that it is on.
    pub output: String,
    /// Number of the workspace, 1 to 9.
    pub number: Number,
    /// Whether it is the workspace that its output shows.
    pub active: bool,
    /// Whether any of its windows is urgent.
    #[serde(default)]
    pub urgent: bool,
    /// Numbers of its windows, the topmost first.
    pub windows: Vec<WindowId>,
}

/// A request to switch to a workspace, or to move a window to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceOrder {
    /// Name of the output; `None` for the output of the window, or else the focused output.
    pub output: Option<String>,
    /// Number of the workspace, 1 to 9.
    pub number: Number,
    /// The window to move to the workspace; `None` to switch to the workspace.
    pub window: Option<WindowId>,
}
