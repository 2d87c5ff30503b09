//! Explicit synchronisation: the acquire and release points of a commit (`wp_linux_drm_syncobj_surface_v1`).

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::SurfaceData;
use smithay::wayland::drm_syncobj::{DrmSyncPoint, DrmSyncobjCachedState};

use super::fence::AcquireFence;
use crate::guard;

/// The timeline points of a commit.
#[derive(Debug, Default)]
pub(super) struct SyncPoints {
    /// Signals when the buffer may be read.
    pub acquire: Option<Box<dyn AcquireFence>>,
    /// To be signalled when the buffer is not read any more. If it is set, the buffer's implicit fences do not count.
    pub release: Option<DrmSyncPoint>,
}

/// The points of the commit in progress. An acquire point that cannot be waited for is a protocol error.
pub(super) fn pending(surface: &WlSurface) -> SyncPoints {
    let (acquire, release) = guard::with_states(surface, |states| {
        let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
        let points = points.pending();
        (points.acquire_point.clone(), points.release_point.clone())
    });
    let (Some(acquire), Some(release)) = (acquire, release) else { return SyncPoints::default() };
    let waits = acquire.eventfd().inspect_err(|error| {
        let Some(client) = surface.client() else { return };
        if let Some(more) = guard::warning_allowed(&client, "acquire point") {
            tracing::warn!(client = ?client.id(), more, %error, "cannot wait for an acquire point");
        }
    });
    let acquire = waits.ok().map(|descriptor| Box::new(descriptor) as Box<dyn AcquireFence>);
    SyncPoints { acquire, release: Some(release) }
}

/// Signals the release point of a commit that is never shown.
pub(super) fn signal(point: &DrmSyncPoint) {
    if let Err(error) = point.signal() {
        tracing::debug!(%error, "cannot signal a release point");
    }
}

/// Removes the points of an update whose content was cancelled, so that the next buffer does not get them.
pub(super) fn strip(states: &SurfaceData) {
    let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
    *points.current() = DrmSyncobjCachedState::default();
}
