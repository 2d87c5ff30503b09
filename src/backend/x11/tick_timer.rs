//! The timer for the next light of any window.

use std::cell::{Cell, RefCell};

use crate::backend::timer::Timer;
use upbeat_timing::time::{Clock, Instant, MonotonicClock};

/// The one timer of all windows.
pub(super) struct TickTimer {
    timer: RefCell<Timer>,
    armed: Cell<Option<Instant>>,
}

impl TickTimer {
    pub(super) fn new(timer: Timer) -> Self {
        TickTimer { timer: RefCell::new(timer), armed: Cell::new(None) }
    }

    /// Sets the timer for `at` at the latest.
    pub(super) fn arm_by(&self, at: Instant) {
        if self.armed.get().is_none_or(|armed| armed > at) {
            self.arm(Some(at));
        }
    }

    /// Sets the timer for exactly `at`, or stops it.
    pub(super) fn arm(&self, at: Option<Instant>) {
        self.armed.set(at);
        if let Err(error) = self.timer.borrow_mut().arm(at, MonotonicClock.now()) {
            tracing::error!(%error, "the timer for refreshes cannot be set");
        }
    }
}
