//! Explicit synchronisation with the parent (`wp_linux_drm_syncobj_v1`): a timeline for each buffer.
//!
//! ```text
//!   point    1 acquire          2 release              3 acquire          4 release
//!            │ the GPU has      │ the parent does      │                  │
//!            │ drawn frame 1    │ not read it any more │ frame 2 is drawn │ …
//! ```

use std::os::fd::{AsFd as _, BorrowedFd};

use smithay::reexports::drm::control::{Device as _, syncobj};
use smithay::reexports::drm::{Device as _, DriverCapability};
use wayland_client::QueueHandle;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1;

use super::parent::ParentState;
use super::parent_device::ParentDevice;
use crate::backend::fence;

/// Whether the driver has timelines.
pub(super) fn is_supported(device: &ParentDevice) -> bool {
    device.get_driver_capability(DriverCapability::TimelineSyncObj).is_ok_and(|has| has != 0)
}

/// The timeline of one buffer.
#[derive(Debug)]
pub(super) struct BufferTimeline {
    device: ParentDevice,
    handle: syncobj::Handle,
    object: WpLinuxDrmSyncobjTimelineV1,
    /// The release point of the last commit; zero before the first.
    released: u64,
}

impl BufferTimeline {
    /// A timeline of `device` that the parent imports.
    pub(super) fn new(
        device: &ParentDevice,
        manager: &WpLinuxDrmSyncobjManagerV1,
        handle: &QueueHandle<ParentState>,
    ) -> std::io::Result<Self> {
        let timeline = device.create_syncobj(false)?;
        let shared = device.syncobj_to_fd(timeline, false).inspect_err(|_| {
            let _ = device.destroy_syncobj(timeline);
        })?;
        let object = manager.import_timeline(shared.as_fd(), handle, ());
        Ok(BufferTimeline { device: device.clone(), handle: timeline, object, released: 0 })
    }

    /// Sets the points of the next commit, which attaches the buffer. `drawn` signals when the picture is complete;
    /// `None`: it is complete.
    pub(super) fn set_points(&mut self, surface: &WpLinuxDrmSyncobjSurfaceV1, drawn: Option<BorrowedFd<'_>>) {
        let (acquire, release) = (self.released + 1, self.released + 2);
        if let Err(error) = self.signal_after(acquire, drawn) {
            tracing::warn!(%error, "the parent cannot wait for the GPU: a frame may be incomplete");
            // Without a signal the parent would wait for ever.
            if let Err(error) = self.device.syncobj_timeline_signal(&[self.handle], &[acquire]) {
                tracing::error!(%error, "a frame for the parent cannot be marked as complete");
            }
        }
        let halves = |point: u64| ((point >> 32) as u32, point as u32);
        let ((acquire_high, acquire_low), (release_high, release_low)) = (halves(acquire), halves(release));
        surface.set_acquire_point(&self.object, acquire_high, acquire_low);
        surface.set_release_point(&self.object, release_high, release_low);
        self.released = release;
    }

    fn signal_after(&self, point: u64, drawn: Option<BorrowedFd<'_>>) -> std::io::Result<()> {
        let Some(drawn) = drawn else {
            return self.device.syncobj_timeline_signal(&[self.handle], &[point]);
        };
        let carrier = self.device.create_syncobj(false)?;
        let moved = fence::put_into_syncobj(self.device.as_fd(), carrier.into(), drawn)
            .and_then(|()| self.device.syncobj_timeline_transfer(carrier, self.handle, 0, point));
        self.device.destroy_syncobj(carrier)?;
        moved
    }

    /// Whether the parent has finished to read the last commit.
    pub(super) fn is_released(&self) -> bool {
        let mut reached = [0];
        let asked = self.device.syncobj_timeline_query(&[self.handle], &mut reached, false);
        asked.is_ok() && reached[0] >= self.released
    }
}

impl Drop for BufferTimeline {
    fn drop(&mut self) {
        self.object.destroy();
        if let Err(error) = self.device.destroy_syncobj(self.handle) {
            tracing::debug!(%error, "a timeline was gone already");
        }
    }
}
