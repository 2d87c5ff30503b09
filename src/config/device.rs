//! Settings of mice, touchpads, keyboards and the cursor.

use serde::{Deserialize, Serialize};

use super::{ValueError, WildcardPattern};

/// The settings of mice or of touchpads. A device ignores a setting that it does not support.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PointerSettings {
    /// Whether the content moves with the finger.
    pub natural_scroll: bool,
    /// Whether the buttons are swapped.
    pub left_handed: bool,
    /// How far the pointer moves for a movement of the device.
    pub acceleration: Acceleration,
    /// Whether a fast movement moves it farther than a slow one.
    pub acceleration_profile: AccelerationProfile,
    /// Whether a tap is a click (touchpads).
    pub tap: bool,
    /// Whether the touchpad is off while the user types (touchpads).
    pub disable_while_typing: bool,
}

/// A `[[device]]` rule for pointing devices. Options that it leaves out keep their value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeviceRule {
    /// Matches device names, which are logged when devices are plugged in.
    pub name: WildcardPattern,
    pub natural_scroll: Option<bool>,
    pub left_handed: Option<bool>,
    pub acceleration: Option<Acceleration>,
    pub acceleration_profile: Option<AccelerationProfile>,
    pub tap: Option<bool>,
    pub disable_while_typing: Option<bool>,
}

impl DeviceRule {
    /// Returns `settings` with the options of the rule.
    pub(super) fn apply(&self, settings: PointerSettings) -> PointerSettings {
        PointerSettings {
            natural_scroll: self.natural_scroll.unwrap_or(settings.natural_scroll),
            left_handed: self.left_handed.unwrap_or(settings.left_handed),
            acceleration: self.acceleration.unwrap_or(settings.acceleration),
            acceleration_profile: self.acceleration_profile.unwrap_or(settings.acceleration_profile),
            tap: self.tap.unwrap_or(settings.tap),
            disable_while_typing: self.disable_while_typing.unwrap_or(settings.disable_while_typing),
        }
    }
}

/// From -1 (slowest) to 1 (fastest), as in libinput.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Acceleration(f64);

/// How acceleration depends on speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccelerationProfile {
    /// It is constant.
    Flat,
    /// By the kind of device.
    #[default]
    Adaptive,
}

impl Acceleration {
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Acceleration {
    type Error = ValueError;

    fn try_from(speed: f64) -> Result<Self, ValueError> {
        if (-1.0..=1.0).contains(&speed) {
            Ok(Acceleration(speed))
        } else {
            Err(ValueError("expected an acceleration from -1 (slowest) to 1 (fastest)"))
        }
    }
}

impl From<Acceleration> for f64 {
    fn from(acceleration: Acceleration) -> f64 {
        acceleration.0
    }
}

impl Default for PointerSettings {
    fn default() -> Self {
        PointerSettings {
            natural_scroll: false,
            left_handed: false,
            acceleration: Acceleration::default(),
            acceleration_profile: AccelerationProfile::Adaptive,
            tap: true,
            disable_while_typing: true,
        }
    }
}

/// The `[keyboard]` table, in XKB names; empty strings mean the system's default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct KeyboardOptions {
    /// Such as `us` or `us,de`.
    #[serde(deserialize_with = "name")]
    pub layout: String,
    /// For example `dvorak`.
    #[serde(deserialize_with = "name")]
    pub variant: String,
    /// For example `pc105`.
    #[serde(deserialize_with = "name")]
    pub model: String,
    /// For example `compose:caps,grp:alt_shift_toggle`.
    #[serde(deserialize_with = "name")]
    pub options: String,
    /// How long a key is held before it repeats, in milliseconds.
    pub repeat_delay: u16,
    /// How often it then repeats, a second; 0 for never.
    pub repeat_rate: u16,
}

/// Reads a name without zero characters, because C libraries end strings there.
fn name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name.contains('\0') {
        return Err(serde::de::Error::custom("a name without zero characters was expected"));
    }
    Ok(name)
}

/// The `[cursor]` table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CursorOptions {
    /// Name of an Xcursor theme.
    #[serde(deserialize_with = "name")]
    pub theme: String,
    /// Nominal size in logical pixels.
    pub size: u16,
}
