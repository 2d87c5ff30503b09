//! Whether a display refreshes at fixed times, or when a frame is ready.
//!
//! ```text
//!   fixed      │        │        │  late  │        a frame that comes too late for a refresh waits for the next
//!   variable   │  shortest  │   late │             the panel refreshes when the frame is ready: there is none to miss
//! ```

use super::{Sample, VsyncModel};
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// The rate of one display. Every decision that depends on it matches on this: for the latch in `output/rate`, for
/// callbacks in `pacer/variable`.
#[derive(Clone, Debug)]
pub(crate) enum Rate {
    /// Refreshes lie on a grid, and frames have deadlines.
    Fixed,
    /// Refreshes have no grid (VRR).
    Variable(Panel),
}

/// A panel with variable refresh.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Its shortest and its longest interval.
    pub range: (Span, Span),
    /// The refresh that is expected next, and when.
    pub(super) expected: Sample,
}

impl Rate {
    /// Whether frames are drawn for periods. Without them a client has no second period of slack, no frame waits for a
    /// refresh further ahead, and no second frame is drawn for the same refresh.
    pub const fn has_periods(&self) -> bool {
        matches!(self, Rate::Fixed)
    }
}

impl VsyncModel {
    /// Whether the panel has no grid.
    pub const fn is_variable(&self) -> bool {
        matches!(self.rate, Rate::Variable(_))
    }

    /// Whether it has a grid, and if not, the panel.
    pub(crate) const fn rate(&self) -> &Rate {
        &self.rate
    }

    /// The panel's range of intervals (shortest, longest), if its refresh is variable.
    pub const fn range(&self) -> Option<(Span, Span)> {
        match &self.rate {
            Rate::Fixed => None,
            Rate::Variable(panel) => Some(panel.range),
        }
    }

    /// The longest interval between two refreshes.
    pub(crate) const fn longest_interval(&self) -> Span {
        match &self.rate {
            Rate::Fixed => self.period,
            Rate::Variable(panel) => panel.range.1,
        }
    }

    /// Sets or clears the panel's range of intervals.
    pub fn set_variable(&mut self, range: Option<(Span, Span)>) {
        let expected = Sample { index: self.anchor.index + 1, time: self.anchor.time };
        self.rate = range.map_or(Rate::Fixed, |range| Rate::Variable(Panel { range, expected }));
        self.period = range.map_or(self.nominal, |(shortest, _)| shortest.max(Span::from_micros(1)));
    }

    /// On a variable-refresh panel: refresh `index`, the next that there is, is wanted at `time`, or as soon after the last
    /// one as the panel allows.
    pub fn expect(&mut self, index: RefreshIndex, time: Instant) {
        let soonest = self.anchor.time + self.period;
        if let Rate::Variable(panel) = &mut self.rate {
            panel.expected = Sample { index: index.0, time: time.max(soonest) };
        }
    }

    /// On a variable-refresh panel: the refresh that is [observed](Self::observe) next is this one.
    pub fn number_next(&mut self, index: RefreshIndex) {
        if self.is_variable() {
            self.anchor.index = self.anchor.index.max(index.0.saturating_sub(1));
        }
    }
}
