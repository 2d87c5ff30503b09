//! `wp_linux_drm_syncobj_manager_v1` 1: explicit synchronisation, with points on timelines of a DRM device.
//!
//! Offered once there is a device, of displays or for rendering, whose driver can report a point through an eventfd
//! (Linux 6.6). A commit waits in the queue of its surface until its *acquire point* is signalled, as for any other
//! fence (`surface/sync_points.rs`, `surface/fence.rs`). Its *release point* is signalled when its buffer is no longer
//! read: when it has been composed, when the flip that removes it from its plane is done, or at once if it is never
//! shown.
//!
//! ```text
//!   client   draw ──────────────► acquire point
//!   commit ──► waits ─────────────────┴─► latched ─► composed or on a plane ─► release point ─► client draws again
//! ```
//!
//! A commit with points does not wait for its buffer's implicit fences.

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::wayland_protocols::wp::linux_drm_syncobj::v1::server::wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1;
use smithay::reexports::wayland_protocols::wp::linux_drm_syncobj::v1::server::wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1;
use smithay::reexports::wayland_protocols::wp::linux_drm_syncobj::v1::server::wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1;
use smithay::wayland::drm_syncobj::{DrmSyncobjGlobalData, DrmSyncobjSurfaceData, DrmSyncobjTimelineData};
use smithay::wayland::drm_syncobj::{DrmSyncobjHandler, DrmSyncobjState, supports_syncobj_eventfd};

use super::dispatch_guard::delegate;
use crate::state::State;

/// The global, while there is a device for it.
#[derive(Debug, Default)]
pub struct ExplicitSync(Option<DrmSyncobjState>);

/// Offers the global, unless it exists already or the driver does not support it.
pub fn offer(state: &mut State, device: &DrmDeviceFd) {
    let explicit = &mut state.protocols.explicit_sync;
    if explicit.0.is_none() && supports_syncobj_eventfd(device) {
        explicit.0 = Some(DrmSyncobjState::new::<State>(&state.display_handle, device.clone()));
    }
}

/// The device for imports may be gone: `device` is another one, if there is any.
pub fn device_removed(state: &mut State, device: Option<&DrmDeviceFd>) {
    let explicit = &mut state.protocols.explicit_sync;
    let device = device.filter(|device| supports_syncobj_eventfd(device));
    match (device, explicit.0.take()) {
        (Some(device), Some(mut known)) => {
            known.update_device(device.clone());
            explicit.0 = Some(known);
        }
        (None, Some(known)) => state.display_handle.remove_global::<State>(known.into_global()),
        (_, None) => {}
    }
}

impl DrmSyncobjHandler for State {
    fn drm_syncobj_state(&mut self) -> Option<&mut DrmSyncobjState> {
        self.protocols.explicit_sync.0.as_mut()
    }
}

delegate!(global WpLinuxDrmSyncobjManagerV1: DrmSyncobjGlobalData => DrmSyncobjState);
delegate!(WpLinuxDrmSyncobjManagerV1: () => DrmSyncobjState);
delegate!(WpLinuxDrmSyncobjSurfaceV1: DrmSyncobjSurfaceData => DrmSyncobjState);
delegate!(WpLinuxDrmSyncobjTimelineV1: DrmSyncobjTimelineData => DrmSyncobjState);
