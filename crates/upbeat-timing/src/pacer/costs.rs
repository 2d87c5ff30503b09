//! The costs of a client's frames. Memory is allocated with the first cost, because most idle clients never have any.

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
