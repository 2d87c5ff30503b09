//! Watchdog for real-time threads: whether a thread has computed for too long, or rests again. Pure: time and processor
//! time are passed in.

use upbeat_timing::time::{Instant, Span};

/// Length of the windows of time that the watchdog measures.
const STRETCH: Span = Span::from_millis(500);

/// How long a thread may compute in a real-time class within one [`STRETCH`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ComputeAllowance {
    /// A thread that computes for longer leaves the class ...
    most: Span,
    /// ... and returns after a whole stretch in which it computed for no longer than this; `None`: never.
    rest: Option<Span>,
}

impl ComputeAllowance {
    /// A hundred times the cost of a flip at 240 Hz: a presenter that computes for longer is broken, and does not
    /// return.
    pub const PRESENTER: Self = ComputeAllowance { most: Span::from_millis(250), rest: None };
    /// Composing with the CPU may need half of a stretch for a large screen. More would leave too little to other
    /// threads on a machine with one processor. The thread returns well below that, so that its class does not flap.
    pub const MAIN: Self = ComputeAllowance { most: Span::from_millis(350), rest: Some(Span::from_millis(250)) };

    pub const fn comes_back(self) -> bool {
        self.rest.is_some()
    }
}

/// The measurements of one thread in the current stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watchdog {
    allowance: ComputeAllowance,
    since: Instant,
    computed: Span,
    /// The thread cannot have used up its allowance before this moment, because it cannot compute for longer than time
    /// passes.
    not_before: Instant,
}

impl Watchdog {
    /// `computed` is the thread's processor time at `now`.
    pub fn new(allowance: ComputeAllowance, now: Instant, computed: Span) -> Self {
        Watchdog { allowance, since: now, computed, not_before: now + allowance.most }
    }

    /// Whether the thread computed for too long. `computed` is only called when it can matter, a few times a second,
    /// because reading the processor time is slow.
    pub fn exceeds_allowance(&mut self, now: Instant, computed: impl FnOnce() -> Span) -> bool {
        if now <= self.not_before {
            return false;
        }
        let computed = computed();
        let (most, lately) = (self.allowance.most, computed - self.computed);
        if now - self.since >= STRETCH {
            *self = Watchdog::new(self.allowance, now, computed);
        } else {
            self.not_before = now + (most - lately);
        }
        lately > most
    }

    /// Whether a thread that lost its class may have it again: it has rested for a whole stretch.
    pub fn has_rested(&mut self, now: Instant, computed: impl FnOnce() -> Span) -> bool {
        let Some(rest) = self.allowance.rest.filter(|_| now - self.since >= STRETCH) else { return false };
        let (stretch, computed) = (now - self.since, computed());
        let lately = computed - self.computed;
        *self = Watchdog::new(self.allowance, now, computed);
        // Scaled, because a stretch is longer when the thread slept past its end.
        lately.as_nanos() * STRETCH.as_nanos() <= rest.as_nanos() * stretch.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_millis(millis)
    }

    #[test]
    fn a_thread_that_sleeps_most_of_the_time_is_left_alone() {
        let mut dog = Watchdog::new(ComputeAllowance::PRESENTER, at(0), Span::ZERO);
        let mut asked = 0;
        let barks = (1..10_000).any(|flip| {
            dog.exceeds_allowance(at(flip * 4), || {
                asked += 1;
                Span::from_micros(200) * flip
            })
        });
        assert!(!barks);
        assert!(asked <= 5 * 40, "asked {asked} times in 40 s for what it computed");
    }

    #[test]
    fn a_thread_that_never_sleeps_loses_its_class_within_a_stretch() {
        let mut dog = Watchdog::new(ComputeAllowance::PRESENTER, at(0), Span::ZERO);
        let first = (1..1_000).find(|millis| dog.exceeds_allowance(at(*millis), || Span::from_millis(*millis)));
        assert!(first.is_some_and(|millis| millis <= 500), "{first:?}");
    }

    #[test]
    fn thread_that_computes_after_a_rest_is_stopped_as_soon() {
        for begins in [1, 240, 260, 490, 700, 5_010] {
            let mut dog = Watchdog::new(ComputeAllowance::PRESENTER, at(0), Span::ZERO);
            let computed = |millis: i64| Span::from_millis((millis - begins).max(0));
            let first = (1..10_000).find(|millis| dog.exceeds_allowance(at(*millis), || computed(*millis)));
            assert!(first.is_some_and(|millis| millis - begins <= 510), "{begins}: {first:?}");
        }
    }

    #[test]
    fn a_main_thread_may_compose_for_half_of_the_time_and_not_for_nearly_all_of_it() {
        let mut dog = Watchdog::new(ComputeAllowance::MAIN, at(0), Span::ZERO);
        // At 60 Hz: 8 ms of each frame, then 14.
        let barks = |dog: &mut Watchdog, from: i64, each: i64| {
            (1..200).find(|frame| {
                dog.exceeds_allowance(at((from + frame) * 16), || Span::from_millis(from * 8 + frame * each))
            })
        };
        assert_eq!(barks(&mut dog, 0, 8), None);
        let mut dog = Watchdog::new(ComputeAllowance::MAIN, at(0), Span::ZERO);
        assert!(barks(&mut dog, 0, 14).is_some_and(|frame| frame * 16 <= 500));
    }

    #[test]
    fn main_thread_returns_after_a_rested_stretch_and_a_presenter_never() {
        let mut dog = Watchdog::new(ComputeAllowance::MAIN, at(0), Span::ZERO);
        assert!(!dog.has_rested(at(400), || Span::ZERO), "no stretch is over");
        assert!(!dog.has_rested(at(500), || Span::from_millis(400)), "it computed for most of it");
        assert!(!dog.has_rested(at(999), || Span::from_millis(400)));
        assert!(dog.has_rested(at(1_000), || Span::from_millis(600)));
        // A thread that slept past the end of many stretches.
        assert!(dog.has_rested(at(9_000), || Span::from_millis(1_200)));
        assert!(!Watchdog::new(ComputeAllowance::PRESENTER, at(0), Span::ZERO).has_rested(at(9_000), || Span::ZERO));
    }
}
