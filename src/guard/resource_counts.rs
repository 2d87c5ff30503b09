//! Counters for each kind of resource.

use std::sync::atomic::AtomicU32;

use super::resource_kinds::Kind;

/// A counter for each kind.
#[derive(Debug)]
pub(super) struct ResourceCounts([AtomicU32; Kind::ALL.len()]);

impl Default for ResourceCounts {
    fn default() -> Self {
        ResourceCounts(std::array::from_fn(|_| AtomicU32::new(0)))
    }
}

impl std::ops::Index<Kind> for ResourceCounts {
    type Output = AtomicU32;

    fn index(&self, kind: Kind) -> &AtomicU32 {
        &self.0[kind as usize]
    }
}

/// Use of all connections of a process, or from inside a sandbox, together. The limits apply to this sum.
#[derive(Debug, Default)]
pub struct SharedCounts(pub(super) ResourceCounts);
