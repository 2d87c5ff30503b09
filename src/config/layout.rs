//! `layout`: how the windows of workspaces lie. `focus`: which of them has it.

use serde::{Deserialize, Serialize};

use crate::shell::strips::Mode;

/// How the windows of workspaces lie where nobody chose otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutWish {
    /// Columns on the displays of this machine; elsewhere they float.
    Auto,
    /// Beside each other, in columns.
    Strip,
    /// Above each other, where they are put.
    #[default]
    Floating,
}

impl LayoutWish {
    /// What is meant, on the displays of this machine or elsewhere.
    pub const fn mode(self, on_displays: bool) -> Mode {
        match self {
            LayoutWish::Auto if on_displays => Mode::Strip,
            LayoutWish::Strip => Mode::Strip,
            LayoutWish::Auto | LayoutWish::Floating => Mode::Floating,
        }
    }
}

/// What gives a window the focus, beside shortcuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FocusWish {
    /// A button or a finger on it.
    #[default]
    Click,
    /// The pointer that is moved onto it, too.
    Pointer,
}
