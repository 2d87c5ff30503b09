//! `layout`: how the windows of a workspace are arranged. `focus`: how a window gets the focus.

use serde::{Deserialize, Serialize};

use crate::shell::tiling::TilingMode;

/// How the windows of a workspace are arranged unless the user switches its layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutOption {
    /// Columns on the displays of this machine, floating elsewhere.
    Auto,
    /// In columns beside each other.
    Strip,
    /// Floating above each other.
    #[default]
    Floating,
}

impl LayoutOption {
    /// The layout for the displays of this machine, or for any other display.
    pub const fn mode(self, on_displays: bool) -> TilingMode {
        match self {
            LayoutOption::Auto if on_displays => TilingMode::Strip,
            LayoutOption::Strip => TilingMode::Strip,
            LayoutOption::Auto | LayoutOption::Floating => TilingMode::Floating,
        }
    }
}

/// How a window gets the focus, besides shortcuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FocusOption {
    /// By a press of a button or a finger.
    #[default]
    Click,
    /// Also when the pointer is moved onto it.
    Pointer,
}
