//! Connectors: the monitors that are plugged in, and the CRTC that drives each.

use smithay::reexports::drm::control::{Device, ResourceHandles, connector, crtc, from_u32};

use super::DrmError;
use super::property::Properties;

/// A monitor that is plugged in.
pub(super) struct ConnectedMonitor {
    pub connector: connector::Info,
    pub name: String,
}

/// The kernel's name of a connector: `DP-1`, `eDP-1`, `HDMI-A-1`, `Virtual-1`.
pub(super) fn name(connector: &connector::Info) -> String {
    format!("{}-{}", connector.interface().as_str(), connector.interface_id())
}

/// All connected monitors. `probe` asks the hardware, which can take a while for some monitors.
pub(super) fn connected_monitors(device: &impl Device, probe: bool) -> Result<Vec<ConnectedMonitor>, DrmError> {
    let resources = device
        .resource_handles()
        .map_err(|error| DrmError::Device { what: "the device's resources cannot be read", error })?;
    let infos = resources.connectors().iter().filter_map(|handle| device.get_connector(*handle, probe).ok());
    let connected = infos.filter(|info| info.state() == connector::State::Connected);
    Ok(connected.map(|connector| ConnectedMonitor { name: name(&connector), connector }).collect())
}

/// A CRTC that can drive `monitor` and is not in `taken`. It prefers the monitor's current CRTC, which avoids a mode
/// switch when a session starts.
pub(super) fn crtc_for(
    device: &impl Device,
    monitor: &ConnectedMonitor,
    taken: &[crtc::Handle],
) -> Option<crtc::Handle> {
    let resources: ResourceHandles = device.resource_handles().ok()?;
    let encoder = |handle| device.get_encoder(handle).ok();
    let current = monitor.connector.current_encoder().and_then(encoder).and_then(|encoder| encoder.crtc());
    let possible = monitor.connector.encoders().iter().filter_map(|handle| encoder(*handle));
    let possible = possible.flat_map(|encoder| resources.filter_crtcs(encoder.possible_crtcs()));
    current.into_iter().chain(possible).find(|crtc| !taken.contains(crtc))
}

/// The current routes of all connectors that have a CRTC. No monitor is probed.
pub(super) fn routes(device: &impl Device) -> Vec<Route> {
    let Ok(resources) = device.resource_handles() else { return Vec::new() };
    let route = |connector: &connector::Handle| {
        let crtc = Properties::of(device, *connector).ok()?.value("CRTC_ID")?;
        Some((*connector, from_u32(u32::try_from(crtc).ok()?)?))
    };
    resources.connectors().iter().filter_map(route).collect()
}

/// A connector and the CRTC that drives it.
pub(super) type Route = (connector::Handle, crtc::Handle);

/// Whether a commit of one route of `ours` alone would leave another CRTC without its connector, or with two. The
/// kernel refuses such a commit, and two outputs that swap CRTCs would each wait for the other.
pub(super) fn have_crtc_conflict(now: &[Route], ours: &[Route]) -> bool {
    now.iter().any(|(connector, crtc)| match ours.iter().find(|(known, _)| known == connector) {
        Some((_, own)) => own != crtc,
        None => ours.iter().any(|(_, own)| own == crtc),
    })
}

/// Connectors without a monitor that `crtc` still drives besides `ours`: the console left them attached.
pub(super) fn stray_connectors(device: &impl Device, crtc: crtc::Handle, ours: connector::Handle) -> Vec<Properties> {
    let Ok(resources) = device.resource_handles() else { return Vec::new() };
    let others = resources.connectors().iter().filter(|handle| **handle != ours);
    let empty = others.filter(|handle| {
        device.get_connector(**handle, false).is_ok_and(|info| info.state() != connector::State::Connected)
    });
    let properties = empty.filter_map(|handle| Properties::of(device, *handle).ok());
    properties.filter(|properties| properties.value("CRTC_ID") == Some(u64::from(u32::from(crtc)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(numbers: &[(u32, u32)]) -> Vec<Route> {
        let route = |(connector, crtc): &(u32, u32)| Some((from_u32(*connector)?, from_u32(*crtc)?));
        numbers.iter().filter_map(route).collect()
    }

    #[test]
    fn unchanged_or_dark_routes_have_no_conflict() {
        let ours = routes(&[(1, 11), (2, 12)]);
        for now in [&[][..], &[(1, 11)], &[(2, 12), (1, 11)], &[(1, 11), (3, 13)]] {
            assert!(!have_crtc_conflict(&routes(now), &ours), "{now:?}");
        }
    }

    #[test]
    fn routes_changed_by_another_session_conflict() {
        let ours = routes(&[(1, 11), (2, 12)]);
        for now in [&[(1, 12), (2, 11)][..], &[(2, 11)], &[(1, 13)], &[(3, 12)]] {
            assert!(have_crtc_conflict(&routes(now), &ours), "{now:?}");
        }
    }
}
