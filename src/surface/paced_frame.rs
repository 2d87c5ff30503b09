//! What a client that is told which refresh each frame is for was told, and what becomes of its frames.
//!
//! The wire is not known here: whoever speaks to the client is a [`FrameListener`].

use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard};

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::revision::Revision;
use upbeat_timing::ahead::{Ahead, Bound, Effective, Issued, TargetId};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Instant, Span};

/// Why a frame will never be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unshown {
    /// The client cancelled it.
    Cancelled,
    /// A newer one took its place.
    Newer,
    /// Nobody could see it.
    Unseen,
}

/// Why targets do not hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// The surface is on another output, or its output's refreshes are others.
    Output,
    /// Another pacing is in force.
    Pacing,
    /// Frames were late: what comes is counted anew.
    Rebased,
    /// The client cancelled them.
    Cancelled,
}

/// How a frame came to the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Path {
    /// It was drawn into the display's picture.
    #[default]
    Composited,
    /// A plane of its own showed the client's buffer.
    Overlay,
    /// The client's buffer was the display's picture.
    Direct,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// It was shown.
    Presented {
        /// By the refresh that started then.
        at: Instant,
        /// How long before it had to be it was ready.
        margin: Span,
        /// How it came there.
        path: Path,
    },
    /// It will never be shown.
    Discarded(Unshown),
}

/// What is wrong with a commit that is bound to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// It attaches no buffer.
    NoBuffer,
    /// It has a time stamp, too.
    Stamped,
}

/// The client's end of a surface that is told what it draws for.
pub trait FrameListener: std::fmt::Debug {
    /// What is kept for it.
    fn ledger(&self) -> Option<MutexGuard<'_, FrameLedger>>;
    /// Whether the client still has it.
    fn listens(&self) -> bool;
    /// A target. `ready_by`: how long before its `present`; `frames_ahead`: how many refreshes lie before it that are not
    /// decided yet.
    fn tell_target(&self, target: Issued, ready_by: Span, frames_ahead: u64);
    /// Targets from `first` on do not hold any more.
    fn tell_revoked(&self, first: TargetId, reason: Revoked);
    /// Frames from `first` on will not be shown.
    fn tell_cancelled(&self, first: TargetId);
    /// Which pacing is in force.
    fn tell_effective(&self, effective: Effective);
    /// What became of a frame.
    fn tell_fate(&self, id: TargetId, fate: Fate);
    /// The commit of `surface` that is being made is the client's fault.
    fn refuse(&self, surface: &WlSurface, fault: CommitFault);
}

/// The targets of one surface, and what became of the frames that were bound to them.
#[derive(Debug, Default)]
pub struct FrameLedger {
    /// Decides.
    pub machine: Ahead,
    /// The output that its targets are of, and which of the output's grids.
    pub grid: Option<(OutputId, Revision)>,
    /// Frames that were committed and whose end was not told, in the order of commits.
    fates: VecDeque<(TargetId, Option<Fate>)>,
    told: Option<Effective>,
    inert: bool,
}

impl FrameLedger {
    /// Its surface is gone: nothing is done or said any more.
    pub fn make_inert(&mut self) {
        self.inert = true;
    }

    /// Whether its surface is gone.
    pub const fn is_inert(&self) -> bool {
        self.inert
    }

    /// The newest of the frames from `first` on whose end is open.
    pub fn newest_open(&self, first: TargetId) -> Option<TargetId> {
        self.fates.iter().map(|(id, _)| *id).filter(|id| *id >= first).max()
    }

    /// Tells the client which pacing is in force, if that is news.
    pub fn tell_effective(&mut self, listener: &dyn FrameListener) {
        let effective = self.machine.effective();
        if self.inert || self.told.replace(effective) == Some(effective) {
            return;
        }
        listener.tell_effective(effective);
    }

    /// A frame that was committed came to its end: told when all before it have.
    fn end(&mut self, listener: &dyn FrameListener, id: TargetId, fate: Fate) {
        self.machine.ended(id);
        if let Some(entry) = self.fates.iter_mut().find(|(open, _)| *open == id) {
            entry.1 = Some(fate);
        }
        while let Some((id, Some(fate))) = self.fates.front().copied() {
            self.fates.pop_front();
            self.tell(listener, id, fate);
        }
    }

    /// Frames were cancelled: told at once, whatever is on its way before them.
    pub fn cancelled(&mut self, listener: &dyn FrameListener, ids: &[TargetId]) {
        self.machine.cancelled(ids);
        self.fates.retain(|(id, _)| !ids.contains(id));
        for id in ids {
            self.tell(listener, *id, Fate::Discarded(Unshown::Cancelled));
        }
    }

    fn tell(&self, listener: &dyn FrameListener, id: TargetId, fate: Fate) {
        if !self.inert {
            listener.tell_fate(id, fate);
        }
    }
}

/// A commit that was bound to a target, on its way to light.
#[derive(Debug)]
pub struct PacedFrame {
    listener: Arc<dyn FrameListener>,
    /// The target.
    pub id: TargetId,
    /// By when it had to be ready for that target.
    ready_by: Instant,
    /// When it was.
    pub ready: Instant,
    /// How it comes to the screen.
    pub path: Path,
}

impl PacedFrame {
    /// Binds the commit that is being made at `now`.
    pub fn bind(listener: &Arc<dyn FrameListener>, id: TargetId, now: Instant) -> Option<(Self, Bound)> {
        let mut ledger = listener.ledger()?;
        let bound = ledger.machine.bind(id, now);
        ledger.fates.push_back((id, None));
        let (listener, ready_by, path) = (listener.clone(), bound.target.present, Path::default());
        let frame = PacedFrame { listener, id, ready_by, ready: now, path };
        Some((frame, bound))
    }

    /// Notes by when it had to be ready.
    pub fn due(&mut self, ready_by: Instant) {
        self.ready_by = ready_by;
    }

    /// A latch took it.
    pub fn latched(&self) {
        if let Some(mut ledger) = self.listener.ledger() {
            ledger.machine.latched(self.id);
        }
    }

    /// It was shown by the refresh that started at `at`.
    pub fn presented(self, at: Instant) {
        let margin = self.ready_by - self.ready;
        let path = self.path;
        self.end(Fate::Presented { at, margin, path });
    }

    /// It will never be shown.
    pub fn discarded(self, why: Unshown) {
        self.end(Fate::Discarded(why));
    }

    fn end(self, fate: Fate) {
        if let Some(mut ledger) = self.listener.ledger() {
            ledger.end(self.listener.as_ref(), self.id, fate);
        }
    }
}
