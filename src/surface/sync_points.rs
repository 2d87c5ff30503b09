//! What a commit says of its buffer by points on timelines (explicit synchronisation).

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::SurfaceData;
use smithay::wayland::drm_syncobj::{DrmSyncPoint, DrmSyncobjCachedState};

use super::fence::AcquireFence;
use crate::guard;

/// What a commit says of its buffer.
#[derive(Debug, Default)]
pub(super) struct Points {
    /// Signals when the buffer may be read.
    pub acquire: Option<Box<dyn AcquireFence>>,
    /// To be signalled when nobody reads it any more. Where it is named the fences that the buffer carries itself do not
    /// count.
    pub release: Option<DrmSyncPoint>,
}

/// The points of the commit that `surface` is making. One whose acquire point cannot be waited for is the client's fault.
pub(super) fn pending(surface: &WlSurface) -> Points {
    let (acquire, release) = guard::with_states(surface, |states| {
        let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
        let points = points.pending();
        (points.acquire_point.clone(), points.release_point.clone())
    });
    let (Some(acquire), Some(release)) = (acquire, release) else { return Points::default() };
    let waits = acquire.eventfd().inspect_err(|error| {
        let Some(client) = surface.client() else { return };
        if let Some(more) = guard::complaint(&client, "acquire point") {
            tracing::warn!(client = ?client.id(), more, %error, "an acquire point cannot be waited for");
        }
    });
    let acquire = waits.ok().map(|descriptor| Box::new(descriptor) as Box<dyn AcquireFence>);
    Points { acquire, release: Some(release) }
}

/// Nobody reads the buffer of a commit that is never shown.
pub(super) fn signal(point: &DrmSyncPoint) {
    if let Err(error) = point.signal() {
        tracing::debug!(%error, "a release point cannot be signalled");
    }
}

/// The update that was applied to a surface has no content any more: its points are not for what comes next.
pub(super) fn strip(states: &SurfaceData) {
    let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
    *points.current() = DrmSyncobjCachedState::default();
}
