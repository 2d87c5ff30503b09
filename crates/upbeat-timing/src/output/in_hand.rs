//! What is known of a refresh before its latch: that all of it is in hand, or that its moment went by.
//!
//! With all in hand there are two moments to choose from: as soon as the refresh before has begun, while nothing
//! unforeseen has happened for a while; else a little before the last one, which forgives a compositor that wakes late or
//! composes longer than it thought. What clients have drawn for the refresh and committed is in hand, too, and is latched
//! at the second moment: a commit that nobody was asked for in between is then shown a refresh later.
//!
//! ```text
//!   present(k-1)                      latch_at(k)   present(k)
//!       │   ▲ all that is due at k          │            │
//!       │   └ is here: latch now            └ somebody may still commit for k, or touch something: latch here
//! ```

use super::OutputMachine;
use crate::calm::Calm;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// After so much of an interval since the refresh before, that one was surely shown: a model's error is far below it.
const SETTLED_DIVISOR: i64 = 8;
/// So much of an interval earlier is a latch for which nobody draws: more than a late wake-up usually costs, less than
/// anybody sees of a cursor, and one in as many commits that nobody was asked for.
const UNHURRIED_DIVISOR: i64 = 16;

impl<T> OutputMachine<T> {
    /// The first refresh that a client was promised, and for which it has not committed: it may until `ready_by`.
    pub fn set_promised(&mut self, index: Option<RefreshIndex>) {
        self.promised = index;
    }

    /// That refresh.
    pub const fn promised(&self) -> Option<RefreshIndex> {
        self.promised
    }

    /// Whether something is to be shown as soon as possible, not at a refresh of its own.
    pub const fn is_pressed(&self) -> bool {
        self.need.is_some()
    }

    /// When content for `index` can be chosen although its latch is later, if all that is due then is here and nobody
    /// wants anything else: a frame that was drawn ahead needs no compositor that wakes on the dot.
    pub fn early_latch(&self, index: RefreshIndex, now: Instant) -> Option<Instant> {
        self.settled(index, now).filter(|_| self.is_in_hand(index))
    }

    /// The same while somebody may want something else yet, but nobody draws for `index`: a little before its latch. So it
    /// is for what clients have `answered`, drawn for this refresh and committed, unless that is one that was touched.
    pub fn unhurried_latch(&self, index: RefreshIndex, now: Instant, answered: bool) -> Option<Instant> {
        let settled = self.settled(index, now).filter(|_| answered || self.is_in_hand(index))?;
        Some((self.latch_at(index) - self.vsync.interval() / UNHURRIED_DIVISOR).max(settled))
    }

    /// Whether all that is to be shown is due at `index`.
    fn is_in_hand(&self, index: RefreshIndex) -> bool {
        self.need.is_none() && self.due.is_some_and(|due| due.index == index)
    }

    /// When the refresh before `index` is surely on the screen; `None` where that cannot be said, or where somebody was
    /// promised to be waited for.
    fn settled(&self, index: RefreshIndex, now: Instant) -> Option<Instant> {
        let is_promised = self.promised.is_some_and(|promised| promised <= index);
        if is_promised || !self.vsync.is_trusted(now) {
            return None;
        }
        let before = self.vsync.present(RefreshIndex(index.0.saturating_sub(1)));
        Some(before + self.vsync.interval() / SETTLED_DIVISOR)
    }

    /// What has happened lately.
    pub const fn calm(&self) -> &Calm {
        &self.calm
    }

    /// What has happened lately, to tell more.
    pub const fn calm_mut(&mut self) -> &mut Calm {
        &mut self.calm
    }

    /// The latch for `index` passed unused: whoever drives us woke `by` late.
    pub fn skip(&mut self, index: RefreshIndex, by: Span) {
        self.skipped = Some((index, by));
    }

    /// How late whoever drives us woke for the latch of `index`, if that one passed unused for it.
    pub fn overslept(&self, index: RefreshIndex) -> Option<Span> {
        self.skipped.filter(|(skipped, _)| *skipped == index).map(|(_, by)| by)
    }
}
