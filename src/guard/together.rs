//! Counters for each kind of resource.

use std::sync::atomic::AtomicU32;

use super::kinds::Kind;

/// A counter for each kind.
#[derive(Debug)]
pub(super) struct Counts([AtomicU32; Kind::ALL.len()]);

impl Default for Counts {
    fn default() -> Self {
        Counts(std::array::from_fn(|_| AtomicU32::new(0)))
    }
}

impl std::ops::Index<Kind> for Counts {
    type Output = AtomicU32;

    fn index(&self, kind: Kind) -> &AtomicU32 {
        &self.0[kind as usize]
    }
}

/// Use of all connections of a process, or from inside a sandbox, together. The limits apply to this sum.
#[derive(Debug, Default)]
pub struct Together(pub(super) Counts);
