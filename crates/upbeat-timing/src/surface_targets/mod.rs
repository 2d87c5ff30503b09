//! The targets of one surface whose client receives them: how many, for which refresh, and the outcome of each.
//!
//! D-VSync for clients (4.3 to 4.5). A client asks for targets; each answer names a separate refresh. In the
//! *accumulation* stage there is room and a request is answered at once; in the *sync* stage each frame that reaches
//! the screen makes room for one more.
//!
//! ```text
//!  refresh        10    11    12    13    14    15    16
//!  asked          abc               d     e
//!  answered       a=11 b=12 c=13    d=14  e=15            limit 3: d is answered when a was shown
//!  on screen            a     b     c     c     d    ...  d was late: c stays
//! ```
//!
//! The [`Virtualizer`] chooses the refresh of a target. A late frame is still shown, and so are the frames that were
//! begun after it, each one refresh after the other, unless they are [too late](late_frame). Targets sent from then on
//! name the refreshes after these frames, so that content is on time again (D-VSync 5.1: elastic to drops). A target
//! that would lie in the past is revoked.

mod effective;
mod second_shot;
#[cfg(test)]
mod tests;
mod variable;

use super::estimator::{Estimator, MeanOfLast, WindowQuantile};
use super::fixed_queue::FixedQueue;
use super::late_frame;
use super::pacing::Pacing;
use super::refresh_rate::RateGovernor;
use super::target::RefreshIndex;
use super::virtualizer::{CatchUp, DisplayTarget, Virtualizer, VsyncGrid};
use crate::time::{Instant, Span};
pub use effective::{EffectivePacing, FramePacingReason, FramePacingRequest, PacingContext};

/// Frames of one surface that may be under way at once. The seven buffers of D-VSync's widest experiment hold six and
/// the frame on screen; two more are allowed for clients that need them.
pub const MOST_AHEAD: u8 = 8;
/// Frames of one surface that are remembered: frames under way, including frames from an earlier, higher limit.
const MOST_LIVE: usize = 16;
/// Revoked targets whose time is remembered, because a later commit may still be bound to them.
const MOST_REVOKED: usize = 32;
/// The number of frames that the cost is estimated from: half a second at 60 Hz.
const COST_WINDOW: usize = 32;
/// The number of frames that a rate is derived from: it follows a change of scene within a quarter of a second, but not
/// a single long frame.
const PACE_WINDOW: usize = 16;

/// The number of a target. Numbers grow by one and are never used twice for one object; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SurfaceTargetId(pub u64);

impl SurfaceTargetId {
    /// The target after this one.
    pub const fn next(self) -> Self {
        SurfaceTargetId(self.0.saturating_add(1))
    }
}

/// A target as it was sent to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IssuedTarget {
    /// The number of the target.
    pub id: SurfaceTargetId,
    /// The refresh on the grid of the surface's output.
    pub refresh: RefreshIndex,
    /// When that refresh starts to scan out (`CLOCK_MONOTONIC`).
    pub present: Instant,
    /// The distance between refreshes.
    pub interval: Span,
    /// When the target was sent.
    pub sent: Instant,
    /// With variable refresh there is no grid: `present` is exact, and `refresh` only gives the order.
    pub timed: bool,
    /// The refresh already has a frame: this target is for a fresher frame that replaces it if it is in time.
    pub is_second: bool,
}

/// The target that a commit was bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundTarget {
    /// The target, revoked or not.
    pub target: IssuedTarget,
    /// The target was revoked: its time is still meaningful, its refresh is not.
    pub revoked: bool,
}

/// Why a commit cannot be bound to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The target was never sent.
    #[error("target {} was never sent", .0.0)]
    Unknown(SurfaceTargetId),
    /// An earlier commit was bound to the target.
    #[error("target {} was bound to an earlier commit", .0.0)]
    Used(SurfaceTargetId),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TargetStage {
    /// The target was sent; the client draws, or will draw, for it.
    #[default]
    Sent,
    /// A commit was bound to the target and waits for its latch.
    Bound,
    /// A latch took the frame.
    Latched,
}

#[derive(Clone, Copy, Debug, Default)]
struct LiveTarget {
    target: IssuedTarget,
    stage: TargetStage,
}

/// The targets of one surface.
#[derive(Clone, Debug)]
pub struct SurfaceTargets {
    wishes: FramePacingRequest,
    effective: EffectivePacing,
    /// Unanswered requests for targets.
    requests: u64,
    last_id: SurfaceTargetId,
    /// Frames under way, oldest first.
    live: FixedQueue<LiveTarget, MOST_LIVE>,
    /// Targets that were revoked before they were bound, oldest first.
    revoked: FixedQueue<IssuedTarget, MOST_REVOKED>,
    /// Revoked targets up to this one may have been forgotten.
    forgotten: SurfaceTargetId,
    virtualizer: Option<Virtualizer>,
    /// The last target that left `live` without being revoked or cancelled.
    ended: Option<IssuedTarget>,
    /// The times of some targets passed while the client was busy. It gets new targets after its next commit.
    stalled: bool,
    /// Some frames were cancelled and other waiting frames were kept: the next frame is drawn while these wait.
    restarts: bool,
    cost: WindowQuantile<COST_WINDOW>,
    committed: Instant,
    /// With variable refresh: the rate that the client keeps up with.
    rate: Option<RateGovernor>,
    /// The average time that a frame takes.
    pace: MeanOfLast<PACE_WINDOW>,
}

impl Default for SurfaceTargets {
    fn default() -> Self {
        SurfaceTargets {
            wishes: FramePacingRequest::default(),
            effective: EffectivePacing::default(),
            requests: 0,
            last_id: SurfaceTargetId::default(),
            live: FixedQueue::new(),
            revoked: FixedQueue::new(),
            forgotten: SurfaceTargetId::default(),
            virtualizer: None,
            ended: None,
            stalled: false,
            restarts: false,
            cost: WindowQuantile::new(),
            committed: Instant::ZERO,
            rate: None,
            pace: MeanOfLast::new(),
        }
    }
}

impl SurfaceTargets {
    /// Sets the client's wishes, which take effect with the update that is applied now.
    pub fn set_wishes(&mut self, wishes: FramePacingRequest) {
        self.wishes = wishes;
    }

    /// The client's present wishes.
    pub const fn wishes(&self) -> FramePacingRequest {
        self.wishes
    }

    /// The pacing in force.
    pub const fn effective(&self) -> EffectivePacing {
        self.effective
    }

    /// Decides the pacing anew. If it changes, unbound targets of the previous pacing are revoked. Returns the
    /// first revoked target.
    pub fn decide(&mut self, circumstances: PacingContext) -> Option<SurfaceTargetId> {
        let before = std::mem::replace(&mut self.effective, effective::decide(self.wishes, circumstances));
        if before.pacing == self.effective.pacing {
            return None;
        }
        let first =
            self.live.iter().filter(|frame| frame.stage != TargetStage::Sent).map(|frame| frame.target.id).max();
        self.revoke_from(first.unwrap_or_default().next())
    }

    /// The client asks for a target.
    pub fn request(&mut self) {
        self.requests = self.requests.saturating_add(1);
    }

    /// Unanswered requests, including a replacement for each revoked target.
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// How many frames are under way.
    pub const fn under_way(&self) -> usize {
        self.live.len()
    }

    /// The typical time of a frame, from its target or the previous commit to its commit.
    pub fn cost(&self) -> Span {
        self.cost.typical().unwrap_or(Span::ZERO)
    }

    /// The next target, if it is to be sent now. `grid`: the output's grid; `earliest`: the first refresh that a
    /// frame started now can reach.
    pub fn poll(&mut self, grid: VsyncGrid, earliest: RefreshIndex, now: Instant) -> Option<IssuedTarget> {
        if self.stalled && self.live.iter().any(|frame| frame.stage == TargetStage::Sent) {
            return None;
        }
        let room = match self.effective.pacing {
            Pacing::Ahead => self.live.len() < usize::from(self.effective.ahead),
            Pacing::Vsync | Pacing::VsyncLate => self.is_idle(),
            // Waiting frames hide the cost of the first frame after an interruption. Waiting for their
            // light would show no newer input, since the client has just responded to it.
            Pacing::JustInTime => {
                self.restarts
                    && self.live.len() < usize::from(self.wishes.most())
                    && self.live.iter().all(|frame| frame.stage != TargetStage::Sent)
            }
        };
        (room && !self.effective.is_hidden()).then(|| self.answer(grid, earliest, now)).flatten()
    }

    /// Whether requests are answered by the callback of the client's pacer, at the moment that suits the client's cost.
    pub fn waits_for_callback(&self) -> bool {
        self.requests > 0
            && self.effective.pacing == Pacing::JustInTime
            && !self.effective.is_hidden()
            && self.is_idle()
    }

    /// Answers one request with a target for `refresh` or the first later refresh that is free.
    pub fn answer(&mut self, grid: VsyncGrid, refresh: RefreshIndex, now: Instant) -> Option<IssuedTarget> {
        if self.requests == 0 || self.live.len() == MOST_LIVE {
            return None;
        }
        let waiting = self.live.iter().filter(|frame| frame.stage == TargetStage::Bound).count();
        // Without a chain, waiting frames are shown first.
        let is_ahead = self.effective.pacing == Pacing::Ahead;
        let waiting = if self.virtualizer.is_none() && !is_ahead { waiting as u64 } else { 0 };
        let virtualizer = self.virtualizer.get_or_insert_with(|| Virtualizer::new(grid, CatchUp::Skip));
        if self.rate.is_some() {
            virtualizer.follow(grid);
        } else {
            virtualizer.calibrate(grid);
        }
        // With variable refresh, a late frame does not take the refresh of another frame.
        let follows = (is_ahead || self.restarts) && self.rate.is_none();
        let free = if follows { free_after(&self.live, grid.refresh) } else { refresh };
        let target = virtualizer.issue(refresh.max(free), waiting);
        self.requests -= 1;
        self.restarts = false;
        self.last_id = self.last_id.next();
        let interval = virtualizer.grid().interval;
        let DisplayTarget { refresh, present, .. } = target;
        let timed = self.rate.is_some();
        let issued = IssuedTarget { id: self.last_id, refresh, present, interval, sent: now, timed, is_second: false };
        self.live.push(LiveTarget { target: issued, stage: TargetStage::Sent }).ok()?;
        Some(issued)
    }

    /// Whether no frame is on its way to a latch, apart from a second shot that was too late.
    fn is_idle(&self) -> bool {
        self.live.iter().all(|frame| frame.stage == TargetStage::Latched || frame.target.is_second)
    }

    /// Whether `id` may be bound to a commit.
    ///
    /// # Errors
    /// If the target was never sent, or was bound before.
    pub fn check(&self, id: SurfaceTargetId) -> Result<(), BindError> {
        if id == SurfaceTargetId::default() || id > self.last_id {
            return Err(BindError::Unknown(id));
        }
        let sent = self.live.iter().any(|frame| frame.target.id == id && frame.stage == TargetStage::Sent);
        let revoked = self.revoked.iter().any(|target| target.id == id);
        if sent || revoked || id <= self.forgotten { Ok(()) } else { Err(BindError::Used(id)) }
    }

    /// The first refresh of the output's grid whose target was sent and has no commit yet.
    pub fn promised(&self) -> Option<RefreshIndex> {
        self.live
            .iter()
            .filter(|frame| frame.stage == TargetStage::Sent && !frame.target.timed)
            .map(|frame| frame.target.refresh)
            .min()
    }

    /// A commit at `now` is bound to `id`, which was [checked](Self::check).
    pub fn bind(&mut self, id: SurfaceTargetId, now: Instant) -> BoundTarget {
        let sent = self.live.iter().find(|frame| frame.target.id == id).map(|frame| frame.target);
        let started = sent.map_or(now, |target| target.sent).max(self.committed);
        self.committed = now;
        self.stalled = false;
        if let Some(target) = sent {
            self.cost.observe(now - started);
            self.observe_pace(now - started);
            self.live.update(|frame| frame.target.id == id, |frame| frame.stage = TargetStage::Bound);
            self.revoke_skipped(id);
            return BoundTarget { target, revoked: false };
        }
        let known = self.revoked.iter().find(|target| target.id == id).copied();
        self.revoked.retain(|target| target.id != id);
        BoundTarget { target: known.unwrap_or(IssuedTarget { id, ..IssuedTarget::default() }), revoked: true }
    }

    /// A client that binds a later target has skipped the earlier ones: they do not delay other frames.
    fn revoke_skipped(&mut self, before: SurfaceTargetId) {
        let skipped = |frame: &LiveTarget| frame.stage == TargetStage::Sent && frame.target.id < before;
        for frame in self.live.iter().filter(|frame| skipped(frame)) {
            remember(&mut self.revoked, &mut self.forgotten, frame.target);
            // A skipped target counts as ended, not as revoked, so that later targets continue after it.
            self.ended = Some(frame.target).max_by_id(self.ended);
        }
        self.live.retain(|frame| !skipped(frame));
    }

    /// A latch took the frame.
    pub fn latched(&mut self, id: SurfaceTargetId) {
        self.live.update(|frame| frame.target.id == id, |frame| frame.stage = TargetStage::Latched);
    }

    /// The frame was shown, or never will be.
    pub fn ended(&mut self, id: SurfaceTargetId) {
        let ended = self.live.iter().find(|frame| frame.target.id == id).map(|frame| frame.target);
        self.ended = ended.max_by_id(self.ended);
        self.live.retain(|frame| frame.target.id != id);
    }

    /// The client cancelled waiting frames; `ids` are their targets, if they have any. They are not under way any
    /// more, and targets continue after the last frame that was kept.
    pub fn cancelled(&mut self, ids: &[SurfaceTargetId]) {
        self.live.retain(|frame| !ids.contains(&frame.target.id));
        self.restarts = self.live.iter().any(|frame| frame.stage == TargetStage::Bound);
        self.rebase();
    }

    /// Revokes the unbound targets from `first` on; each will be sent anew. Returns the first revoked target.
    pub fn revoke_from(&mut self, first: SurfaceTargetId) -> Option<SurfaceTargetId> {
        let named = |frame: &LiveTarget| frame.stage == TargetStage::Sent && frame.target.id >= first;
        let first = self.live.iter().filter(|frame| named(frame)).map(|frame| frame.target.id).min()?;
        for frame in self.live.iter().filter(|frame| named(frame)) {
            remember(&mut self.revoked, &mut self.forgotten, frame.target);
        }
        self.requests = self.requests.saturating_add(self.live.retain(|frame| !named(frame)) as u64);
        self.rebase();
        Some(first)
    }

    /// The surface moved to another output, or its output's grid changed: all targets are invalid. Returns the
    /// first target under way.
    pub fn output_changed(&mut self) -> Option<SurfaceTargetId> {
        let first =
            self.live.iter().filter(|frame| frame.stage != TargetStage::Latched).map(|frame| frame.target.id).min();
        self.revoke_from(SurfaceTargetId::default());
        self.virtualizer = None;
        self.ended = None;
        first
    }

    /// Revokes targets whose refresh passed while the client was busy with an earlier frame, because they would
    /// show the past. The oldest stays, since it is being drawn. `next`: the first refresh that is not decided yet.
    /// Returns the first revoked target.
    pub fn revoke_passed(&mut self, next: RefreshIndex) -> Option<SurfaceTargetId> {
        if self.effective.pacing != Pacing::Ahead {
            return None;
        }
        let sent = self.live.iter().filter(|frame| frame.stage == TargetStage::Sent);
        let passed = sent.skip(1).find(|frame| frame.target.refresh < next).map(|frame| frame.target.id)?;
        let bound = self.live.iter().any(|frame| frame.stage != TargetStage::Sent && frame.target.id > passed);
        if bound {
            return None;
        }
        self.stalled = true;
        self.revoke_from(passed)
    }

    /// Continues the chain of targets after the last valid target.
    fn rebase(&mut self) {
        let Some(virtualizer) = &mut self.virtualizer else { return };
        let last = self.live.iter().map(|frame| frame.target).max_by_key(|target| target.id);
        match last.max_by_id(self.ended) {
            Some(IssuedTarget { refresh, present, .. }) => {
                virtualizer.rebase(DisplayTarget { refresh, present, content: present });
            }
            None => virtualizer.restart(),
        }
    }
}

/// The first refresh from `next` on that no frame under way takes. Each frame takes its own refresh or, after a drop,
/// the first free refresh; frames that are too late by then are dropped and take none.
fn free_after(live: &FixedQueue<LiveTarget, MOST_LIVE>, next: RefreshIndex) -> RefreshIndex {
    let waiting = || live.iter().filter(|frame| frame.stage != TargetStage::Latched).map(|frame| frame.target.refresh);
    let followers = waiting().skip(1).map(Some).chain([None]);
    waiting().zip(followers).fold(next, |free, (target, follower)| {
        let shown = free.max(target);
        let gives_way =
            late_frame::is_dropped_for_next(shown.since(target)) && follower.is_some_and(|follower| follower <= shown);
        if gives_way { free } else { shown.next() }
    })
}

trait Latest {
    fn max_by_id(self, other: Self) -> Self;
}

impl Latest for Option<IssuedTarget> {
    fn max_by_id(self, other: Self) -> Self {
        self.into_iter().chain(other).max_by_key(|target| target.id)
    }
}

/// Keeps a revoked target; removes the oldest if the list is full.
fn remember(
    revoked: &mut FixedQueue<IssuedTarget, MOST_REVOKED>,
    forgotten: &mut SurfaceTargetId,
    target: IssuedTarget,
) {
    if revoked.len() == MOST_REVOKED
        && let Some(oldest) = revoked.pop()
    {
        *forgotten = oldest.id;
    }
    // The list cannot be full here.
    let _ = revoked.push(target);
}
