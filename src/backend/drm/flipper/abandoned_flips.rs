//! Abandoned flips, whose events must be ignored. Pure. The kernel does not number flips, but the events of one CRTC
//! come in the order of its commits.

/// Counts outstanding events of abandoned flips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AbandonedFlips {
    count: u32,
    /// The driver has already sent all events of these flips that it will ever send.
    settled: bool,
}

impl AbandonedFlips {
    /// Whether an event is outstanding.
    pub fn are_awaited(self) -> bool {
        self.count > 0
    }

    /// Records a flip that is abandoned before its event came.
    pub fn add(&mut self) {
        *self = AbandonedFlips { count: self.count + 1, settled: false };
    }

    /// An event came: returns whether it belongs to an abandoned flip.
    pub fn consume_event(&mut self) -> bool {
        let is_theirs = self.count > 0;
        self.count = self.count.saturating_sub(1);
        is_theirs
    }

    /// A blocking commit has finished, which waits for all flips before it: their events are there, or will never come.
    pub fn mark_settled(&mut self) {
        self.settled = true;
    }

    /// Call this when all pending events were read. Otherwise, if a driver never sent an event, the next flip's
    /// event would be taken for it, and that flip would never finish.
    pub fn forget_lost(&mut self) {
        if self.settled {
            *self = AbandonedFlips::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_abandoned_flips_are_ignored() {
        let mut flips = AbandonedFlips::default();
        assert!(!flips.consume_event());
        flips.add();
        flips.add();
        assert_eq!([flips.consume_event(), flips.consume_event(), flips.consume_event()], [true, true, false]);
        assert!(!flips.are_awaited());
    }

    #[test]
    fn an_event_that_never_came_is_not_taken_from_the_flip_after() {
        let mut flips = AbandonedFlips::default();
        flips.add();
        flips.mark_settled();
        assert!(flips.are_awaited(), "it may be there and not read");
        flips.forget_lost();
        assert!(!flips.consume_event());
    }

    #[test]
    fn outstanding_event_is_awaited_until_settled() {
        let mut flips = AbandonedFlips::default();
        flips.forget_lost();
        flips.add();
        flips.forget_lost();
        assert!(flips.consume_event(), "the output could not be switched off in order");
        flips.mark_settled();
        flips.add();
        flips.forget_lost();
        assert!(flips.consume_event(), "this one came after");
    }
}
