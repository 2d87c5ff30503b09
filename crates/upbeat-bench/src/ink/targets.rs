//! Draws for frame targets instead of callbacks: two frames for a refresh where a second one fits.

use wayland_client::globals::{BindError, GlobalList};
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Dispatch, QueueHandle};

use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::UpbeatFramePacingManagerV1;
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_v1::{Pacing, UpbeatFramePacingV1, Wish};

/// The version of the protocol that has second targets.
const SECOND_SHOT: u32 = 2;

/// The frame-pacing object, and the target of the next frame.
#[derive(Debug)]
pub(super) struct TargetRequests {
    object: UpbeatFramePacingV1,
    /// Id of the newest target: high and low half.
    pub(super) newest: (u32, u32),
}

impl TargetRequests {
    /// Requests the first target.
    pub(super) fn ask<D>(
        globals: &GlobalList,
        surface: &WlSurface,
        handle: &QueueHandle<D>,
    ) -> Result<TargetRequests, BindError>
    where
        D: Dispatch<UpbeatFramePacingManagerV1, ()> + Dispatch<UpbeatFramePacingV1, ()> + 'static,
    {
        let manager: UpbeatFramePacingManagerV1 = globals.bind(handle, SECOND_SHOT..=SECOND_SHOT, ())?;
        let object = manager.get_frame_pacing(surface, handle, ());
        object.set_pacing(Pacing::JustInTime);
        object.set_options(Wish::SecondShot);
        object.request_target();
        Ok(TargetRequests { object, newest: (0, 0) })
    }

    /// Binds the next commit to the newest target.
    pub(super) fn bind(&self) {
        self.object.bind(self.newest.0, self.newest.1);
    }

    /// Requests the next target.
    pub(super) fn next(&self) {
        self.object.request_target();
    }
}
