//! What the tool of a graphics tablet does.

use smithay::backend::input::TabletToolDescriptor;
use smithay::utils::{Logical, Point};
use smithay::wayland::tablet_manager::TabletDescriptor;

/// What a tool did, and how it is held.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolEvent {
    /// At which tablet.
    pub tablet: TabletDescriptor,
    /// Which tool.
    pub tool: TabletToolDescriptor,
    /// Where it is (global logical coordinates).
    pub position: Point<f64, Logical>,
    /// What has changed of how it is held.
    pub axes: Axes,
    /// What it did.
    pub action: ToolAction,
}

/// What has changed of how a tool is held; `None` for what has not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Axes {
    /// 0 to 1.
    pub pressure: Option<f64>,
    /// 0 to 1, from the tablet.
    pub distance: Option<f64>,
    /// Degrees from the vertical, in x and y.
    pub tilt: Option<(f64, f64)>,
    /// Degrees clockwise.
    pub rotation: Option<f64>,
    /// -1 to 1.
    pub slider: Option<f64>,
    /// Degrees and clicks.
    pub wheel: Option<(f64, i32)>,
}

/// What a tool did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolAction {
    /// It came near.
    Enter,
    /// It went away.
    Leave,
    /// It moved, or is held differently.
    Move,
    /// Its tip touched the tablet (`true`) or was lifted.
    Tip(bool),
    /// A button (Linux event code) went down (`true`) or up.
    Button(u32, bool),
}
