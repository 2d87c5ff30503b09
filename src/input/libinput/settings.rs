//! Applies the configuration to a libinput device.

use input::{AccelProfile, Device, DeviceCapability, DeviceConfigError};

use crate::config::{AccelerationProfile, Config, PointerSettings};

/// Applies the configuration to a device that was plugged in. Settings that the device does not support are skipped.
pub(super) fn apply(device: &mut Device, config: &Config) {
    if !device.has_capability(DeviceCapability::Pointer) {
        return;
    }
    let name = device.name().to_owned();
    let is_touchpad = device.config_tap_finger_count() > 0;
    let settings = config.device(&name, is_touchpad);
    for (option, result) in set(device, &settings, is_touchpad) {
        if let Err(error) = result {
            tracing::debug!(device = name, option, ?error, "the device does not support this option");
        }
    }
}

type SettingResult = (&'static str, Result<(), DeviceConfigError>);

fn set(device: &mut Device, settings: &PointerSettings, is_touchpad: bool) -> Vec<SettingResult> {
    let mut outcomes = Vec::new();
    if is_touchpad {
        outcomes.push(("tap", device.config_tap_set_enabled(settings.tap)));
        outcomes.push(("disable-while-typing", device.config_dwt_set_enabled(settings.disable_while_typing)));
    }
    if device.config_scroll_has_natural_scroll() {
        let natural = settings.natural_scroll;
        outcomes.push(("natural-scroll", device.config_scroll_set_natural_scroll_enabled(natural)));
    }
    if device.config_left_handed_is_available() {
        outcomes.push(("left-handed", device.config_left_handed_set(settings.left_handed)));
    }
    if device.config_accel_is_available() {
        let profile = match settings.acceleration_profile {
            AccelerationProfile::Flat => AccelProfile::Flat,
            AccelerationProfile::Adaptive => AccelProfile::Adaptive,
        };
        outcomes.push(("acceleration-profile", device.config_accel_set_profile(profile)));
        outcomes.push(("acceleration", device.config_accel_set_speed(settings.acceleration.get())));
    }
    outcomes
}
