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
pub struct Refused;

/// A client may only unlock after it was sent `locked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLocked;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
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
pub struct Machine {
    phase: Phase,
    last: u64,
}

impl Machine {
    /// A client asks for the lock at `now`.
    ///
    /// # Errors
    /// Another client has the lock.
    pub fn ask(&mut self, now: Instant) -> Result<LockId, Refused> {
        let by = LockId(self.last + 1);
        self.phase = match self.phase {
            Phase::Open => Phase::Asked { by, until: now + LONGEST_WAIT },
            // The windows are covered already.
            Phase::Abandoned => Phase::Covered { by },
            Phase::Asked { .. } | Phase::Covered { .. } | Phase::Locked { .. } => return Err(Refused),
        };
        self.last = by.0;
        Ok(by)
    }

    /// The locker has drawn on every output. Returns whether this grants the lock.
    pub fn drawn(&mut self) -> bool {
        let Phase::Asked { by, .. } = self.phase else { return false };
        self.phase = Phase::Covered { by };
        true
    }

    /// Checks the time limit at `now`. Returns whether this grants the lock.
    pub fn passed(&mut self, now: Instant) -> bool {
        self.wake().is_some_and(|until| until <= now) && self.drawn()
    }

    /// Every output shows the lock, and no older frame is in flight. Returns the lock whose client is to be sent
    /// `locked`.
    pub fn shown(&mut self) -> Option<LockId> {
        let Phase::Covered { by } = self.phase else { return None };
        self.phase = Phase::Locked { by };
        Some(by)
    }

    /// The client of `id` unlocks the session.
    ///
    /// # Errors
    /// The client was not sent `locked`.
    pub fn unlock(&mut self, id: LockId) -> Result<(), NotLocked> {
        if self.phase != (Phase::Locked { by: id }) {
            return Err(NotLocked);
        }
        self.phase = Phase::Open;
        Ok(())
    }

    /// The client destroys the lock `id` without unlocking. Returns whether that changes anything.
    pub fn give_up(&mut self, id: LockId) -> bool {
        if matches!(self.phase, Phase::Asked { by, .. } if by == id) {
            self.phase = Phase::Open;
            return true;
        }
        self.died(id)
    }

    /// The client of `id` has disconnected. Returns whether that changes anything.
    pub fn died(&mut self, id: LockId) -> bool {
        let had = self.holder() == Some(id);
        if had {
            self.phase = Phase::Abandoned;
        }
        had
    }

    /// The lock in force.
    pub const fn holder(&self) -> Option<LockId> {
        match self.phase {
            Phase::Asked { by, .. } | Phase::Covered { by } | Phase::Locked { by } => Some(by),
            Phase::Open | Phase::Abandoned => None,
        }
    }

    /// Whether only the locker, or no client, gets input.
    pub const fn takes_input(&self) -> bool {
        !matches!(self.phase, Phase::Open)
    }

    /// Whether only the lock may be visible.
    pub const fn covers(&self) -> bool {
        !matches!(self.phase, Phase::Open | Phase::Asked { .. })
    }

    /// Whether the locker waits for `locked`.
    pub const fn is_to_be_told(&self) -> bool {
        matches!(self.phase, Phase::Covered { .. })
    }

    /// Whether `id` is in force and its client was sent `locked`.
    pub fn was_told(&self, id: LockId) -> bool {
        self.phase == Phase::Locked { by: id }
    }

    /// Whether its locker has ended without unlocking.
    pub const fn is_abandoned(&self) -> bool {
        matches!(self.phase, Phase::Abandoned)
    }

    /// The time at which [`passed`](Self::passed) is to be called next.
    pub const fn wake(&self) -> Option<Instant> {
        match self.phase {
            Phase::Asked { until, .. } => Some(until),
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
    enum Step {
        Ask,
        Drawn,
        Wait(i64),
        Shown,
        Unlock(usize),
        GiveUp(usize),
        Die(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => Just(Step::Ask),
            2 => Just(Step::Drawn),
            1 => (0..1_500_i64).prop_map(Step::Wait),
            3 => Just(Step::Shown),
            3 => (0..4_usize).prop_map(Step::Unlock),
            1 => (0..4_usize).prop_map(Step::GiveUp),
            1 => (0..4_usize).prop_map(Step::Die),
        ]
    }

    const START: Instant = Instant::from_nanos(1_000_000_000);

    proptest! {
        #[test]
        fn what_is_covered_is_opened_by_nobody_but_who_was_told(steps in prop::collection::vec(step(), 0..60)) {
            let (mut machine, mut now) = (Machine::default(), START);
            let mut asked: Vec<LockId> = Vec::new();
            let mut told: Option<LockId> = None;
            for step in steps {
                let before = machine;
                let named = |place: usize| asked.len().checked_sub(place + 1).map(|index| asked[index]);
                match step {
                    Step::Ask => match machine.ask(now) {
                        Ok(id) => {
                            prop_assert!(before.holder().is_none() && !asked.contains(&id));
                            asked.push(id);
                        }
                        Err(Refused) => prop_assert!(before.holder().is_some()),
                    },
                    Step::Drawn => prop_assert!(!machine.drawn() || machine.covers()),
                    Step::Wait(milliseconds) => {
                        now += Span::from_millis(milliseconds);
                        machine.passed(now);
                        // The time limit always ends the wait.
                        prop_assert!(machine.wake().is_none_or(|until| until > now && until <= now + LONGEST_WAIT));
                    }
                    Step::Shown => {
                        let tells = machine.shown();
                        // `locked` is never sent before all is covered, nor twice.
                        prop_assert!(tells.is_none() || (before.covers() && tells == before.holder() && tells != told));
                        told = tells.or(told);
                    }
                    Step::Unlock(place) => if let Some(id) = named(place) {
                        let is_his = before.was_told(id);
                        prop_assert_eq!(machine.unlock(id).is_ok(), is_his);
                        prop_assert!(!is_his || told == Some(id));
                    },
                    Step::GiveUp(place) => { named(place).map(|id| machine.give_up(id)); }
                    Step::Die(place) => { named(place).map(|id| machine.died(id)); }
                }
                let is_unlocked = matches!(step, Step::Unlock(_)) && before.holder().is_some_and(|id| before.was_told(id));
                prop_assert!(machine.covers() || !before.covers() || is_unlocked, "{before:?} {step:?} {machine:?}");
                // While windows are covered they get no input either.
                prop_assert!(machine.takes_input() || !machine.covers());
                prop_assert!(!machine.is_abandoned() || machine.holder().is_none());
            }
        }
    }

    #[test]
    fn a_locker_that_gives_up_before_it_is_granted_leaves_the_session_open_and_one_that_dies_does_not() {
        let mut machine = Machine::default();
        let id = machine.ask(START).unwrap();
        assert!(machine.give_up(id) && !machine.takes_input());
        let id = machine.ask(START).unwrap();
        assert!(machine.died(id) && machine.covers());
        // The next locker starts with covered windows, and giving up leaves them covered.
        let next = machine.ask(START).unwrap();
        assert!(machine.covers() && machine.give_up(next) && machine.covers());
        assert_eq!(machine.unlock(id), Err(NotLocked));
    }
}
