//! State machine of the session lock (`ext_session_lock_v1`): which client has the screen and the seat. Pure.
//!
//! ```text
//!            ask                 drawn, or time is up             shown everywhere
//!   open ──────────► asked(l) ────────────────────────► covered(l) ────────────────► locked(l), `locked` is sent
//!    ▲ ▲               │  │ died                          │ died, given up             │ died
//!    │ └── given up ───┘  └───────────────┐               ▼                            │
//!    │                                    └──────────► abandoned ◄─────────────────────┘
//!    │                                                     │ ask: covered(m), by another locker
//!    └──────────────── unlock, by l after `locked` ────────┴──► …
//!
//!   input    of windows │ of the locker, or none ───────────────────────────────────────────────►
//!   picture  of windows ────────────────────────────────│ of the locker, or black ──────────────►
//! ```
//!
//! The locker gets all input from its request on, because the user may already type a password. The picture waits until
//! the locker has drawn on every output, but a second at most: then the lock is granted with black outputs.

use upbeat_timing::time::{Instant, Span};

/// A locker that has not drawn by then is granted the lock with black outputs.
pub const LONGEST_WAIT: Span = Span::from_seconds(1);

/// Identifies a lock that a client asked for. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockId(u64);

/// Another client has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyLocked;

/// A client may only unlock after it was sent `locked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLocked;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LockPhase {
    #[default]
    Open,
    Asked {
        by: LockId,
        until: Instant,
    },
    Covered {
        by: LockId,
    },
    Locked {
        by: LockId,
    },
    Abandoned,
}

/// State of the session lock.
#[derive(Clone, Copy, Debug, Default)]
pub struct LockMachine {
    phase: LockPhase,
    last: u64,
}

impl LockMachine {
    /// A client asks for the lock at `now`.
    ///
    /// # Errors
    /// Another client has the lock.
    pub fn request(&mut self, now: Instant) -> Result<LockId, AlreadyLocked> {
        let by = LockId(self.last + 1);
        self.phase = match self.phase {
            LockPhase::Open => LockPhase::Asked { by, until: now + LONGEST_WAIT },
            // The windows are covered already.
            LockPhase::Abandoned => LockPhase::Covered { by },
            LockPhase::Asked { .. } | LockPhase::Covered { .. } | LockPhase::Locked { .. } => {
                return Err(AlreadyLocked);
            }
        };
        self.last = by.0;
        Ok(by)
    }

    /// The locker has drawn on every output. Returns whether this grants the lock.
    pub fn locker_has_drawn(&mut self) -> bool {
        let LockPhase::Asked { by, .. } = self.phase else { return false };
        self.phase = LockPhase::Covered { by };
        true
    }

    /// Checks the time limit at `now`. Returns whether this grants the lock.
    pub fn check_time_limit(&mut self, now: Instant) -> bool {
        self.wake().is_some_and(|until| until <= now) && self.locker_has_drawn()
    }

    /// Every output shows the lock, and no older frame is in flight. Returns the lock whose client is to be sent
    /// `locked`.
    pub fn confirm_shown(&mut self) -> Option<LockId> {
        let LockPhase::Covered { by } = self.phase else { return None };
        self.phase = LockPhase::Locked { by };
        Some(by)
    }

    /// The client of `id` unlocks the session.
    ///
    /// # Errors
    /// The client was not sent `locked`.
    pub fn unlock(&mut self, id: LockId) -> Result<(), NotLocked> {
        if self.phase != (LockPhase::Locked { by: id }) {
            return Err(NotLocked);
        }
        self.phase = LockPhase::Open;
        Ok(())
    }

    /// The client destroys the lock `id` without unlocking. Returns whether that changes anything.
    pub fn give_up(&mut self, id: LockId) -> bool {
        if matches!(self.phase, LockPhase::Asked { by, .. } if by == id) {
            self.phase = LockPhase::Open;
            return true;
        }
        self.locker_died(id)
    }

    /// The client of `id` has disconnected. Returns whether that changes anything.
    pub fn locker_died(&mut self, id: LockId) -> bool {
        let had = self.holder() == Some(id);
        if had {
            self.phase = LockPhase::Abandoned;
        }
        had
    }

    /// The lock in force.
    pub const fn holder(&self) -> Option<LockId> {
        match self.phase {
            LockPhase::Asked { by, .. } | LockPhase::Covered { by } | LockPhase::Locked { by } => Some(by),
            LockPhase::Open | LockPhase::Abandoned => None,
        }
    }

    /// Whether only the locker, or no client, gets input.
    pub const fn takes_input(&self) -> bool {
        !matches!(self.phase, LockPhase::Open)
    }

    /// Whether only the lock may be visible.
    pub const fn covers(&self) -> bool {
        !matches!(self.phase, LockPhase::Open | LockPhase::Asked { .. })
    }

    /// Whether the locker waits for `locked`.
    pub const fn awaits_confirmation(&self) -> bool {
        matches!(self.phase, LockPhase::Covered { .. })
    }

    /// Whether `id` is in force and its client was sent `locked`.
    pub fn is_confirmed(&self, id: LockId) -> bool {
        self.phase == LockPhase::Locked { by: id }
    }

    /// Whether its locker has ended without unlocking.
    pub const fn is_abandoned(&self) -> bool {
        matches!(self.phase, LockPhase::Abandoned)
    }

    /// The time at which [`check_time_limit`](Self::check_time_limit) is to be called next.
    pub const fn wake(&self) -> Option<Instant> {
        match self.phase {
            LockPhase::Asked { until, .. } => Some(until),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An event. The number counts back from the newest client that was granted a lock id.
    #[derive(Clone, Copy, Debug)]
    enum LockStep {
        Ask,
        Drawn,
        Wait(i64),
        Shown,
        Unlock(usize),
        GiveUp(usize),
        Die(usize),
    }

    fn step() -> impl Strategy<Value = LockStep> {
        prop_oneof![
            3 => Just(LockStep::Ask),
            2 => Just(LockStep::Drawn),
            1 => (0..1_500_i64).prop_map(LockStep::Wait),
            3 => Just(LockStep::Shown),
            3 => (0..4_usize).prop_map(LockStep::Unlock),
            1 => (0..4_usize).prop_map(LockStep::GiveUp),
            1 => (0..4_usize).prop_map(LockStep::Die),
        ]
    }

    const START: Instant = Instant::from_nanos(1_000_000_000);

    proptest! {
        #[test]
        fn covered_session_is_only_unlocked_by_its_confirmed_locker(steps in prop::collection::vec(step(), 0..60)) {
            let (mut machine, mut now) = (LockMachine::default(), START);
            let mut asked: Vec<LockId> = Vec::new();
            let mut confirmed: Option<LockId> = None;
            for step in steps {
                let before = machine;
                let named = |place: usize| asked.len().checked_sub(place + 1).map(|index| asked[index]);
                match step {
                    LockStep::Ask => match machine.request(now) {
                        Ok(id) => {
                            prop_assert!(before.holder().is_none() && !asked.contains(&id));
                            asked.push(id);
                        }
                        Err(AlreadyLocked) => prop_assert!(before.holder().is_some()),
                    },
                    LockStep::Drawn => prop_assert!(!machine.locker_has_drawn() || machine.covers()),
                    LockStep::Wait(milliseconds) => {
                        now += Span::from_millis(milliseconds);
                        machine.check_time_limit(now);
                        // The time limit always ends the wait.
                        prop_assert!(machine.wake().is_none_or(|until| until > now && until <= now + LONGEST_WAIT));
                    }
                    LockStep::Shown => {
                        let confirms = machine.confirm_shown();
                        // `locked` is never sent before all is covered, nor twice.
                        let is_due = before.covers() && confirms == before.holder() && confirms != confirmed;
                        prop_assert!(confirms.is_none() || is_due);
                        confirmed = confirms.or(confirmed);
                    }
                    LockStep::Unlock(place) => if let Some(id) = named(place) {
                        let may_unlock = before.is_confirmed(id);
                        prop_assert_eq!(machine.unlock(id).is_ok(), may_unlock);
                        prop_assert!(!may_unlock || confirmed == Some(id));
                    },
                    LockStep::GiveUp(place) => { named(place).map(|id| machine.give_up(id)); }
                    LockStep::Die(place) => { named(place).map(|id| machine.locker_died(id)); }
                }
                let is_unlocked = matches!(step, LockStep::Unlock(_)) && before.holder().is_some_and(|id| before.is_confirmed(id));
                prop_assert!(machine.covers() || !before.covers() || is_unlocked, "{before:?} {step:?} {machine:?}");
                // While windows are covered they get no input either.
                prop_assert!(machine.takes_input() || !machine.covers());
                prop_assert!(!machine.is_abandoned() || machine.holder().is_none());
            }
        }
    }

    #[test]
    fn a_locker_that_gives_up_before_it_is_granted_leaves_the_session_open_and_one_that_dies_does_not() {
        let mut machine = LockMachine::default();
        let id = machine.request(START).unwrap();
        assert!(machine.give_up(id) && !machine.takes_input());
        let id = machine.request(START).unwrap();
        assert!(machine.locker_died(id) && machine.covers());
        // The next locker starts with covered windows, and giving up leaves them covered.
        let next = machine.request(START).unwrap();
        assert!(machine.covers() && machine.give_up(next) && machine.covers());
        assert_eq!(machine.unlock(id), Err(NotLocked));
    }
}
