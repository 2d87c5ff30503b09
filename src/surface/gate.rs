//! A gate holds an update back in Smithay's queue (a `Blocker`) until it is opened.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smithay::wayland::compositor::{Blocker, BlockerState};

/// A gate in front of one update. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    /// Lets the update go with the client's next `blocker_cleared`.
    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Blocker for Gate {
    fn state(&self) -> BlockerState {
        if self.0.load(Ordering::Acquire) { BlockerState::Released } else { BlockerState::Pending }
    }
}
