//! Commits that are bound to a target: noted when they are made, cancelled while they wait.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_output::Transform;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::{self, SurfaceAttributes, SurfaceData};
use smithay::wayland::viewporter::ViewportCachedState;

use super::has_content;
use super::queue::Conditions;
use crate::output;
use crate::protocol::frame_pacing::{
    Error, FramePacing, PacedFrame, PacingState, PendingTarget, RevokeReason, UpbeatFramePacingV1, send_cancelled,
    send_revoked,
};
use crate::state::State;
use crate::time::Clock;
use crate::timing::ahead::{Bound, TargetId};
use crate::timing::pacing::Pacing;
use crate::timing::target::Target;

/// What describes the buffer that a surface shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Described {
    scale: i32,
    transform: Transform,
    viewport: ViewportCachedState,
}

/// The commit that is being made is bound to a target.
#[derive(Debug)]
pub(super) struct BoundCommit {
    pub frame: PacedFrame,
    bound: Bound,
    /// The refresh, where it still holds.
    pub target: Option<Target>,
    keep: bool,
    latest_ready: bool,
    /// Drawn while the pacing in force was ahead.
    ahead: bool,
}

/// Takes the target of the commit that is being made, if it has one and may have it.
pub(super) fn take(state: &mut State, surface: &WlSurface, attached: bool, stamped: bool) -> Option<BoundCommit> {
    let (pending, wishes) = compositor::with_states(surface, |states| {
        let pending = std::mem::take(states.cached_state.get::<PendingTarget>().pending());
        (pending, states.cached_state.get::<PacingState>().pending().0)
    });
    let now = state.clock.now();
    let id = pending.0?;
    let keep = changes_more(state, surface);
    let entry = state.surfaces.get_mut(surface)?;
    let object = entry.frame_pacing.as_ref().filter(|object| object.is_alive())?;
    let number = surface.id().protocol_id();
    if !attached {
        object.post_error(Error::NoBuffer, format!("the commit of wl_surface#{number} attaches no buffer"));
        return None;
    }
    if stamped {
        object.post_error(Error::TimestampConflict, format!("the commit of wl_surface#{number} has a timestamp, too"));
        return None;
    }
    let effective = object.data::<FramePacing>().map(|data| data.lock().machine.effective().pacing);
    let ahead = effective == Some(Pacing::Ahead);
    let (mut frame, bound) = PacedFrame::bind(object, id, now)?;
    let target = output::ahead::target_of(state, surface, &bound);
    frame.due(target.map_or(bound.target.present, |target| target.ready_by));
    Some(BoundCommit { frame, bound, target, keep, latest_ready: wishes.latest_ready, ahead })
}

impl BoundCommit {
    /// What the update waits for because of its target.
    pub fn add_to(&self, conditions: &mut Conditions) {
        conditions.frame = Some((self.frame.id, self.bound.target.present));
        conditions.interval = self.bound.target.interval;
        conditions.keep = self.keep;
        conditions.ahead = self.ahead;
        conditions.target = None;
        if self.latest_ready {
            return;
        }
        match self.target {
            Some(target) => conditions.target = Some(target.id),
            None => conditions.not_before = Some(self.bound.target.present),
        }
    }
}

/// Whether the commit of `surface` does more than show content: maps it, acknowledges a configure, or takes
/// synchronised subsurfaces along.
fn changes_more(state: &mut State, surface: &WlSurface) -> bool {
    let takes_along = compositor::get_children(surface).iter().any(|child| {
        let committed = state.surfaces.get(child).is_some_and(|entry| entry.outstanding.any());
        committed && compositor::is_sync_subsurface(child)
    });
    let Some(entry) = state.surfaces.get_mut(surface) else { return true };
    let acknowledges = std::mem::take(&mut entry.acknowledges);
    let mapped = entry.outstanding.leaves_content().unwrap_or_else(|| has_content(surface));
    takes_along || acknowledges || !mapped || compositor::is_sync_subsurface(surface)
}

/// A client acknowledged a configure of the role of `surface`: the commit that says so is not to be cancelled.
pub fn acknowledged(state: &mut State, surface: &WlSurface) {
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.acknowledges = true;
    }
}

/// Frames from `first` on are wrong.
pub fn cancel_from(state: &mut State, surface: &WlSurface, object: &UpbeatFramePacingV1, first: TargetId) {
    let Some(data) = object.data::<FramePacing>() else { return };
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let ids = entry.queue.cancel_from(first);
    for id in &ids {
        entry.outstanding.cancel(*id);
    }
    // Their records are the newest ones; that they were never shown, the client wanted.
    let records = entry.committed.len().saturating_sub(ids.len());
    entry.committed.truncate(records);
    {
        let mut inner = data.lock();
        inner.cancelled(object, &ids);
        if let Some(revoked) = inner.machine.revoke_from(first) {
            send_revoked(object, revoked, RevokeReason::Cancelled);
        }
        let kept = inner.newest_open(first).map(TargetId::next);
        send_cancelled(object, kept.map_or(first, |kept| kept.max(first)));
    }
    if !ids.is_empty() {
        output::need_when_due(state, surface);
    }
}

/// An update is being applied whose content was cancelled: takes that out of it again.
pub(super) fn strip(states: &SurfaceData, described: Option<Described>) {
    let mut attributes = states.cached_state.get::<SurfaceAttributes>();
    let current = attributes.current();
    // Released when it was cancelled.
    current.buffer = None;
    current.damage.clear();
    if let Some(described) = described {
        current.buffer_scale = described.scale;
        current.buffer_transform = described.transform;
        drop(attributes);
        *states.cached_state.get::<ViewportCachedState>().current() = described.viewport;
    }
}

/// What describes the buffer that is shown now.
pub(super) fn describe(states: &SurfaceData) -> Described {
    let (scale, transform) = {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        let current = attributes.current();
        (current.buffer_scale, current.buffer_transform)
    };
    Described { scale, transform, viewport: *states.cached_state.get::<ViewportCachedState>().current() }
}

/// An update was applied: what the client wishes for counts from now on.
pub(super) fn applied(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    if let Some(data) = entry.frame_pacing.as_ref().and_then(|object| object.data::<FramePacing>()) {
        let wishes = compositor::with_states(surface, |states| states.cached_state.get::<PacingState>().current().0);
        data.lock().machine.set_wishes(wishes);
    }
}

/// The surface is gone.
pub(super) fn surface_gone(object: Option<UpbeatFramePacingV1>) {
    if let Some(data) = object.as_ref().and_then(|object| object.data::<FramePacing>()) {
        data.lock().make_inert();
    }
}
