//! Events of graphics tablet tools.

use smithay::backend::input::TabletToolDescriptor;
use smithay::utils::{Logical, Point};
use smithay::wayland::tablet_manager::TabletDescriptor;

/// An event of a tool, with its position and axes.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolEvent {
    pub tablet: TabletDescriptor,
    pub tool: TabletToolDescriptor,
    /// Global logical coordinates.
    pub position: Point<f64, Logical>,
    /// The axes that have changed.
    pub axes: ToolAxes,
    pub action: ToolAction,
}

/// The axes of a tool; `None` for axes that have not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolAxes {
    /// From 0 to 1.
    pub pressure: Option<f64>,
    /// 0 to 1, from the tablet.
    pub distance: Option<f64>,
    /// Degrees from the vertical, in x and y.
    pub tilt: Option<(f64, f64)>,
    /// In degrees, clockwise.
    pub rotation: Option<f64>,
    /// From -1 to 1.
    pub slider: Option<f64>,
    /// In degrees and in clicks.
    pub wheel: Option<(f64, i32)>,
}

/// The kind of a tool event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolAction {
    /// The tool came near the tablet.
    Enter,
    /// The tool left the tablet.
    Leave,
    /// It moved, or other axes changed.
    Move,
    /// Its tip touched the tablet (`true`) or was lifted.
    Tip(bool),
    /// A button (Linux event code) went down (`true`) or up.
    Button(u32, bool),
}
