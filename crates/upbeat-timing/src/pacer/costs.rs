//! What a client's frames cost, kept from the first on: of most clients that rest nobody ever learns one.

use crate::estimator::{Estimator, MissBudget, WindowQuantile};
use crate::time::Span;

/// A [`WindowQuantile`] that takes no memory until there is a cost, and all that it ever takes then.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs<const N: usize>(Option<Box<WindowQuantile<N>>>);

impl<const N: usize> Costs<N> {
    /// See [`WindowQuantile::exceeding`].
    pub fn exceeding(&self, limit: Span) -> usize {
        self.0.as_ref().map_or(0, |window| window.exceeding(limit))
    }

    /// See [`WindowQuantile::largest`].
    pub fn largest(&self) -> Option<Span> {
        self.0.as_ref()?.largest()
    }
}

impl<const N: usize> Estimator for Costs<N> {
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
