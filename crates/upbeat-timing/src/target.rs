//! A target: one refresh of one output for which a frame can be made.

use serde::{Deserialize, Serialize};

use crate::time::{Instant, Span};

/// The number of a refresh on an output's grid; consecutive refreshes have consecutive numbers.
///
/// It counts the grid, not the frames: a refresh in which nothing changed has a number too. The grid is renumbered
/// only when the output is created; a change of refresh rate continues the count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RefreshIndex(pub u64);

impl RefreshIndex {
    /// The refresh after this one.
    pub const fn next(self) -> Self {
        RefreshIndex(self.0.saturating_add(1))
    }

    /// The refresh `count` after this one.
    pub const fn plus(self, count: u64) -> Self {
        RefreshIndex(self.0.saturating_add(count))
    }

    /// How many refreshes `self` lies after `earlier`; zero when it does not.
    pub const fn since(self, earlier: RefreshIndex) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// One refresh, as it is published to the client that draws for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The number of the refresh on the output's grid.
    pub id: RefreshIndex,
    /// When scan-out of line 0 starts (`CLOCK_MONOTONIC`); the time that the frame's content represents.
    pub present: Instant,
    /// The deadline for content to reach the compositor. Fixed when the target is published.
    pub ready_by: Instant,
    /// The distance from the previous refresh.
    pub interval: Span,
}
