//! Connectors: what is plugged in where, and which CRTC drives it.

use smithay::reexports::drm::control::{Device, ResourceHandles, connector, crtc};

use super::DrmError;
use super::property::Properties;

/// A monitor that is plugged in.
pub(super) struct Monitor {
    pub connector: connector::Info,
    pub name: String,
}

/// `DP-1`, `eDP-1`, `HDMI-A-1`, `Virtual-1`: as the kernel calls it.
pub(super) fn name(connector: &connector::Info) -> String {
    format!("{}-{}", connector.interface().as_str(), connector.interface_id())
}

/// Everything that is plugged in. `probe` asks the hardware, which can take a while for some monitors.
pub(super) fn plugged(device: &impl Device, probe: bool) -> Result<Vec<Monitor>, DrmError> {
    let resources = device.resource_handles().map_err(|error| DrmError::Device { what: "its resources", error })?;
    let infos = resources.connectors().iter().filter_map(|handle| device.get_connector(*handle, probe).ok());
    let connected = infos.filter(|info| info.state() == connector::State::Connected);
    Ok(connected.map(|connector| Monitor { name: name(&connector), connector }).collect())
}

/// A CRTC that can drive `monitor` and is not in `taken`; the one that drives it now, if possible, which avoids a
/// change of mode when a session starts.
pub(super) fn crtc_for(device: &impl Device, monitor: &Monitor, taken: &[crtc::Handle]) -> Option<crtc::Handle> {
    let resources: ResourceHandles = device.resource_handles().ok()?;
    let encoder = |handle| device.get_encoder(handle).ok();
    let current = monitor.connector.current_encoder().and_then(encoder).and_then(|encoder| encoder.crtc());
    let possible = monitor.connector.encoders().iter().filter_map(|handle| encoder(*handle));
    let possible = possible.flat_map(|encoder| resources.filter_crtcs(encoder.possible_crtcs()));
    current.into_iter().chain(possible).find(|crtc| !taken.contains(crtc))
}

/// Connectors without a monitor that `crtc` drives besides `ours`: the console left them there.
pub(super) fn strays(device: &impl Device, crtc: crtc::Handle, ours: connector::Handle) -> Vec<Properties> {
    let Ok(resources) = device.resource_handles() else { return Vec::new() };
    let others = resources.connectors().iter().filter(|handle| **handle != ours);
    let empty = others.filter(|handle| {
        device.get_connector(**handle, false).is_ok_and(|info| info.state() != connector::State::Connected)
    });
    let properties = empty.filter_map(|handle| Properties::of(device, *handle).ok());
    properties.filter(|properties| properties.value("CRTC_ID") == Some(u64::from(u32::from(crtc)))).collect()
}
