//! Commits that are bound to a target: recorded when they are made, and cancelled while they wait.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_output::Transform;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::{SurfaceAttributes, SurfaceData};
use smithay::wayland::viewporter::ViewportCachedState;

use super::has_content;
use super::output_hooks::OutputHooks;
use super::paced_frame::{CommitFault, FrameListener, PacedFrame, TargetRevokeReason};
use super::pacing_state::{PacingState, PendingTarget};
use super::queue::UpdateConditions;
use crate::guard;
use crate::state::State;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::surface_targets::{BoundTarget, SurfaceTargetId};
use upbeat_timing::target::Target;
use upbeat_timing::time::Clock;

/// The scale, transform and viewport that belong to the buffer on screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferDescription {
    scale: i32,
    transform: Transform,
    viewport: ViewportCachedState,
}

/// The commit in progress, bound to a target.
#[derive(Debug)]
pub(super) struct BoundCommit {
    pub frame: PacedFrame,
    bound: BoundTarget,
    /// The target's refresh, unless the target was revoked.
    pub target: Option<Target>,
    keep: bool,
    latest_ready: bool,
    /// Drawn while the effective pacing was ahead.
    ahead: bool,
}

/// Takes the target of the commit in progress, if the client set one and may use it for this commit.
pub(super) fn take(state: &mut State, surface: &WlSurface, attached: bool, stamped: bool) -> Option<BoundCommit> {
    let (pending, request) = guard::with_states(surface, |states| {
        let pending = std::mem::take(states.cached_state.get::<PendingTarget>().pending());
        (pending, states.cached_state.get::<PacingState>().pending().0)
    });
    let now = state.clock.now();
    let id = pending.0?;
    let keep = does_more_than_show(state, surface);
    let entry = state.surfaces.get_mut(surface)?;
    let listener = entry.frame_pacing.as_ref().filter(|listener| listener.is_alive())?;
    if !attached {
        listener.refuse(surface, CommitFault::NoBuffer);
        return None;
    }
    if stamped {
        listener.refuse(surface, CommitFault::Stamped);
        return None;
    }
    let effective = listener.ledger().map(|ledger| ledger.machine.effective().pacing);
    let ahead = effective == Some(Pacing::Ahead);
    let (mut frame, bound) = PacedFrame::bind(listener, id, now)?;
    let target = state.target_of(surface, &bound);
    frame.set_deadline(target.map_or(bound.target.present, |target| target.ready_by));
    Some(BoundCommit { frame, bound, target, keep, latest_ready: request.latest_ready, ahead })
}

impl BoundCommit {
    /// Adds the conditions that the target puts on the update.
    pub fn add_to(&self, conditions: &mut UpdateConditions) {
        conditions.frame = Some((self.frame.id, self.bound.target.present));
        conditions.interval = self.bound.target.interval;
        conditions.uncancellable = self.keep;
        conditions.ahead = self.ahead;
        conditions.is_duplicate = self.bound.target.is_second;
        conditions.target = None;
        if self.latest_ready {
            return;
        }
        match self.target.filter(|_| !self.bound.target.timed) {
            Some(target) => conditions.target = Some(target.id),
            None => conditions.not_before = Some(self.bound.target.present),
        }
    }
}

/// Whether the commit of `surface` does more than show content: it maps the surface, acknowledges a configure, or
/// applies updates of synchronised subsurfaces.
fn does_more_than_show(state: &mut State, surface: &WlSurface) -> bool {
    let has_committed = |child| state.surfaces.get(child).is_some_and(|entry| entry.outstanding.is_any_pending());
    let takes_along = state.surfaces.cached_children(surface).iter().any(has_committed);
    let is_synchronised = state.surfaces.is_synchronised(surface);
    let Some(entry) = state.surfaces.get_mut(surface) else { return true };
    let acknowledges = std::mem::take(&mut entry.has_acked_configure);
    let mapped = entry.outstanding.leaves_content().unwrap_or_else(|| has_content(surface));
    takes_along || acknowledges || !mapped || is_synchronised
}

/// A client acknowledged a configure of `surface`: the commit that follows it must not be cancelled.
pub fn acknowledged(state: &mut State, surface: &WlSurface) {
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.has_acked_configure = true;
    }
}

/// The client cancels its frames for target `first` and later ones.
pub fn cancel_from(state: &mut State, surface: &WlSurface, listener: &dyn FrameListener, first: SurfaceTargetId) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let ids = entry.queue.cancel_from(first);
    for id in &ids {
        entry.outstanding.cancel(*id);
    }
    // Drop their records too, which are the newest. These frames are not lost: the client did not want them shown.
    let records = entry.committed.len().saturating_sub(ids.len());
    entry.committed.truncate(records);
    if let Some(mut ledger) = listener.ledger() {
        ledger.cancelled(listener, &ids);
        if let Some(revoked) = ledger.machine.revoke_from(first) {
            listener.send_revoked(revoked, TargetRevokeReason::Cancelled);
        }
        let kept = ledger.newest_open(first).map(SurfaceTargetId::next);
        listener.send_cancelled(kept.map_or(first, |kept| kept.max(first)));
    }
    if !ids.is_empty() {
        state.schedule_latch_when_due(surface);
    }
}

/// Takes the content of a cancelled update out of the state that is being applied.
pub(super) fn strip_content(states: &SurfaceData, described: Option<BufferDescription>) {
    let mut attributes = states.cached_state.get::<SurfaceAttributes>();
    let current = attributes.current();
    // The buffer was released when the frame was cancelled.
    current.buffer = None;
    current.damage.clear();
    if let Some(described) = described {
        current.buffer_scale = described.scale;
        current.buffer_transform = described.transform;
        drop(attributes);
        *states.cached_state.get::<ViewportCachedState>().current() = described.viewport;
    }
}

/// Reads the scale, transform and viewport from the applied state.
pub(super) fn describe(states: &SurfaceData) -> BufferDescription {
    let (scale, transform) = {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        let current = attributes.current();
        (current.buffer_scale, current.buffer_transform)
    };
    BufferDescription { scale, transform, viewport: *states.cached_state.get::<ViewportCachedState>().current() }
}

/// An update was applied: the pacing settings in it count from now on.
pub(super) fn applied(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    if let Some(mut ledger) = entry.frame_pacing.as_ref().and_then(|listener| listener.ledger()) {
        let request = guard::with_states(surface, |states| states.cached_state.get::<PacingState>().current().0);
        ledger.machine.set_wishes(request);
    }
}

/// The surface is gone: its ledger sends nothing any more.
pub(super) fn surface_gone(listener: Option<Arc<dyn FrameListener>>) {
    if let Some(mut ledger) = listener.as_ref().and_then(|listener| listener.ledger()) {
        ledger.make_inert();
    }
}
