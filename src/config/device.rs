//! Input devices.

use serde::{Deserialize, Serialize};

use super::{Pattern, ValueError};

/// What mice, or touchpads, are like. A device that cannot do something ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PointerSettings {
    /// Whether the content moves with the finger.
    pub natural_scroll: bool,
    /// Whether the buttons are swapped.
    pub left_handed: bool,
    /// How far the pointer goes for a hand's movement.
    pub acceleration: Acceleration,
    /// Whether a fast movement takes it farther than a slow one.
    pub acceleration_profile: AccelerationProfile,
    /// Whether a tap is a click (touchpads).
    pub tap: bool,
    /// Whether the touchpad rests while somebody types (touchpads).
    pub disable_while_typing: bool,
}

/// A rule for pointing devices. What it leaves out stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeviceRule {
    /// Which devices, by the names that the log has for them when they are plugged in.
    pub name: Pattern,
    pub natural_scroll: Option<bool>,
    pub left_handed: Option<bool>,
    pub acceleration: Option<Acceleration>,
    pub acceleration_profile: Option<AccelerationProfile>,
    pub tap: Option<bool>,
    pub disable_while_typing: Option<bool>,
}

impl DeviceRule {
    /// `settings`, and what the rule says.
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

/// From -1 (slowest) to 1 (fastest), as libinput has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Acceleration(f64);

/// How acceleration depends on speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccelerationProfile {
    /// Not at all.
    Flat,
    /// As the device's kind suggests.
    #[default]
    Adaptive,
}

impl Acceleration {
    /// -1 to 1.
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

/// The keyboard, in XKB's words; empty ones stand for the system's default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Keyboard {
    /// Such as `us` or `us,de`.
    #[serde(deserialize_with = "name")]
    pub layout: String,
    /// Such as `dvorak`.
    #[serde(deserialize_with = "name")]
    pub variant: String,
    /// Such as `pc105`.
    #[serde(deserialize_with = "name")]
    pub model: String,
    /// Such as `compose:caps,grp:alt_shift_toggle`.
    #[serde(deserialize_with = "name")]
    pub options: String,
    /// How long a key is held before it repeats, in milliseconds.
    pub repeat_delay: u16,
    /// How often it then repeats, a second; 0 for never.
    pub repeat_rate: u16,
}

/// A name that C libraries are given, which end it at a zero.
fn name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name.contains('\0') {
        return Err(serde::de::Error::custom("a name without zero characters was expected"));
    }
    Ok(name)
}

/// The pointer's image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cursor {
    /// Name of an XCursor theme.
    #[serde(deserialize_with = "name")]
    pub theme: String,
    /// Its nominal size in logical pixels.
    pub size: u16,
}
