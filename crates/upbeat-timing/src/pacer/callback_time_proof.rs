//! Proves by its pixels that a client draws for the time that its callbacks carry, not for the moment at which they
//! come.
//!
//! Only such a client may be called back early: any other client would show its motion a refresh too late. Names and
//! versions prove nothing. So from time to time, while the user does not interact with the window, the time argument is
//! separated from the moment: two callbacks in a row, a refresh or more apart, carry the *same* time.
//!
//! ```text
//! moment     k        k+1      k+2
//! sent time  T(k)     T(k)     T(k+2)
//! picture    first    again    after
//!
//! draws for the time sent    first = again ≠ after     a trial passed
//! reads its own clock        first ≠ again             a trial failed
//! counts its frames          first ≠ again             a trial failed
//! nothing moves              first = again = after     says nothing
//! ```
//!
//! Each passed trial costs a repeated frame. A client that draws a new picture every second (or *n*th) refresh by its
//! own clock passes a trial by chance as often as it fails: it depends on the refresh at which the trial starts. So
//! trials start at irregular refreshes, and [`PASSES`] trials in a row must pass. A single failed trial may be an
//! accident, such as a chat message that arrives just then; [`FAILURES`] are not. A client that answers with a frame
//! that it drew before the callback (GL over Wayland does) fails, because its pictures are those of the previous
//! callback.

use crate::time::{Instant, Span};

/// Trials that must be passed in a row. At odds of one in two each, one client in 2048 passes by chance before its
/// second failure.
const PASSES: u8 = 12;
/// The number of failed trials that refute a client; the first may be an accident.
const FAILURES: u8 = 2;
/// The fewest callbacks between two trials: far enough apart that the repeated frames are not visible as a rhythm.
const SHORTEST_REST: u16 = 14;
/// The number of different rests: more than the refreshes after which a film's pictures and the display's refreshes
/// coincide again.
const RESTS: u16 = 13;
/// Callbacks after which a proven client is tried again: a minute at 60 Hz. A browser may show another page by then.
const REST_PROVEN: u16 = 3_600;
/// Callbacks further apart than this many refreshes are not in a row.
const IN_A_ROW: i64 = 4;

/// Whether a client draws for the time of its callbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyCallbackVerdict {
    /// Too few trials were passed yet.
    #[default]
    Unproven,
    /// Nothing has moved in the client's window, so a trial was impossible.
    Still,
    /// The pixels cannot be read: they are on a GPU, or too many to be read in time.
    Unreadable,
    /// The client draws for the time that its callbacks carry.
    Proven,
    /// The client's picture changed while the time did not.
    Refuted,
    /// The client is Xwayland, which stands for programs that do not know callbacks.
    Xwayland,
}

impl EarlyCallbackVerdict {
    /// A short text for reports.
    pub const fn words(self) -> &'static str {
        match self {
            EarlyCallbackVerdict::Unproven => "not proven yet that it draws for the time of its callbacks",
            EarlyCallbackVerdict::Still => "not proven: nothing moves in it",
            EarlyCallbackVerdict::Unreadable => "not proven: its pixels cannot be read",
            EarlyCallbackVerdict::Proven => "proven: it draws for the time of its callbacks",
            EarlyCallbackVerdict::Refuted => "refuted: its picture changed while the time of its callbacks did not",
            EarlyCallbackVerdict::Xwayland => "never: it is Xwayland",
        }
    }
}

/// The part of a trial that the last callback belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrialStep {
    /// Not in a trial, for this many callbacks more.
    Rest(u16),
    First,
    Again {
        first: u64,
    },
    After {
        again: u64,
    },
}

/// Runs the trials of one client.
#[derive(Clone, Debug)]
pub struct CallbackTimeProof {
    verdict: EarlyCallbackVerdict,
    step: TrialStep,
    /// The usual time of the last callback, and the time that it carried.
    last: Option<(Instant, Instant)>,
    /// The client's latest picture since the step `First`.
    picture: Option<u64>,
    passes: u8,
    failures: u8,
    /// State of the random generator for the lengths of rests.
    random_state: u16,
}

impl Default for CallbackTimeProof {
    fn default() -> Self {
        CallbackTimeProof {
            verdict: EarlyCallbackVerdict::Unproven,
            step: TrialStep::Rest(SHORTEST_REST),
            last: None,
            picture: None,
            passes: 0,
            failures: 0,
            random_state: 1,
        }
    }
}

impl CallbackTimeProof {
    /// The result of the trials so far.
    pub const fn verdict(&self) -> EarlyCallbackVerdict {
        self.verdict
    }

    /// Whether [`observe_picture`](Self::observe_picture) needs the next picture.
    pub const fn wants_fingerprint(&self) -> bool {
        !matches!(self.step, TrialStep::Rest(_))
    }

    /// The time that the next callback carries, where `time` is the usual time. `interval`: between two refreshes.
    /// `disturbed`: the user interacts with the window, so that its picture may change for other reasons.
    pub fn callback_time(&mut self, time: Instant, interval: Span, disturbed: bool) -> Instant {
        let follows = self.last.is_some_and(|(last, _)| time > last && time - last <= interval * IN_A_ROW);
        let before = self.last.map_or(time, |(_, sent)| sent);
        if disturbed || !follows || self.verdict == EarlyCallbackVerdict::Refuted {
            self.rest();
        } else {
            self.advance_trial();
        }
        let sent = if matches!(self.step, TrialStep::Again { .. }) { before } else { time };
        self.last = Some((time, sent));
        sent
    }

    /// The client committed this picture; `None` if it cannot be read.
    pub fn observe_picture(&mut self, picture: Option<u64>) {
        if !self.wants_fingerprint() {
            return;
        }
        self.picture = picture;
        if picture.is_none() {
            self.passes = 0;
            self.verdict = EarlyCallbackVerdict::Unreadable;
            self.rest();
        }
    }

    fn advance_trial(&mut self) {
        // An answer without new content leaves the picture unchanged.
        self.step = match (self.step, self.picture) {
            (TrialStep::Rest(0), _) => {
                self.picture = None;
                TrialStep::First
            }
            (TrialStep::Rest(left), _) => TrialStep::Rest(left - 1),
            (TrialStep::First, Some(first)) => TrialStep::Again { first },
            (TrialStep::Again { first }, Some(again)) if first == again => TrialStep::After { again },
            (step, picture) => {
                self.conclude(step, picture);
                return self.rest();
            }
        };
    }

    /// Ends a trial with its result.
    fn conclude(&mut self, step: TrialStep, picture: Option<u64>) {
        match (step, picture) {
            (TrialStep::Again { .. }, Some(_)) => self.fail(),
            (TrialStep::After { again }, Some(after)) if again != after => self.pass(),
            (TrialStep::After { .. }, Some(_)) if self.verdict != EarlyCallbackVerdict::Proven => {
                self.verdict = EarlyCallbackVerdict::Still
            }
            _ => {}
        }
    }

    fn pass(&mut self) {
        self.passes = (self.passes + 1).min(PASSES);
        self.verdict = EarlyCallbackVerdict::Unproven;
        if self.passes == PASSES {
            self.verdict = EarlyCallbackVerdict::Proven;
            self.failures = 0;
        }
    }

    fn fail(&mut self) {
        self.passes = 0;
        self.failures += 1;
        self.verdict =
            if self.failures < FAILURES { EarlyCallbackVerdict::Unproven } else { EarlyCallbackVerdict::Refuted };
    }

    fn rest(&mut self) {
        if self.wants_fingerprint() {
            let irregular = SHORTEST_REST + self.next_random() % RESTS;
            self.step = TrialStep::Rest(if self.verdict == EarlyCallbackVerdict::Proven {
                REST_PROVEN + irregular
            } else {
                irregular
            });
        }
    }

    /// The next of 65535 pseudo-random numbers, so that no client follows their order (a xorshift with the triple
    /// 7, 9, 8).
    const fn next_random(&mut self) -> u16 {
        self.random_state ^= self.random_state << 7;
        self.random_state ^= self.random_state >> 9;
        self.random_state ^= self.random_state << 8;
        self.random_state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_micros(16_667);

    /// A client that draws a picture from the number of the refresh, the time sent and the number of the frame.
    struct TriedClient<F> {
        proof: CallbackTimeProof,
        refresh: u64,
        frame: u64,
        repeats: u32,
        draws: F,
    }

    impl<F: Fn(u64, Instant, u64) -> Option<u64>> TriedClient<F> {
        fn new(draws: F) -> Self {
            TriedClient { proof: CallbackTimeProof::default(), refresh: 1, frame: 0, repeats: 0, draws }
        }

        /// Draws this many frames, each `every` refreshes.
        fn play(&mut self, frames: u32, every: u64, disturbed: bool) -> EarlyCallbackVerdict {
            for _ in 0..frames {
                let time = Instant::ZERO + INTERVAL * self.refresh as i64;
                let told = self.proof.callback_time(time, INTERVAL, disturbed);
                assert!(told <= time && time - told <= INTERVAL * IN_A_ROW);
                self.repeats += u32::from(told != time);
                if self.proof.wants_fingerprint() {
                    self.proof.observe_picture((self.draws)(self.refresh, told, self.frame));
                }
                self.frame += 1;
                self.refresh += every;
            }
            self.proof.verdict()
        }
    }

    fn by_time(_: u64, told: Instant, _: u64) -> Option<u64> {
        Some(told.as_nanos())
    }

    #[test]
    fn client_that_draws_for_callback_time_is_proven_at_one_repeated_frame_each_trial() {
        let mut client = TriedClient::new(by_time);
        assert_eq!(client.play(360, 1, false), EarlyCallbackVerdict::Proven);
        assert_eq!(client.repeats, u32::from(PASSES));
        assert_eq!(client.play(3_000, 1, false), EarlyCallbackVerdict::Proven);
        assert_eq!(client.repeats, u32::from(PASSES), "and then left alone for a minute");
        client.play(800, 1, false);
        assert_eq!(client.repeats, u32::from(PASSES) + 1);
    }

    #[test]
    fn client_that_draws_every_second_refresh_for_callback_time_is_proven() {
        assert_eq!(TriedClient::new(by_time).play(360, 2, false), EarlyCallbackVerdict::Proven);
    }

    #[test]
    fn client_that_counts_frames_or_reads_a_clock_is_refuted_for_good() {
        let mut counts = TriedClient::new(|_, _, frame| Some(frame));
        assert_eq!(counts.play(100, 1, false), EarlyCallbackVerdict::Refuted);
        assert_eq!(counts.play(1_000, 1, false), EarlyCallbackVerdict::Refuted);
        assert_eq!(counts.repeats, u32::from(FAILURES));
        assert_eq!(TriedClient::new(|refresh, _, _| Some(refresh)).play(100, 1, false), EarlyCallbackVerdict::Refuted);
    }

    #[test]
    fn a_film_at_any_rate_by_a_clock_of_its_own_is_never_proven() {
        for (pictures, refreshes) in [(1, 2), (2, 5), (1, 3), (5, 12), (1, 4), (5, 6), (25, 72), (1, 10), (2, 3)] {
            for phase in 0..refreshes {
                let mut film = TriedClient::new(move |refresh, _, _| Some((refresh + phase) * pictures / refreshes));
                assert_ne!(
                    film.play(10_000, 1, false),
                    EarlyCallbackVerdict::Proven,
                    "{pictures}/{refreshes} from {phase}"
                );
            }
        }
    }

    #[test]
    fn a_window_in_which_nothing_moves_proves_nothing() {
        let mut still = TriedClient::new(|_, _, _| Some(7));
        assert_eq!(still.play(1_000, 1, false), EarlyCallbackVerdict::Still);
    }

    #[test]
    fn unreadable_picture_is_not_proven() {
        let mut client = TriedClient::new(|_, _, _| None);
        assert_eq!(client.play(1_000, 1, false), EarlyCallbackVerdict::Unreadable);
        assert_eq!(client.repeats, 0, "and no callback repeats a time");
    }

    #[test]
    fn no_trial_during_interaction_or_after_a_pause() {
        let mut client = TriedClient::new(by_time);
        assert_eq!(client.play(1_000, 1, true), EarlyCallbackVerdict::Unproven);
        assert_eq!(client.repeats, 0);
        assert_eq!(client.play(1_000, 6, false), EarlyCallbackVerdict::Unproven, "too seldom to compare");
        assert_eq!(client.repeats, 0);
    }

    #[test]
    fn one_accident_is_pardoned_and_a_proof_can_be_lost() {
        let accident = std::cell::Cell::new(false);
        let mut client =
            TriedClient::new(|_, told: Instant, frame| Some(if accident.get() { frame } else { told.as_nanos() }));
        accident.set(true);
        client.play(20, 1, false);
        assert_eq!(client.repeats, 1);
        accident.set(false);
        assert_eq!(client.play(360, 1, false), EarlyCallbackVerdict::Proven);
        accident.set(true);
        while client.proof.verdict() == EarlyCallbackVerdict::Proven {
            client.play(1, 1, false);
        }
        assert_eq!(client.proof.verdict(), EarlyCallbackVerdict::Unproven, "another program by now");
        assert_eq!(client.play(100, 1, false), EarlyCallbackVerdict::Refuted);
    }
}
