//! Frame pacing of one surface: the targets that its client got, and the result of each frame bound to a target.
//!
//! This module does not know the protocol: a [`FrameListener`] sends the events.

use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard};

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::revision::Revision;
use upbeat_timing::id::OutputId;
use upbeat_timing::surface_targets::{BoundTarget, EffectivePacing, IssuedTarget, SurfaceTargetId, SurfaceTargets};
use upbeat_timing::time::{Instant, Span};

/// Why a frame will never be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameDiscardReason {
    /// The client cancelled it.
    Cancelled,
    /// A newer frame replaced it.
    Newer,
    /// The surface was hidden, unmapped or destroyed.
    Unseen,
}

/// Why targets are not valid any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetRevokeReason {
    /// The surface moved to another output, or its output has a new grid of refreshes.
    Output,
    /// Another pacing is in force.
    Pacing,
    /// Frames were late: the next targets are counted from a new start.
    Rebased,
    /// The client cancelled them.
    Cancelled,
}

/// How a frame got to the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PresentPath {
    /// Composited into the output's frame.
    #[default]
    Composited,
    /// An overlay plane scanned out the client's buffer.
    Overlay,
    /// The primary plane scanned out the client's buffer.
    Direct,
}

/// How a frame ended.
#[derive(Clone, Copy, Debug)]
pub enum FrameResult {
    Presented {
        /// The start of the refresh that showed it.
        at: Instant,
        /// How long before its deadline (`ready_by`) it was ready.
        margin: Span,
        path: PresentPath,
    },
    /// It will never be shown.
    Discarded(FrameDiscardReason),
}

/// A protocol error in a commit that is bound to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// It attaches no buffer.
    NoBuffer,
    /// It has a `wp_commit_timer` time stamp, too.
    Stamped,
}

/// The client's protocol object for frame pacing of a surface.
pub trait FrameListener: std::fmt::Debug {
    /// The targets and frames of its surface; `None` if the object is destroyed.
    fn ledger(&self) -> Option<MutexGuard<'_, FrameLedger>>;
    /// Whether the client still has the object.
    fn is_alive(&self) -> bool;
    /// Sends a target. `ready_by`: how long before its `present`; `frames_ahead`: how many undecided refreshes lie
    /// before it.
    fn send_target(&self, target: IssuedTarget, ready_by: Span, frames_ahead: u64);
    /// Sends that targets from `first` on are not valid any more.
    fn send_revoked(&self, first: SurfaceTargetId, reason: TargetRevokeReason);
    /// Sends that frames from `first` on will not be shown.
    fn send_cancelled(&self, first: SurfaceTargetId);
    /// Sends which pacing is in force.
    fn tell_effective(&self, effective: EffectivePacing);
    /// Sends how a frame ended.
    fn send_result(&self, id: SurfaceTargetId, fate: FrameResult);
    /// Posts a protocol error for the commit of `surface` in progress.
    fn refuse(&self, surface: &WlSurface, fault: CommitFault);
}

/// The targets of one surface, and the results of the frames that were bound to them.
#[derive(Debug, Default)]
pub struct FrameLedger {
    /// The state machine that issues targets.
    pub machine: SurfaceTargets,
    /// The output of its targets, and the revision of that output's grid of refreshes.
    pub grid: Option<(OutputId, Revision)>,
    /// Committed frames whose results were not sent yet, in the order of commits.
    open_frames: VecDeque<(SurfaceTargetId, Option<FrameResult>)>,
    last_effective: Option<EffectivePacing>,
    inert: bool,
}

impl FrameLedger {
    /// Its surface is gone: sends nothing from now on.
    pub fn make_inert(&mut self) {
        self.inert = true;
    }

    pub const fn is_inert(&self) -> bool {
        self.inert
    }

    /// The newest frame without a result, from target `first` on.
    pub fn newest_open(&self, first: SurfaceTargetId) -> Option<SurfaceTargetId> {
        self.open_frames.iter().map(|(id, _)| *id).filter(|id| *id >= first).max()
    }

    /// Sends which pacing is in force, if it changed.
    pub fn tell_effective(&mut self, listener: &dyn FrameListener) {
        let effective = self.machine.effective();
        if self.inert || self.last_effective.replace(effective) == Some(effective) {
            return;
        }
        listener.tell_effective(effective);
    }

    /// A committed frame ended. Results are sent in the order of commits, so this one waits for those of earlier
    /// frames.
    fn end(&mut self, listener: &dyn FrameListener, id: SurfaceTargetId, fate: FrameResult) {
        self.machine.ended(id);
        if let Some(entry) = self.open_frames.iter_mut().find(|(open, _)| *open == id) {
            entry.1 = Some(fate);
        }
        while let Some((id, Some(fate))) = self.open_frames.front().copied() {
            self.open_frames.pop_front();
            self.tell(listener, id, fate);
        }
    }

    /// Frames were cancelled: their results are sent at once, even if earlier frames have none yet.
    pub fn cancelled(&mut self, listener: &dyn FrameListener, ids: &[SurfaceTargetId]) {
        self.machine.cancelled(ids);
        self.open_frames.retain(|(id, _)| !ids.contains(id));
        for id in ids {
            self.tell(listener, *id, FrameResult::Discarded(FrameDiscardReason::Cancelled));
        }
    }

    fn tell(&self, listener: &dyn FrameListener, id: SurfaceTargetId, fate: FrameResult) {
        if !self.inert {
            listener.send_result(id, fate);
        }
    }
}

/// A commit that is bound to a target, on its way to the screen.
#[derive(Debug)]
pub struct PacedFrame {
    listener: Arc<dyn FrameListener>,
    pub id: SurfaceTargetId,
    /// The deadline of its target.
    ready_by: Instant,
    /// When its buffer was finished.
    pub ready: Instant,
    pub path: PresentPath,
}

impl PacedFrame {
    /// Binds the commit in progress, made at `now`, to target `id`.
    pub fn bind(listener: &Arc<dyn FrameListener>, id: SurfaceTargetId, now: Instant) -> Option<(Self, BoundTarget)> {
        let mut ledger = listener.ledger()?;
        let bound = ledger.machine.bind(id, now);
        ledger.open_frames.push_back((id, None));
        let (listener, ready_by, path) = (listener.clone(), bound.target.present, PresentPath::default());
        let frame = PacedFrame { listener, id, ready_by, ready: now, path };
        Some((frame, bound))
    }

    /// Sets the deadline.
    pub fn set_deadline(&mut self, ready_by: Instant) {
        self.ready_by = ready_by;
    }

    pub fn latched(&self) {
        if let Some(mut ledger) = self.listener.ledger() {
            ledger.machine.latched(self.id);
        }
    }

    /// It was shown by the refresh that started at `at`.
    pub fn presented(self, at: Instant) {
        let margin = self.ready_by - self.ready;
        let path = self.path;
        self.end(FrameResult::Presented { at, margin, path });
    }

    /// It will never be shown.
    pub fn discarded(self, why: FrameDiscardReason) {
        self.end(FrameResult::Discarded(why));
    }

    fn end(self, fate: FrameResult) {
        if let Some(mut ledger) = self.listener.ledger() {
            ledger.end(self.listener.as_ref(), self.id, fate);
        }
    }
}
