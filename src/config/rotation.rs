//! `rotation` of an output: whether its picture turns with the device.

use serde::{Deserialize, Serialize};

/// Whether an output's picture turns with the device, as its accelerometer says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RotationOption {
    /// On the built-in panel of a device that is held in the hand: it has a touchscreen, and its tablet-mode switch, if
    /// it has one, is on.
    #[default]
    Auto,
    /// On every output, also without a touchscreen and in laptop mode.
    Sensor,
    Off,
}
