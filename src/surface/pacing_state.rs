//! Double-buffered frame pacing state of a surface, so that it travels with the content update.

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::compositor::Cacheable;

use upbeat_timing::surface_targets::{FramePacingRequest, SurfaceTargetId};

/// Pacing, limit and options; they stay from one commit to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacingState(pub FramePacingRequest);

impl Cacheable for PacingState {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        *self
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

/// The target of the next commit. It is taken out before the commit and recorded with the update's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingTarget(pub Option<SurfaceTargetId>);

impl Cacheable for PendingTarget {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        PendingTarget(self.0.take())
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}
