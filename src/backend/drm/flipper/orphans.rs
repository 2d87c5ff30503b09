//! Flips that were given up while they were under way, and whose events are for nobody. Pure. The kernel numbers none: those
//! of one CRTC come in the order of its commits.

/// Events that are still to come and mean nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Orphans {
    count: u32,
    /// The driver has said all that it ever will of them.
    settled: bool,
}

impl Orphans {
    /// Whether an event is to be waited for.
    pub fn are_awaited(self) -> bool {
        self.count > 0
    }

    /// A flip is given up that the driver has not reported.
    pub fn add(&mut self) {
        *self = Orphans { count: self.count + 1, settled: false };
    }

    /// An event came. Whether it is one of theirs.
    pub fn claim(&mut self) -> bool {
        let is_theirs = self.count > 0;
        self.count = self.count.saturating_sub(1);
        is_theirs
    }

    /// A commit came to its end that waits for all before it: their events are there, or will never be.
    pub fn settle(&mut self) {
        self.settled = true;
    }

    /// All events that were there are taken in. One that a driver never sent would be mistaken for the next flip's, and that
    /// would be waited for for ever.
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
