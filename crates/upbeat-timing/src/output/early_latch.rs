//! Whether all content of a refresh has arrived before its latch, and whether a latch was missed.
//!
//! Complete content can be latched at two moments. While no unforeseen event has happened for a while: as soon as the
//! previous refresh has begun. Otherwise: a little before the regular latch, which forgives a compositor that wakes
//! late or composes longer than expected. The second moment also applies when the clients have committed the frames
//! that they drew for the refresh; a commit without a callback that arrives in between is then shown a refresh later.
//!
//! ```text
//!   present(k-1)                      latch_at(k)   present(k)
//!       │   ▲ all content that is           │            │
//!       │   └ due at k: latch now           └ a client may still commit for k, or the user may press: latch here
//! ```

use super::OutputMachine;
use crate::idle_predictor::IdlePredictor;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// After this fraction of an interval the previous refresh was surely shown: the error of the vsync model is far
/// smaller.
const SETTLED_DIVISOR: i64 = 8;
/// A latch without a drawing client is earlier by this fraction of an interval: more than a late wake-up usually costs.
/// The latency of a cursor grows invisibly, and one in 16 commits without a callback comes a refresh later.
const UNHURRIED_DIVISOR: i64 = 16;

impl<T> OutputMachine<T> {
    /// Sets the first refresh that was promised to a client that has not committed for it yet. It may commit until
    /// `ready_by`, so that refresh is not latched early.
    pub fn set_promised(&mut self, index: Option<RefreshIndex>) {
        self.promised = index;
    }

    /// The first promised refresh, if any.
    pub const fn promised(&self) -> Option<RefreshIndex> {
        self.promised
    }

    /// Whether a frame is needed as soon as possible, not only for a later refresh.
    pub const fn is_repaint_urgent(&self) -> bool {
        self.repaint_reason.is_some()
    }

    /// When complete content for `index` can be latched before its regular latch, if there is no other need. A
    /// frame that was drawn ahead then does not depend on a punctual wake-up.
    pub fn early_latch(&self, index: RefreshIndex, now: Instant) -> Option<Instant> {
        self.previous_light_settled(index, now).filter(|_| self.is_content_complete(index))
    }

    /// Like [`early_latch`](Self::early_latch) when another need may still arise, but no client draws for `index`:
    /// a little before the regular latch. Also used if clients have `answered`, that is, committed the frames that
    /// they drew for this refresh, unless the user interacts with a client.
    pub fn relaxed_latch(&self, index: RefreshIndex, now: Instant, answered: bool) -> Option<Instant> {
        let settled =
            self.previous_light_settled(index, now).filter(|_| answered || self.is_content_complete(index))?;
        Some((self.latch_at(index) - self.vsync.interval() / UNHURRIED_DIVISOR).max(settled))
    }

    /// Whether the only need is an update that is due at `index`.
    fn is_content_complete(&self, index: RefreshIndex) -> bool {
        self.repaint_reason.is_none() && self.due.is_some_and(|due| due.index == index)
    }

    /// When the refresh before `index` is surely on screen; `None` if that is unknown, or if the latch has to wait
    /// for a promised frame.
    fn previous_light_settled(&self, index: RefreshIndex, now: Instant) -> Option<Instant> {
        let is_promised = self.promised.is_some_and(|promised| promised <= index);
        if is_promised || !self.vsync.is_trusted(now) {
            return None;
        }
        let before = self.vsync.present(RefreshIndex(index.0.saturating_sub(1)));
        Some(before + self.vsync.interval() / SETTLED_DIVISOR)
    }

    /// The recent unforeseen activity, read only.
    pub const fn idle_predictor(&self) -> &IdlePredictor {
        &self.idle_predictor
    }

    /// The recent unforeseen activity, to report more.
    pub const fn idle_predictor_mut(&mut self) -> &mut IdlePredictor {
        &mut self.idle_predictor
    }

    /// The latch for `index` passed unused, because the caller woke `by` late.
    pub fn note_unused_latch(&mut self, index: RefreshIndex, by: Span) {
        self.unused_latch = Some((index, by));
    }

    /// How late the caller woke for the latch of `index`, if the latch passed unused for that reason.
    pub fn wake_delay(&self, index: RefreshIndex) -> Option<Span> {
        self.unused_latch.filter(|(skipped, _)| *skipped == index).map(|(_, by)| by)
    }
}
