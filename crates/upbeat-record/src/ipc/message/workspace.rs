//! Workspaces as the private socket describes them.

use serde::{Deserialize, Serialize};

use upbeat_timing::id::WindowId;

/// The number of a workspace: 1 to 9, because each has a number key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u8", into = "u8")]
pub struct WorkspaceNumber(u8);

/// The value is not the number of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a workspace, 1 to 9")]
pub struct InvalidWorkspaceNumber;

impl WorkspaceNumber {
    /// The number of the first workspace, 1.
    pub const FIRST: WorkspaceNumber = WorkspaceNumber(1);
    /// The number of the last workspace, 9.
    pub const LAST: WorkspaceNumber = WorkspaceNumber(9);

    /// All numbers, in ascending order.
    pub fn all() -> impl DoubleEndedIterator<Item = WorkspaceNumber> {
        (Self::FIRST.0..=Self::LAST.0).map(WorkspaceNumber)
    }

    /// The number as an integer, 1 to 9.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The next number; for the last number, itself.
    pub fn next(self) -> Self {
        WorkspaceNumber(self.0 + 1).min(Self::LAST)
    }

    /// The previous number; for the first number, itself.
    pub fn previous(self) -> Self {
        WorkspaceNumber(self.0 - 1).max(Self::FIRST)
    }
}

impl TryFrom<u8> for WorkspaceNumber {
    type Error = InvalidWorkspaceNumber;

    fn try_from(number: u8) -> Result<Self, InvalidWorkspaceNumber> {
        let number = WorkspaceNumber(number);
        if (Self::FIRST..=Self::LAST).contains(&number) { Ok(number) } else { Err(InvalidWorkspaceNumber) }
    }
}

impl From<WorkspaceNumber> for u8 {
    fn from(number: WorkspaceNumber) -> u8 {
        number.0
    }
}

impl std::str::FromStr for WorkspaceNumber {
    type Err = InvalidWorkspaceNumber;

    fn from_str(text: &str) -> Result<Self, InvalidWorkspaceNumber> {
        text.parse::<u8>().map_err(|_| InvalidWorkspaceNumber)?.try_into()
    }
}

impl std::fmt::Display for WorkspaceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A workspace that is visible or has windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceInfo {
    /// Name of the output that it is on.
    pub output: String,
    /// Number of the workspace, 1 to 9.
    pub number: WorkspaceNumber,
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
    pub number: WorkspaceNumber,
    /// The window to move to the workspace; `None` to switch to the workspace.
    pub window: Option<WindowId>,
}
