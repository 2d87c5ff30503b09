//! Targets for one surface that knows what it draws for: how many, for which refresh, and what became of each.
//!
//! D-VSync for clients (4.3 to 4.5). A client asks for targets; each answer names a refresh of its own. In the
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
//! Which refresh a target names is the [`Virtualizer`]'s to say. A frame that is late is shown all the same, and so are
//! those that were begun behind it, each a refresh after the other, unless they are [later than that](late_frame);
//! targets sent from then on name the refreshes after those, so that content is on time again (D-VSync 5.1: elastic to
//! drops). A target that would lie in the past is revoked.

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
use super::virtualizer::{CatchUp, DisplayTarget, Grid, Virtualizer};
use crate::time::{Instant, Span};
pub use effective::{Circumstances, Effective, Reason, Wishes};

/// Frames of one surface that may be under way at once: the seven buffers of D-VSync's widest experiment hold six and
/// the one on screen, and a client that knows better may have two more.
pub const MOST_AHEAD: u8 = 8;
/// Frames of one surface that are remembered: those under way, and those of a higher limit that it had before.
const MOST_LIVE: usize = 16;
/// Revoked targets whose time is remembered for a commit that is still bound to them.
const MOST_REVOKED: usize = 32;
/// Frames that the cost is taken from: half a second at 60 Hz.
const COST_WINDOW: usize = 32;
/// Frames that a rate is taken from: a change of scene is followed within a quarter of a second, one long frame is not.
const PACE_WINDOW: usize = 16;

/// The number of a target. Numbers grow by one and are never used twice for one object; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u64);

impl TargetId {
    /// The target after this one.
    pub const fn next(self) -> Self {
        TargetId(self.0.saturating_add(1))
    }
}

/// A target as it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// Its number.
    pub id: TargetId,
    /// The refresh on the grid of the surface's output.
    pub refresh: RefreshIndex,
    /// When that refresh starts to scan out (`CLOCK_MONOTONIC`).
    pub present: Instant,
    /// The distance between refreshes.
    pub interval: Span,
    /// When it was sent.
    pub sent: Instant,
    /// Where refreshes have no grid: its time says when it is, and its refresh only in which order.
    pub timed: bool,
    /// The refresh has a frame already: this one is fresher, if it makes it.
    pub is_second: bool,
}

/// What a commit was bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The target.
    pub target: Issued,
    /// It does not hold any more: its refresh says nothing, its time does.
    pub revoked: bool,
}

/// Why a target cannot be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// It was never sent.
    #[error("target {} was never sent", .0.0)]
    Unknown(TargetId),
    /// An earlier commit was bound to it.
    #[error("target {} was bound to an earlier commit", .0.0)]
    Used(TargetId),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The client is drawing it, or will.
    #[default]
    Sent,
    /// It was committed and waits.
    Bound,
    /// A latch took it.
    Latched,
}

#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    target: Issued,
    stage: Stage,
}

/// The targets of one surface.
#[derive(Clone, Debug)]
pub struct Ahead {
    wishes: Wishes,
    effective: Effective,
    /// Requests that were not answered.
    requests: u64,
    last_id: TargetId,
    /// Frames under way, oldest first.
    live: FixedQueue<Frame, MOST_LIVE>,
    /// Targets that were revoked before they were bound, oldest first.
    revoked: FixedQueue<Issued, MOST_REVOKED>,
    /// Revoked targets up to this one may have been forgotten.
    forgotten: TargetId,
    virtualizer: Option<Virtualizer>,
    /// The last target that left this list without being revoked or cancelled.
    ended: Option<Issued>,
    /// Targets went by while the client was busy: there are new ones when it has committed.
    stalled: bool,
    /// Frames were cancelled while others were kept that wait: the one after those is drawn meanwhile.
    restarts: bool,
    cost: WindowQuantile<COST_WINDOW>,
    committed: Instant,
    /// Where refreshes have no grid: the rate that it keeps up with.
    rate: Option<RateGovernor>,
    /// What a frame takes on average.
    pace: MeanOfLast<PACE_WINDOW>,
}

impl Default for Ahead {
    fn default() -> Self {
        Ahead {
            wishes: Wishes::default(),
            effective: Effective::default(),
            requests: 0,
            last_id: TargetId::default(),
            live: FixedQueue::new(),
            revoked: FixedQueue::new(),
            forgotten: TargetId::default(),
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

impl Ahead {
    /// What the client wishes for, from the update on that is applied now.
    pub fn set_wishes(&mut self, wishes: Wishes) {
        self.wishes = wishes;
    }

    /// What the client wishes for.
    pub const fn wishes(&self) -> Wishes {
        self.wishes
    }

    /// The pacing in force.
    pub const fn effective(&self) -> Effective {
        self.effective
    }

    /// Decides anew which pacing is in force. Targets of another one that nobody bound are revoked: the first of them
    /// is returned.
    pub fn decide(&mut self, circumstances: Circumstances) -> Option<TargetId> {
        let before = std::mem::replace(&mut self.effective, effective::decide(self.wishes, circumstances));
        if before.pacing == self.effective.pacing {
            return None;
        }
        let first = self.live.iter().filter(|frame| frame.stage != Stage::Sent).map(|frame| frame.target.id).max();
        self.revoke_from(first.unwrap_or_default().next())
    }

    /// The client asks for a target.
    pub fn request(&mut self) {
        self.requests = self.requests.saturating_add(1);
    }

    /// Requests that were not answered, with the targets that are owed for revoked ones.
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// How many frames are under way.
    pub const fn under_way(&self) -> usize {
        self.live.len()
    }

    /// What a frame usually takes, from its target or the commit before it to its commit.
    pub fn cost(&self) -> Span {
        self.cost.typical().unwrap_or(Span::ZERO)
    }

    /// The next target, if one is to be sent now. `grid`: that of the output; `earliest`: the first refresh that a
    /// frame started now can reach.
    pub fn poll(&mut self, grid: Grid, earliest: RefreshIndex, now: Instant) -> Option<Issued> {
        if self.stalled && self.live.iter().any(|frame| frame.stage == Stage::Sent) {
            return None;
        }
        let room = match self.effective.pacing {
            Pacing::Ahead => self.live.len() < usize::from(self.effective.ahead),
            Pacing::Vsync | Pacing::VsyncLate => self.is_idle(),
            // Frames that were kept hide what the first one after an interruption takes; waiting for their light would
            // show no newer input, since the client has just answered to that.
            Pacing::JustInTime => {
                self.restarts
                    && self.live.len() < usize::from(self.wishes.most())
                    && self.live.iter().all(|frame| frame.stage != Stage::Sent)
            }
        };
        (room && !self.effective.is_hidden()).then(|| self.answer(grid, earliest, now)).flatten()
    }

    /// Whether it waits for the moment that suits its cost: its pacer's callback answers it.
    pub fn waits_for_callback(&self) -> bool {
        self.requests > 0
            && self.effective.pacing == Pacing::JustInTime
            && !self.effective.is_hidden()
            && self.is_idle()
    }

    /// Answers one request with a target for `refresh` or the first later one that is free.
    pub fn answer(&mut self, grid: Grid, refresh: RefreshIndex, now: Instant) -> Option<Issued> {
        if self.requests == 0 || self.live.len() == MOST_LIVE {
            return None;
        }
        let waiting = self.live.iter().filter(|frame| frame.stage == Stage::Bound).count();
        // Without a chain, those that wait are shown first.
        let is_ahead = self.effective.pacing == Pacing::Ahead;
        let waiting = if self.virtualizer.is_none() && !is_ahead { waiting as u64 } else { 0 };
        let virtualizer = self.virtualizer.get_or_insert_with(|| Virtualizer::new(grid, CatchUp::Skip));
        if self.rate.is_some() {
            virtualizer.follow(grid);
        } else {
            virtualizer.calibrate(grid);
        }
        // Without a grid, who is late takes nobody's refresh.
        let follows = (is_ahead || self.restarts) && self.rate.is_none();
        let free = if follows { free_after(&self.live, grid.refresh) } else { refresh };
        let target = virtualizer.issue(refresh.max(free), waiting);
        self.requests -= 1;
        self.restarts = false;
        self.last_id = self.last_id.next();
        let interval = virtualizer.grid().interval;
        let DisplayTarget { refresh, present, .. } = target;
        let timed = self.rate.is_some();
        let issued = Issued { id: self.last_id, refresh, present, interval, sent: now, timed, is_second: false };
        self.live.push(Frame { target: issued, stage: Stage::Sent }).ok()?;
        Some(issued)
    }

    /// Nothing of it is on its way to a latch, but for what came too late for a refresh that had a frame.
    fn is_idle(&self) -> bool {
        self.live.iter().all(|frame| frame.stage == Stage::Latched || frame.target.is_second)
    }

    /// Whether `id` may be bound to a commit.
    ///
    /// # Errors
    /// If it was never sent, or was bound before.
    pub fn check(&self, id: TargetId) -> Result<(), BindError> {
        if id == TargetId::default() || id > self.last_id {
            return Err(BindError::Unknown(id));
        }
        let sent = self.live.iter().any(|frame| frame.target.id == id && frame.stage == Stage::Sent);
        let revoked = self.revoked.iter().any(|target| target.id == id);
        if sent || revoked || id <= self.forgotten { Ok(()) } else { Err(BindError::Used(id)) }
    }

    /// The first refresh of the output's grid that a target was sent for and no commit is bound to.
    pub fn promised(&self) -> Option<RefreshIndex> {
        self.live
            .iter()
            .filter(|frame| frame.stage == Stage::Sent && !frame.target.timed)
            .map(|frame| frame.target.refresh)
            .min()
    }

    /// A commit at `now` is bound to `id`, which was [checked](Self::check).
    pub fn bind(&mut self, id: TargetId, now: Instant) -> Bound {
        let sent = self.live.iter().find(|frame| frame.target.id == id).map(|frame| frame.target);
        let started = sent.map_or(now, |target| target.sent).max(self.committed);
        self.committed = now;
        self.stalled = false;
        if let Some(target) = sent {
            self.cost.observe(now - started);
            self.keep_pace(now - started);
            self.live.update(|frame| frame.target.id == id, |frame| frame.stage = Stage::Bound);
            self.give_up(id);
            return Bound { target, revoked: false };
        }
        let known = self.revoked.iter().find(|target| target.id == id).copied();
        self.revoked.retain(|target| target.id != id);
        Bound { target: known.unwrap_or(Issued { id, ..Issued::default() }), revoked: true }
    }

    /// A client that binds a later target has done without those before it: they keep nothing waiting.
    fn give_up(&mut self, before: TargetId) {
        let skipped = |frame: &Frame| frame.stage == Stage::Sent && frame.target.id < before;
        for frame in self.live.iter().filter(|frame| skipped(frame)) {
            remember(&mut self.revoked, &mut self.forgotten, frame.target);
            // It was not revoked: later targets go on after it.
            self.ended = Some(frame.target).max_by_id(self.ended);
        }
        self.live.retain(|frame| !skipped(frame));
    }

    /// A latch took the frame.
    pub fn latched(&mut self, id: TargetId) {
        self.live.update(|frame| frame.target.id == id, |frame| frame.stage = Stage::Latched);
    }

    /// The frame was shown, or never will be.
    pub fn ended(&mut self, id: TargetId) {
        let ended = self.live.iter().find(|frame| frame.target.id == id).map(|frame| frame.target);
        self.ended = ended.max_by_id(self.ended);
        self.live.retain(|frame| frame.target.id != id);
    }

    /// The client threw waiting frames away, those named if there are any: they are not under way any more, and targets go on after the last one kept.
    pub fn cancelled(&mut self, ids: &[TargetId]) {
        self.live.retain(|frame| !ids.contains(&frame.target.id));
        self.restarts = self.live.iter().any(|frame| frame.stage == Stage::Bound);
        self.rebase();
    }

    /// Targets from `first` on that nobody bound do not hold any more; each is owed anew. Returns the first of them.
    pub fn revoke_from(&mut self, first: TargetId) -> Option<TargetId> {
        let named = |frame: &Frame| frame.stage == Stage::Sent && frame.target.id >= first;
        let first = self.live.iter().filter(|frame| named(frame)).map(|frame| frame.target.id).min()?;
        for frame in self.live.iter().filter(|frame| named(frame)) {
            remember(&mut self.revoked, &mut self.forgotten, frame.target);
        }
        self.requests = self.requests.saturating_add(self.live.retain(|frame| !named(frame)) as u64);
        self.rebase();
        Some(first)
    }

    /// The surface went to another output, or its output's grid changed: no target holds any more. Returns the first
    /// of those under way.
    pub fn moved(&mut self) -> Option<TargetId> {
        let first = self.live.iter().filter(|frame| frame.stage != Stage::Latched).map(|frame| frame.target.id).min();
        self.revoke_from(TargetId::default());
        self.virtualizer = None;
        self.ended = None;
        first
    }

    /// Targets whose refresh went by while the client was busy with an earlier one would show the past: they are
    /// revoked, but not the oldest, which is being drawn. `next`: the first refresh that is not decided yet. Returns
    /// the first of them.
    pub fn recover(&mut self, next: RefreshIndex) -> Option<TargetId> {
        if self.effective.pacing != Pacing::Ahead {
            return None;
        }
        let sent = self.live.iter().filter(|frame| frame.stage == Stage::Sent);
        let passed = sent.skip(1).find(|frame| frame.target.refresh < next).map(|frame| frame.target.id)?;
        let bound = self.live.iter().any(|frame| frame.stage != Stage::Sent && frame.target.id > passed);
        if bound {
            return None;
        }
        self.stalled = true;
        self.revoke_from(passed)
    }

    /// The chain of targets goes on after the last one that holds.
    fn rebase(&mut self) {
        let Some(virtualizer) = &mut self.virtualizer else { return };
        let last = self.live.iter().map(|frame| frame.target).max_by_key(|target| target.id);
        match last.max_by_id(self.ended) {
            Some(Issued { refresh, present, .. }) => {
                virtualizer.rebase(DisplayTarget { refresh, present, content: present });
            }
            None => virtualizer.restart(),
        }
    }
}

/// The first refresh from `next` on that no frame under way takes: each takes its own or, after a drop, the first that is
/// free, but for those that are so late by then that they give way.
fn free_after(live: &FixedQueue<Frame, MOST_LIVE>, next: RefreshIndex) -> RefreshIndex {
    let waiting = || live.iter().filter(|frame| frame.stage != Stage::Latched).map(|frame| frame.target.refresh);
    let followers = waiting().skip(1).map(Some).chain([None]);
    waiting().zip(followers).fold(next, |free, (target, follower)| {
        let shown = free.max(target);
        let gives_way =
            late_frame::gives_way(shown.since(target)) && follower.is_some_and(|follower| follower <= shown);
        if gives_way { free } else { shown.next() }
    })
}

trait Latest {
    fn max_by_id(self, other: Self) -> Self;
}

impl Latest for Option<Issued> {
    fn max_by_id(self, other: Self) -> Self {
        self.into_iter().chain(other).max_by_key(|target| target.id)
    }
}

/// Keeps a revoked target; the oldest makes room.
fn remember(revoked: &mut FixedQueue<Issued, MOST_REVOKED>, forgotten: &mut TargetId, target: Issued) {
    if revoked.len() == MOST_REVOKED
        && let Some(oldest) = revoked.pop()
    {
        *forgotten = oldest.id;
    }
    // There is room now.
    let _ = revoked.push(target);
}
