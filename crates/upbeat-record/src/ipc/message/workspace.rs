//! Workspaces as the private socket describes them.

use serde::{Deserialize, Serialize};

use upbeat_timing::id::WindowId;

/// Largest number of workspaces with a name.
pub const MOST_NAMED: usize = 16;

/// The number of a workspace: 1 to 9, because each has a number key. Workspaces with a name follow, from 10, in the
/// order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u8", into = "u8")]
pub struct WorkspaceNumber(u8);

/// The value is not the number of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a workspace, 1 to 9, or 10 to 25 for one with a name")]
pub struct InvalidWorkspaceNumber;

impl WorkspaceNumber {
    /// The number of the first workspace, 1.
    pub const FIRST: WorkspaceNumber = WorkspaceNumber(1);
    /// The number of the last workspace without a name, 9.
    pub const LAST_UNNAMED: WorkspaceNumber = WorkspaceNumber(9);
    /// The largest number that a workspace can have, 25.
    pub const LARGEST: WorkspaceNumber = WorkspaceNumber(Self::LAST_UNNAMED.0 + MOST_NAMED as u8);

    /// All numbers that workspaces can have, in ascending order.
    pub fn all() -> impl DoubleEndedIterator<Item = WorkspaceNumber> {
        Self::up_to(Self::LARGEST)
    }

    /// The numbers from 1 to `last`, in ascending order.
    pub fn up_to(last: WorkspaceNumber) -> impl DoubleEndedIterator<Item = WorkspaceNumber> {
        (Self::FIRST.0..=last.0).map(WorkspaceNumber)
    }

    /// The number of the workspace with the name at `index` of the list of names.
    pub fn of_name(index: usize) -> Option<Self> {
        let index = u8::try_from(index).ok().filter(|index| usize::from(*index) < MOST_NAMED)?;
        Some(WorkspaceNumber(Self::LAST_UNNAMED.0 + 1 + index))
    }

    /// The index of its name in the list of names; `None` for 1 to 9.
    pub fn name_index(self) -> Option<usize> {
        self.0.checked_sub(Self::LAST_UNNAMED.0 + 1).map(usize::from)
    }

    /// The number as an integer, 1 to 25.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The next number; for `last`, itself.
    pub fn next(self, last: WorkspaceNumber) -> Self {
        WorkspaceNumber(self.0 + 1).min(last)
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
        if (Self::FIRST..=Self::LARGEST).contains(&number) { Ok(number) } else { Err(InvalidWorkspaceNumber) }
    }
}

impl From<WorkspaceNumber> for u8 {
    fn from(number: WorkspaceNumber) -> u8 {
        number.0
    }
}

impl std::fmt::Display for WorkspaceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How the windows of a workspace lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceLayout {
    /// Windows float.
    #[default]
    Floating,
    /// Windows lie in columns, beside each other.
    Strip,
}

/// A workspace that is visible or has windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceInfo {
    /// Name of the output that it is on.
    pub output: String,
    /// Number of the workspace: 1 to 9, or from 10 for one with a name.
    pub number: WorkspaceNumber,
    /// Name of the workspace, from the configuration; `None` for 1 to 9.
    #[serde(default)]
    pub name: Option<String>,
    /// Whether it is the workspace that its output shows.
    pub active: bool,
    /// How its windows lie.
    #[serde(default)]
    pub layout: WorkspaceLayout,
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
    /// Name of the output; `None` for the output of the window, or else the focused output. A workspace with a name
    /// whose windows are all on other outputs is used there.
    pub output: Option<String>,
    /// Number of the workspace; left out if `name` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<WorkspaceNumber>,
    /// Name of the workspace; left out if `number` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The window to move to the workspace; `None` to switch to the workspace.
    pub window: Option<WindowId>,
}
