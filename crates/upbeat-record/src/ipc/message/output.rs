//! Outputs as the private socket describes them.

use serde::{Deserialize, Serialize};

use super::LogicalRect;
use super::mode::OutputMode;
use upbeat_timing::beam::ScanDirection;
use upbeat_timing::pacing::{Pacing, PacingWish};
use upbeat_timing::time::Span;

/// The scan-out of a mode: lines at equal intervals, starting with the refresh, then blanking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanTiming {
    /// Number of visible lines.
    pub lines: i32,
    /// Time from one line to the next.
    pub line_time: Span,
    /// Direction in which the lines follow each other.
    pub direction: ScanDirection,
}

/// Features of a kernel driver that change the picture on screen between two refreshes, as found when the monitor was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriverFeatures {
    /// The kernel's name of the driver, such as `i915`.
    pub name: String,
    /// Whether the driver takes asynchronous flips in atomic commits.
    pub async_atomic_flips: bool,
    /// Whether the driver takes asynchronous flips through the legacy call.
    pub async_legacy_flips: bool,
    /// The planes of this output that take asynchronous flips, such as `primary-31`. Left out if the kernel does not name them
    /// (before Linux 6.16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub async_planes: Option<Vec<String>>,
    /// Whether the cursor can be moved by the legacy call, which need not wait for the refresh. Left out if that was not tried,
    /// because a cursor was on screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor_moves: Option<bool>,
    /// Whether pixels that are changed in a buffer on screen are shown only after `DIRTYFB`. Left out if the driver's answer
    /// was unclear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_dirtyfb: Option<bool>,
}

/// An output that turns with the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputRotation {
    /// Whether the rotation lock keeps its transform.
    pub locked: bool,
    /// How the device lies, as iio-sensor-proxy says: `normal`, `left-up`, `bottom-up` or `right-up`. Left out while that is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<String>,
}

/// An output with its mode, its geometry and its timing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputInfo {
    /// Name of the output, such as `HEADLESS-1`.
    pub name: String,
    /// Current mode: size in physical pixels, and rate.
    pub mode: OutputMode,
    /// Position and size in global logical coordinates.
    pub geometry: LogicalRect,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// Whether the scale is guessed from the monitor's size and resolution, because it is not configured.
    #[serde(default)]
    pub scale_is_guessed: bool,
    /// The monitor's maker, model and serial number, which rules can match. Left out if the monitor reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<String>,
    /// Rotation and reflection, as in `wl_output.transform`: such as `normal`, `90` or `flipped-180`.
    #[serde(default)]
    pub transform: String,
    /// How it turns with the device. Left out if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<OutputRotation>,
    /// Whether the output is on.
    pub on: bool,
    /// The pacing that was asked for.
    pub wish: PacingWish,
    /// The pacing in use.
    pub pacing: Pacing,
    /// Refresh interval, as measured by the vsync model.
    pub interval: Span,
    /// Upper bound of the vsync model's error; `None` while the model is not usable.
    pub vsync_error: Option<Span>,
    /// How long before scan-out a frame must be submitted.
    pub submit_lead: Span,
    /// Time reserved for composing a frame.
    pub compose_budget: Span,
    /// Scan-out of the mode; `None` if it is not known.
    #[serde(default)]
    pub scan: Option<ScanTiming>,
    /// The renderer and the reason for its choice, as text for the user.
    pub drawn_by: String,
    /// The features of the display's driver. Left out for outputs without a driver: virtual outputs and windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverFeatures>,
}

/// An output that was taken out of the layout: no window and no client is on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DisabledOutput {
    /// Name of the output, such as `HEADLESS-1`.
    pub name: String,
    /// The mode that it returns with.
    pub mode: OutputMode,
    /// The monitor's maker, model and serial number. Left out if the monitor reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<String>,
    /// Whether it is part of the layout: always `false`.
    pub enabled: bool,
}

/// The monitor that a virtual output seems to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VirtualMonitor {
    /// The maker: three letters on real monitors.
    pub make: String,
    /// The product name.
    pub model: String,
    /// The serial number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
}
