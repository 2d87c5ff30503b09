//! How a window lies on its workspace, as the private socket describes it.

use serde::{Deserialize, Serialize};

/// How a window lies on its workspace, as the user or its client wants it. It does not change during an animation, nor
/// when the client answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowLayout {
    /// Whether it floats, is in a column, is maximised or is fullscreen.
    pub mode: WindowMode,
    /// The half or quarter of the screen that it fills; `None` if it is not snapped.
    #[serde(default)]
    pub snapped: Option<SnappedPart>,
    /// Its place among the columns of its workspace; `None` if it floats or is minimised.
    #[serde(default)]
    pub column: Option<ColumnPosition>,
}

/// How a window lies on its workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WindowMode {
    /// At a place of its own, above other windows.
    #[default]
    Floating,
    /// In a column.
    Tiled,
    /// It fills the area that bars leave.
    Maximised,
    /// It covers the whole output, bars included.
    Fullscreen,
}

/// A half or a quarter of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "named after their places")]
pub enum SnappedPart {
    Left,
    Right,
    Top,
    Bottom,
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

/// The place of a window in the columns of its workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnPosition {
    /// Number of the column, from the left; the first is 1.
    pub column: u32,
    /// Number of the window in its column, from the top, or of its tab; the first is 1.
    pub row: u32,
    /// Whether the column shows one window at a time, as tabs.
    pub tabs: bool,
    /// Whether it is the window of the column that gets the focus with the column. Of tabs, only this window is
    /// visible.
    pub active: bool,
    /// Width of the column in logical pixels.
    pub width: i32,
}

impl WindowLayout {
    /// Whether it is hidden behind another tab of its column.
    pub fn is_hidden_tab(&self) -> bool {
        self.column.is_some_and(|place| place.tabs && !place.active)
    }
}

impl std::fmt::Display for WindowMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            WindowMode::Floating => "floating",
            WindowMode::Tiled => "tiled",
            WindowMode::Maximised => "maximised",
            WindowMode::Fullscreen => "fullscreen",
        })
    }
}

impl std::fmt::Display for SnappedPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SnappedPart::Left => "left half",
            SnappedPart::Right => "right half",
            SnappedPart::Top => "upper half",
            SnappedPart::Bottom => "lower half",
            SnappedPart::TopLeft => "upper left quarter",
            SnappedPart::TopRight => "upper right quarter",
            SnappedPart::BottomLeft => "lower left quarter",
            SnappedPart::BottomRight => "lower right quarter",
        })
    }
}
