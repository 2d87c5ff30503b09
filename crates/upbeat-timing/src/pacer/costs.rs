//! The costs of a client's frames. Memory is allocated with the first cost, because most idle clients never have any.

use crate::defaults::COST_WINDOW;
use crate::estimator::{Estimator, MissBudget, WindowQuantile};
use crate::time::Span;

/// A [`WindowQuantile`] that is allocated, at its full size, with the first cost.
#[derive(Clone, Debug, Default)]
pub(super) struct LazyCosts<const N: usize>(Option<Box<WindowQuantile<N>>>);

impl<const N: usize> LazyCosts<N> {
    /// Forwards to [`WindowQuantile::exceeding`]; 0 without costs.
    pub fn exceeding(&self, limit: Span) -> usize {
        self.0.as_ref().map_or(0, |window| window.exceeding(limit))
    }

    /// Forwards to [`WindowQuantile::mean_excess`]; zero without costs.
    pub fn mean_excess(&self, limit: Span) -> Span {
        self.0.as_ref().map_or(Span::ZERO, |window| window.mean_excess(limit))
    }

    /// Forwards to [`WindowQuantile::least_with_excess`]; `None` without costs.
    pub fn least_with_excess(&self, allowed: Span) -> Option<Span> {
        self.0.as_ref()?.least_with_excess(allowed)
    }

    /// Forwards to [`WindowQuantile::largest`]; `None` without costs.
    pub fn largest(&self) -> Option<Span> {
        self.0.as_ref()?.largest()
    }
}

impl<const N: usize> Estimator for LazyCosts<N> {
    fn observe(&mut self, cost: Span) {
        self.0.get_or_insert_with(|| Box::new(WindowQuantile::new())).observe(cost);
    }

    fn budget(&self, miss: MissBudget) -> Option<Span> {
        self.0.as_ref()?.budget(miss)
    }

    fn samples(&self) -> usize {
        self.0.as_ref().map_or(0, |window| window.samples())
    }
}

/// Which waits of a client are a part of its cost, while other clients draw.
///
/// Waiting for a processor that another client has is no cost of this client: packing keeps them apart. Waiting for
/// another process, which draws a part of the frame, is. Both look alike, until a frame is late by no more than was left
/// out of the costs before: from then on every wait counts, until the client waits no more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnWaits {
    /// Every wait counts as a cost.
    count_all: bool,
    /// The longest wait that others might explain, and frames in a row since then without such a wait.
    longest: Span,
    without: usize,
}

impl OwnWaits {
    /// The cost of a frame that took `wall`, or `alone` if all waits that other clients explain are left out. `late`: by
    /// how much it missed its deadline; negative if it was in time.
    pub fn own_cost(&mut self, wall: Span, alone: Span, late: Span) -> Span {
        self.without = if alone < wall { 0 } else { self.without + 1 };
        if self.without >= COST_WINDOW {
            *self = OwnWaits::default();
        }
        self.longest = self.longest.max(wall - alone);
        self.count_all |= late > Span::ZERO && late <= self.longest;
        if self.count_all { wall } else { alone }
    }
}
