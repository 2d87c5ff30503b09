//! The pacing object of one surface: its targets, and what became of the frames that were bound to them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Resource, Weak};

use super::generated::upbeat_frame_pacing_v1::{self as wire, UpbeatFramePacingV1};
use crate::time::{Instant, NANOS_PER_SECOND, Span};
use crate::timing::ahead::{Ahead, Bound, Effective, Issued, Reason, TargetId};
use crate::timing::id::OutputId;
use crate::timing::pacing::Pacing;

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

/// What became of a frame.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Presented { at: Instant, margin: Span },
    Discarded(Unshown),
}

/// What is kept for one object.
#[derive(Debug)]
pub struct FramePacing {
    /// Its surface.
    pub surface: Weak<WlSurface>,
    inner: Mutex<Inner>,
}

/// The part that changes.
#[derive(Debug, Default)]
pub struct Inner {
    /// Decides.
    pub machine: Ahead,
    /// The output that its targets are of, and which of the output's grids.
    pub grid: Option<(OutputId, u64)>,
    /// Frames that were committed and whose end was not told, in the order of commits.
    fates: VecDeque<(TargetId, Option<Fate>)>,
    told: Option<Effective>,
    inert: bool,
}

impl FramePacing {
    pub(super) fn new(surface: &WlSurface) -> Self {
        FramePacing { surface: surface.downgrade(), inner: Mutex::default() }
    }

    /// The part that changes.
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
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
    pub fn tell_effective(&mut self, object: &UpbeatFramePacingV1) {
        let effective = self.machine.effective();
        if self.inert || self.told.replace(effective) == Some(effective) {
            return;
        }
        let pacing = match effective.pacing {
            Pacing::Vsync | Pacing::VsyncLate => wire::Pacing::Vsync,
            Pacing::JustInTime => wire::Pacing::JustInTime,
            Pacing::Ahead => wire::Pacing::Ahead,
        };
        let reason = match effective.reason {
            Reason::Client => wire::Reason::Client,
            Reason::InteractiveInput => wire::Reason::InteractiveInput,
            Reason::Hidden => wire::Reason::Hidden,
            Reason::Policy => wire::Reason::Policy,
            Reason::Automatic => wire::Reason::Automatic,
        };
        object.effective(pacing, u32::from(effective.ahead), effective.min_buffers(), reason);
    }

    /// A frame that was committed came to its end: told when all before it have.
    fn end(&mut self, object: &UpbeatFramePacingV1, id: TargetId, fate: Fate) {
        self.machine.ended(id);
        if let Some(entry) = self.fates.iter_mut().find(|(open, _)| *open == id) {
            entry.1 = Some(fate);
        }
        while let Some((id, Some(fate))) = self.fates.front().copied() {
            self.fates.pop_front();
            self.tell(object, id, fate);
        }
    }

    /// Frames were cancelled: told at once, whatever is on its way before them.
    pub fn cancelled(&mut self, object: &UpbeatFramePacingV1, ids: &[TargetId]) {
        self.machine.cancelled(ids);
        self.fates.retain(|(id, _)| !ids.contains(id));
        for id in ids {
            self.tell(object, *id, Fate::Discarded(Unshown::Cancelled));
        }
    }

    fn tell(&self, object: &UpbeatFramePacingV1, id: TargetId, fate: Fate) {
        if self.inert {
            return;
        }
        let (high, low) = split(id.0);
        match fate {
            Fate::Presented { at, margin } => {
                let (seconds_high, seconds_low, nanos) = time(at);
                let margin = margin.as_nanos().clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
                object.presented(high, low, seconds_high, seconds_low, nanos, margin, wire::Path::Composited);
            }
            Fate::Discarded(why) => {
                let reason = match why {
                    Unshown::Cancelled => wire::DiscardReason::Cancelled,
                    Unshown::Newer => wire::DiscardReason::Newer,
                    Unshown::Unseen => wire::DiscardReason::Unseen,
                };
                object.discarded(high, low, reason);
            }
        }
    }
}

/// Sends a target. `ready_by`: how long before its `present`; `coming`: the first refresh that is not decided yet.
pub fn send_target(object: &UpbeatFramePacingV1, target: Issued, ready_by: Span, frames_ahead: u64) {
    let (high, low) = split(target.id.0);
    let (seconds_high, seconds_low, nanos) = time(target.present);
    let word = |span: Span| span.as_nanos().clamp(0, i64::from(u32::MAX)) as u32;
    let frames_ahead = u32::try_from(frames_ahead).unwrap_or(u32::MAX);
    object.target(high, low, seconds_high, seconds_low, nanos, word(ready_by), word(target.interval), frames_ahead);
}

/// Targets from `first` on do not hold any more.
pub fn send_revoked(object: &UpbeatFramePacingV1, first: TargetId, reason: wire::RevokeReason) {
    let (high, low) = split(first.0);
    object.revoked(high, low, reason);
}

/// Frames from `first` on will not be shown.
pub fn send_cancelled(object: &UpbeatFramePacingV1, first: TargetId) {
    let (high, low) = split(first.0);
    object.cancelled(high, low);
}

/// A commit that was bound to a target, on its way to light.
#[derive(Debug)]
pub struct PacedFrame {
    object: UpbeatFramePacingV1,
    /// The target.
    pub id: TargetId,
    /// By when it had to be ready for that target.
    ready_by: Instant,
    /// When it was.
    pub ready: Instant,
}

impl PacedFrame {
    /// Binds the commit that is being made at `now`.
    pub fn bind(object: &UpbeatFramePacingV1, id: TargetId, now: Instant) -> Option<(Self, Bound)> {
        let mut inner = object.data::<FramePacing>()?.lock();
        let bound = inner.machine.bind(id, now);
        inner.fates.push_back((id, None));
        let frame = PacedFrame { object: object.clone(), id, ready_by: bound.target.present, ready: now };
        Some((frame, bound))
    }

    /// Notes by when it had to be ready.
    pub fn due(&mut self, ready_by: Instant) {
        self.ready_by = ready_by;
    }

    /// A latch took it.
    pub fn latched(&self) {
        if let Some(data) = self.object.data::<FramePacing>() {
            data.lock().machine.latched(self.id);
        }
    }

    /// It was shown by the refresh that started at `at`.
    pub fn presented(self, at: Instant) {
        let margin = self.ready_by - self.ready;
        self.end(Fate::Presented { at, margin });
    }

    /// It will never be shown.
    pub fn discarded(self, why: Unshown) {
        self.end(Fate::Discarded(why));
    }

    fn end(self, fate: Fate) {
        if let Some(data) = self.object.data::<FramePacing>() {
            data.lock().end(&self.object, self.id, fate);
        }
    }
}

/// High and low 32 bits.
const fn split(value: u64) -> (u32, u32) {
    ((value >> 32) as u32, value as u32)
}

/// Both halves as one number.
pub(super) const fn join(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Seconds, high and low, and nanoseconds.
const fn time(at: Instant) -> (u32, u32, u32) {
    let (seconds, nanos) = (at.as_nanos() / NANOS_PER_SECOND as u64, at.as_nanos() % NANOS_PER_SECOND as u64);
    let (high, low) = split(seconds);
    (high, low, nanos as u32)
}
