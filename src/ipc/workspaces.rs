//! Workspaces as they are talked about.

use serde::{Deserialize, Serialize};

use crate::shell::workspaces::Number;
use crate::timing::id::WindowId;

/// A workspace that is seen or has windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    /// The output that it is on.
    pub output: String,
    /// Its number, 1 to 9.
    pub number: Number,
    /// Whether it is the one that is seen there.
    pub active: bool,
    /// Its windows, the topmost first.
    pub windows: Vec<WindowId>,
}

/// Which workspace, and what for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceOrder {
    /// Of which output; that of the window, or else the focused one otherwise.
    pub output: Option<String>,
    /// Its number, 1 to 9.
    pub number: Number,
    /// The window to be put there; the workspace is shown otherwise.
    pub window: Option<WindowId>,
}
