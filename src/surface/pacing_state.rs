//! What a client sets for a surface: double-buffered, so that it travels with the content update.

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::compositor::Cacheable;

use upbeat_timing::ahead::{TargetId, Wishes};

/// Pacing, limit and options: stay from one commit to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacingState(pub Wishes);

impl Cacheable for PacingState {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        *self
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

/// The target of the next commit. It is taken out by the hook before the commit and noted with the update's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingTarget(pub Option<TargetId>);

impl Cacheable for PendingTarget {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        PendingTarget(self.0.take())
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}
