//! Whether a display refreshes at fixed times, or when a frame is ready (VRR).
//!
//! ```text
//!   fixed      │        │        │  late  │        a frame that comes too late for a refresh waits for the next
//!   variable   │  shortest  │   late │             the panel refreshes when the frame is ready: there is none to miss
//! ```

use super::{RefreshSample, VsyncModel};
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// The kind of rate of one display. Every decision that depends on it matches on this: for the latch in `output/rate`,
/// for callbacks in `pacer/variable`.
#[derive(Clone, Debug)]
pub(crate) enum RefreshMode {
    /// Refreshes lie on a grid, and frames have deadlines.
    Fixed,
    /// Refreshes have no grid (VRR).
    Variable(VariablePanel),
}

/// A panel with variable refresh.
#[derive(Clone, Debug)]
pub(crate) struct VariablePanel {
    /// The shortest and the longest interval.
    pub range: (Span, Span),
    /// The next expected refresh and its time.
    pub(super) expected: RefreshSample,
}

impl RefreshMode {
    /// Whether frames are drawn for periods. Without periods a client has no second period of slack, no frame waits
    /// for a refresh further ahead, and no second frame is drawn for the same refresh.
    pub const fn has_periods(&self) -> bool {
        matches!(self, RefreshMode::Fixed)
    }
}

impl VsyncModel {
    /// Whether the panel has variable refresh, so that there is no grid.
    pub const fn is_variable(&self) -> bool {
        matches!(self.rate, RefreshMode::Variable(_))
    }

    /// The kind of rate: fixed, or variable with the panel's range.
    pub(crate) const fn rate(&self) -> &RefreshMode {
        &self.rate
    }

    /// The panel's range of intervals (shortest, longest), if its refresh is variable.
    pub const fn range(&self) -> Option<(Span, Span)> {
        match &self.rate {
            RefreshMode::Fixed => None,
            RefreshMode::Variable(panel) => Some(panel.range),
        }
    }

    /// The longest interval between two refreshes.
    pub(crate) const fn longest_interval(&self) -> Span {
        match &self.rate {
            RefreshMode::Fixed => self.period,
            RefreshMode::Variable(panel) => panel.range.1,
        }
    }

    /// Sets or clears the panel's range of intervals.
    pub fn set_variable(&mut self, range: Option<(Span, Span)>) {
        let expected = RefreshSample { index: self.anchor.index + 1, time: self.anchor.time };
        self.rate = range.map_or(RefreshMode::Fixed, |range| RefreshMode::Variable(VariablePanel { range, expected }));
        self.period = range.map_or(self.nominal, |(shortest, _)| shortest.max(Span::from_micros(1)));
    }

    /// On a variable-refresh panel: the next refresh, `index`, is wanted at `time`, or as soon after the last
    /// refresh as the panel allows.
    pub fn expect(&mut self, index: RefreshIndex, time: Instant) {
        let soonest = self.anchor.time + self.period;
        if let RefreshMode::Variable(panel) = &mut self.rate {
            panel.expected = RefreshSample { index: index.0, time: time.max(soonest) };
        }
    }

    /// On a variable-refresh panel: the next [observed](Self::observe) timestamp belongs to this refresh.
    pub fn set_next_index(&mut self, index: RefreshIndex) {
        if self.is_variable() {
            self.anchor.index = self.anchor.index.max(index.0.saturating_sub(1));
        }
    }
}
