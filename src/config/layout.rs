//! `layout`: how the windows of a workspace are arranged. `focus`: how a window gets the focus.

use serde::{Deserialize, Serialize};

use crate::shell::strips::Mode;

/// How the windows of a workspace are arranged unless the user switches its layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutWish {
    /// Columns on the displays of this machine, floating elsewhere.
    Auto,
    /// In columns beside each other.
    Strip,
    /// Floating above each other.
    #[default]
    Floating,
}

impl LayoutWish {
    /// The layout for the displays of this machine, or for any other display.
    pub const fn mode(self, on_displays: bool) -> Mode {
        match self {
            LayoutWish::Auto if on_displays => Mode::Strip,
            LayoutWish::Strip => Mode::Strip,
            LayoutWish::Auto | LayoutWish::Floating => Mode::Floating,
        }
    }
}

/// How a window gets the focus, besides shortcuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FocusWish {
    /// By a press of a button or a finger.
    #[default]
    Click,
    /// Also when the pointer is moved onto it.
    Pointer,
}
