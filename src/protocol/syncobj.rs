//! `wp_linux_drm_syncobj_manager_v1` 1: explicit synchronisation, with points on timelines of a display device.
//!
//! Offered in a session on displays, once there is a device whose driver can tell of a point through an eventfd (Linux
//! 6.6). A commit waits in the queue of its surface until its *acquire point* is signalled, like for any other fence
//! (`surface/fence.rs`); its *release point* is signalled when nobody reads its buffer any more: when it has been composed,
//! when the flip that takes its plane away is done, or at once if it is never shown.
//!
//! ```text
//!   client   draw ──────────────► acquire point
//!   commit ──► waits ─────────────────┴─► latched ─► composed or on a plane ─► release point ─► client draws again
//! ```
//!
//! Buffers whose client says so are not waited for by the fences that they carry themselves.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::{self, SurfaceData};
use smithay::wayland::drm_syncobj::{
    DrmSyncPoint, DrmSyncobjCachedState, DrmSyncobjHandler, DrmSyncobjState, supports_syncobj_eventfd,
};

use crate::state::State;
use crate::surface::fence::AcquireFence;

/// The global, while there is a device for it.
#[derive(Debug, Default)]
pub struct ExplicitSync(Option<DrmSyncobjState>);

/// What a commit says of its buffer.
#[derive(Debug, Default)]
pub struct Points {
    /// Signals when the buffer may be read.
    pub acquire: Option<Box<dyn AcquireFence>>,
    /// To be signalled when nobody reads it any more. Where it is named the fences that the buffer carries itself do not
    /// count.
    pub release: Option<DrmSyncPoint>,
}

/// Offers the global, unless it is there already or the driver lacks what it takes.
pub fn offer(state: &mut State, device: &DrmDeviceFd) {
    let explicit = &mut state.protocols.explicit_sync;
    if explicit.0.is_none() && supports_syncobj_eventfd(device) {
        explicit.0 = Some(DrmSyncobjState::new::<State>(&state.display_handle, device.clone()));
    }
}

/// The device that was imported to is perhaps gone: `device` is one that is there, if any is.
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

/// The points of the commit that `surface` is making. One whose acquire point cannot be waited for is the client's fault.
pub(crate) fn pending(surface: &WlSurface) -> Points {
    let (acquire, release) = compositor::with_states(surface, |states| {
        let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
        let points = points.pending();
        (points.acquire_point.clone(), points.release_point.clone())
    });
    let (Some(acquire), Some(release)) = (acquire, release) else { return Points::default() };
    let waits = acquire.eventfd().inspect_err(|error| {
        tracing::warn!(client = ?surface.client().map(|client| client.id()), %error, "an acquire point cannot be waited for");
    });
    let acquire = waits.ok().map(|descriptor| Box::new(descriptor) as Box<dyn AcquireFence>);
    Points { acquire, release: Some(release) }
}

/// Nobody reads the buffer of a commit that is never shown.
pub(crate) fn signal(point: &DrmSyncPoint) {
    if let Err(error) = point.signal() {
        tracing::debug!(%error, "a release point cannot be signalled");
    }
}

/// The update that was applied to a surface has no content any more: its points are not for what comes next.
pub(crate) fn strip(states: &SurfaceData) {
    let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
    *points.current() = DrmSyncobjCachedState::default();
}

/// An eventfd that a point signals.
impl AcquireFence for Arc<OwnedFd> {}

impl DrmSyncobjHandler for State {
    fn drm_syncobj_state(&mut self) -> Option<&mut DrmSyncobjState> {
        self.protocols.explicit_sync.0.as_mut()
    }
}

smithay::delegate_drm_syncobj!(State);
