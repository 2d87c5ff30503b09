//! Idle timeouts: when each idle notification is due. Pure, the time is passed in.
//!
//! Input writes one time stamp and moves no timer. When the one timer fires, the notifications that are due are sent,
//! and the timer is set to the first of the remaining ones:
//!
//! ```text
//!   input     x   x x                               x
//!   timer     |--------------->| moved |----------->| ...
//!             set              fires    (last input + timeout)
//!   sent                                 idled ─────┘ resumed
//! ```

use upbeat_timing::time::{Instant, Span};

/// The shortest timeout: a user who moves a mouse is not idle between two of its events.
const SHORTEST: Span = Span::from_millis(20);

/// A notification and its timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IdleTimeout<T> {
    id: T,
    timeout: Span,
    /// Whether an idle inhibitor keeps it from being idle.
    heeds_inhibitors: bool,
    /// The timeout runs from here, or from the last input if that is later.
    since: Instant,
    is_idle: bool,
}

/// An event of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleEvent {
    /// There was no input for the whole timeout.
    Idled,
    /// There was input again.
    Resumed,
}

/// All notifications, and the one timer for them.
#[derive(Clone, Debug)]
pub struct IdleTimeouts<T> {
    waiters: Vec<IdleTimeout<T>>,
    last_input: Instant,
    is_inhibited: bool,
    any_idle: bool,
    /// When to call [`update`](IdleTimeouts::update) again; never later than the first notification is due.
    wake: Option<Instant>,
}

impl<T> Default for IdleTimeouts<T> {
    fn default() -> Self {
        IdleTimeouts {
            waiters: Vec::new(),
            last_input: Instant::ZERO,
            is_inhibited: false,
            any_idle: false,
            wake: None,
        }
    }
}

impl<T: Clone + PartialEq> IdleTimeouts<T> {
    /// Adds a notification; its timeout runs from `now`.
    pub fn add(&mut self, who: T, timeout: Span, heeds_inhibitors: bool, now: Instant) {
        let timeout = timeout.max(SHORTEST);
        self.waiters.push(IdleTimeout { id: who, timeout, heeds_inhibitors, since: now, is_idle: false });
        let due = now + timeout;
        self.wake = Some(self.wake.map_or(due, |wake| wake.min(due)));
    }

    pub fn remove(&mut self, who: &T) {
        self.waiters.retain(|waiter| waiter.id != *who);
        if self.waiters.is_empty() {
            (self.wake, self.any_idle) = (None, false);
        }
    }

    /// Whether any notification heeds idle inhibitors.
    pub fn heeds_inhibitors(&self) -> bool {
        self.waiters.iter().any(|waiter| waiter.heeds_inhibitors)
    }

    /// Whether any notification is idle: `idled` was sent, and `resumed` was not sent yet.
    pub const fn is_any_idle(&self) -> bool {
        self.any_idle
    }

    /// When [`IdleTimeouts::update`] must be called if there is no input.
    pub const fn wake(&self) -> Option<Instant> {
        self.wake
    }

    /// Calls `tell` for each event that follows from the last input and from whether a surface inhibits idling.
    pub fn update(
        &mut self,
        last_input: Instant,
        is_inhibited: bool,
        now: Instant,
        mut tell: impl FnMut(&T, IdleEvent),
    ) {
        let is_new = std::mem::replace(&mut self.last_input, last_input) < last_input;
        let changed = std::mem::replace(&mut self.is_inhibited, is_inhibited) != is_inhibited;
        if changed {
            self.inhibited_or_not(now, &mut tell);
        }
        if is_new && self.any_idle {
            self.resume(|_| true, &mut tell);
        }
        if self.wake.is_some_and(|wake| wake <= now) {
            self.expire(now, &mut tell);
        }
    }

    /// Notifications that heed inhibitors resume when the first appears, and start their timeout when the last is gone.
    fn inhibited_or_not(&mut self, now: Instant, tell: &mut impl FnMut(&T, IdleEvent)) {
        if self.is_inhibited {
            self.resume(|waiter| waiter.heeds_inhibitors, tell);
            return;
        }
        self.waiters.iter_mut().filter(|waiter| waiter.heeds_inhibitors).for_each(|waiter| waiter.since = now);
        self.reschedule();
    }

    fn resume(&mut self, which: impl Fn(&IdleTimeout<T>) -> bool, tell: &mut impl FnMut(&T, IdleEvent)) {
        for waiter in self.waiters.iter_mut().filter(|waiter| waiter.is_idle && which(waiter)) {
            waiter.is_idle = false;
            tell(&waiter.id, IdleEvent::Resumed);
        }
        self.reschedule();
    }

    fn expire(&mut self, now: Instant, tell: &mut impl FnMut(&T, IdleEvent)) {
        let (last_input, is_inhibited) = (self.last_input, self.is_inhibited);
        for waiter in self.waiters.iter_mut().filter(|waiter| !waiter.is_idle) {
            if waiter.due(last_input, is_inhibited).is_some_and(|due| due <= now) {
                waiter.is_idle = true;
                tell(&waiter.id, IdleEvent::Idled);
            }
        }
        self.reschedule();
    }

    fn reschedule(&mut self) {
        let busy = self.waiters.iter().filter(|waiter| !waiter.is_idle);
        self.wake = busy.filter_map(|waiter| waiter.due(self.last_input, self.is_inhibited)).min();
        self.any_idle = self.waiters.iter().any(|waiter| waiter.is_idle);
    }
}

impl<T> IdleTimeout<T> {
    /// When it becomes idle without input; `None` while an inhibitor that it heeds is present.
    fn due(&self, last_input: Instant, is_inhibited: bool) -> Option<Instant> {
        (!is_inhibited || !self.heeds_inhibitors).then(|| self.since.max(last_input) + self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: i64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Calls `update` whenever it is due, up to `until`. Returns the events and their times.
    fn run(
        waiting: &mut IdleTimeouts<u8>,
        last_input: Instant,
        inhibited: bool,
        until: Instant,
    ) -> Vec<(i64, u8, IdleEvent)> {
        let mut sent = Vec::new();
        while let Some(now) = waiting.wake().filter(|wake| *wake <= until) {
            waiting
                .update(last_input, inhibited, now, |who, what| sent.push((now.as_micros() as i64 / 1000, *who, what)));
        }
        sent
    }

    #[test]
    fn the_timer_fires_once_for_any_amount_of_input_and_is_moved_then() {
        let mut waiting = IdleTimeouts::default();
        waiting.add(1, Span::from_seconds(10), true, at(0));
        for millis in 0..9_000 {
            waiting.update(at(millis), false, at(millis), |_, _| panic!("sent too early"));
            assert_eq!(waiting.wake(), Some(at(10_000)), "input moves no timer");
        }
        assert_eq!(run(&mut waiting, at(8_999), false, at(18_998)), []);
        assert_eq!(waiting.wake(), Some(at(18_999)));
        assert_eq!(run(&mut waiting, at(8_999), false, at(60_000)), [(18_999, 1, IdleEvent::Idled)]);
        assert_eq!(waiting.wake(), None, "nothing is waited for but input");
    }

    #[test]
    fn inhibitors_hold_back_only_notifications_that_heed_them() {
        let mut waiting = IdleTimeouts::default();
        waiting.add(1, Span::from_seconds(1), true, at(0));
        waiting.add(2, Span::from_seconds(1), false, at(0));
        assert_eq!(
            run(&mut waiting, at(0), false, at(2_000)),
            [(1_000, 1, IdleEvent::Idled), (1_000, 2, IdleEvent::Idled)]
        );
        let mut sent = Vec::new();
        waiting.update(at(0), true, at(3_000), |who, what| sent.push((*who, what)));
        assert_eq!(sent, [(1, IdleEvent::Resumed)]);
        assert_eq!(waiting.wake(), None);
        waiting.update(at(0), false, at(9_000), |_, _| panic!("sent at once"));
        assert_eq!(run(&mut waiting, at(0), false, at(60_000)), [(10_000, 1, IdleEvent::Idled)]);
    }

    proptest! {
        /// Each notification alternates between idle and resumed. It becomes idle exactly when its timeout has passed
        /// since the last input, neither before nor after.
        #[test]
        fn notification_is_idle_exactly_after_its_timeout(
            timeouts in proptest::collection::vec((0i64..500, any::<bool>()), 1..5),
            steps in proptest::collection::vec((1i64..300, any::<bool>(), any::<bool>()), 0..40)
        ) {
            let mut waiting = IdleTimeouts::default();
            for (who, (timeout, heeds)) in timeouts.iter().enumerate() {
                waiting.add(who, Span::from_millis(*timeout), *heeds, at(0));
            }
            let mut idle = vec![false; timeouts.len()];
            let (mut now, mut input, mut inhibited, mut free_since) = (0, 0, false, 0);
            for (pass, has_input, inhibits) in steps {
                let until = now + pass;
                while let Some(wake) = waiting.wake().filter(|wake| *wake <= at(until)) {
                    waiting.update(at(input), inhibited, wake, |who, event| idle[*who] = event == IdleEvent::Idled);
                }
                now = until;
                if has_input {
                    input = now;
                }
                if inhibited && !inhibits {
                    free_since = now;
                }
                inhibited = inhibits;
                waiting.update(at(input), inhibited, at(now), |who, event| {
                    assert_ne!(idle[*who], event == IdleEvent::Idled, "sent twice");
                    idle[*who] = event == IdleEvent::Idled;
                });
                for (who, (timeout, heeds)) in timeouts.iter().enumerate() {
                    let since = if *heeds { input.max(free_since) } else { input };
                    let expected = now - since >= (*timeout).max(20) && !(*heeds && inhibited);
                    prop_assert_eq!(idle[who], expected, "{} at {}", who, now);
                }
            }
        }
    }
}
