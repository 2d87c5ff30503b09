//! Abandoned flips, whose events must be ignored. Pure. The kernel does not number flips, but the events of one CRTC
//! come in the order of its commits.

/// Counts outstanding events of abandoned flips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Orphans {
    count: u32,
    /// The driver has already sent all events of these flips that it will ever send.
    settled: bool,
}

impl Orphans {
    /// Whether an event is outstanding.
    pub fn are_awaited(self) -> bool {
        self.count > 0
    }

    /// Records a flip that is abandoned before its event came.
    pub fn add(&mut self) {
        *self = Orphans { count: self.count + 1, settled: false };
    }

    /// An event came: returns whether it belongs to an abandoned flip.
    pub fn claim(&mut self) -> bool {
        let is_theirs = self.count > 0;
        self.count = self.count.saturating_sub(1);
        is_theirs
    }

    /// A blocking commit has finished, which waits for all flips before it: their events are there, or will never come.
    pub fn settle(&mut self) {
        self.settled = true;
    }

    /// Call this when all pending events were read. Otherwise, if a driver never sent an event, the next flip's
    /// event would be taken for it, and that flip would never finish.
    pub fn forget_lost(&mut self) {
        if self.settled {
            *self = Orphans::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_flips_that_were_given_up_are_for_nobody() {
        let mut orphans = Orphans::default();
        assert!(!orphans.claim());
        orphans.add();
        orphans.add();
        assert_eq!([orphans.claim(), orphans.claim(), orphans.claim()], [true, true, false]);
        assert!(!orphans.are_awaited());
    }

    #[test]
    fn an_event_that_never_came_is_not_taken_from_the_flip_after() {
        let mut orphans = Orphans::default();
        orphans.add();
        orphans.settle();
        assert!(orphans.are_awaited(), "it may be there and not read");
        orphans.forget_lost();
        assert!(!orphans.claim());
    }

    #[test]
    fn while_an_event_may_yet_come_it_is_waited_for() {
        let mut orphans = Orphans::default();
        orphans.forget_lost();
        orphans.add();
        orphans.forget_lost();
        assert!(orphans.claim(), "the output could not be switched off in order");
        orphans.settle();
        orphans.add();
        orphans.forget_lost();
        assert!(orphans.claim(), "this one came after");
    }
}
