//! A safeguard so that pacing is never worse than vsync: it detects clients that make fewer frames than they would with
//! callbacks at the refresh.
//!
//! Everything learned about a client may be wrong: its costs, its class, which callback a commit answers. Only its
//! number of frames is certain. A client that misses many refreshes is called back as early as possible for a moment.
//! If it then makes more frames, it is paced that way for a while.
//!
//! ```text
//!   watch ── fewer than 9 of 10 refreshes ──► trial ── more frames ──► at the refresh ── 30 s, 60 s … ──► watch
//!     ▲                                         └──── not more ──► rest, 10 s … ◄── not more ──┘              │
//!     └───────────────────────────────────────────────────────────────┴───────────────────────────────────────┘
//! ```
//!
//! A trial begins as soon as a tenth of a second's refreshes was missed: after 0.2 s if every other refresh is missed. A
//! client with varying costs seldom misses as many by chance, and its frames in the seconds before show that it was
//! chance.
//!
//! A film of 24 pictures a second, or a client whose frames take two refreshes, is tried and is not faster at the
//! refresh. Each trial costs the latency of half a second, so trials become rare.

use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// The time for which frames are counted before a new count begins.
const WATCHED: Span = Span::from_seconds(1);
/// The counts of about this time belong to a client's usual share.
const USUAL: Span = Span::from_seconds(8);
/// The length of a trial with callbacks at the refresh.
const TRIED: Span = Span::from_millis(500);
/// The time after which the result of a trial is checked again: half a second says little about a client with varying
/// costs.
const CONFIRMED: Span = Span::from_seconds(3);
/// The first frames of a trial do not count, because they were begun before it.
const CHANGE_OVER: u32 = 3;
/// Frames are few if they leave more than this part of the refreshes without a frame (1/10).
const MISSED_PARTS: u32 = 10;
/// The gain that makes a trial successful, as a part of all refreshes (1/20): half of the fewest missed refreshes.
const GAIN_PARTS: u32 = 20;
/// A gap of more than this many refreshes is a pause: the client had nothing to draw.
const PAUSE: u32 = 4;
/// How long a client stays at the refresh after its first successful trial.
const HELD: Span = Span::from_seconds(30);
/// How long no further trial is made after the first failed trial.
const RESTED: Span = Span::from_seconds(10);
/// Both times double with each repetition, up to this.
const LONGEST: Span = Span::from_seconds(600);

/// The number of frames within a number of refreshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FrameShare {
    frames: u32,
    refreshes: u32,
}

impl FrameShare {
    const fn missed(self) -> u32 {
        self.refreshes - self.frames
    }

    const fn are_few(self) -> bool {
        self.missed() * MISSED_PARTS > self.refreshes
    }

    const fn and(self, other: FrameShare) -> FrameShare {
        FrameShare { frames: self.frames + other.frames, refreshes: self.refreshes + other.refreshes }
    }

    const fn halved(self) -> FrameShare {
        FrameShare { frames: self.frames / 2, refreshes: self.refreshes / 2 }
    }

    /// Whether the share of frames exceeds `before` by the gain of a successful trial.
    const fn is_more_than(self, before: FrameShare) -> bool {
        let (now, then) = (self.frames * before.refreshes * GAIN_PARTS, before.frames * self.refreshes * GAIN_PARTS);
        now >= then + self.refreshes * before.refreshes
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GuardPhase {
    #[default]
    Watch,
    /// `before`: the count before the trial; `change_over`: frames that do not count yet.
    Trial {
        before: FrameShare,
        change_over: u32,
    },
    /// `is_confirmed`: its frames were counted once more since the trial.
    AtRefresh {
        before: FrameShare,
        until: Instant,
        is_confirmed: bool,
    },
    Rest {
        until: Instant,
    },
}

/// Why a client is called back at the refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtRefreshReason {
    /// A trial, to see whether it then makes more frames.
    Trial,
    /// A trial has shown that it makes more frames.
    Faster,
}

/// Watches the number of frames that a client makes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameCountGuard {
    phase: GuardPhase,
    count: FrameShare,
    /// The counts of the seconds before this one, while the client is watched.
    usual: FrameShare,
    /// The refresh that showed the last answer.
    shown: Option<RefreshIndex>,
    /// The number of successful (or failed) trials in a row.
    faster: u32,
    not_faster: u32,
}

impl FrameCountGuard {
    /// Why the client is called back at the refresh, if it is.
    pub const fn at_refresh(&self) -> Option<AtRefreshReason> {
        match self.phase {
            GuardPhase::Trial { .. } => Some(AtRefreshReason::Trial),
            GuardPhase::AtRefresh { .. } => Some(AtRefreshReason::Faster),
            GuardPhase::Watch | GuardPhase::Rest { .. } => None,
        }
    }

    /// The refreshes were renumbered.
    pub const fn forget_refresh(&mut self) {
        self.shown = None;
    }

    /// The client answered a callback at `now`, and the refresh `shown` shows the answer; refreshes are `interval`
    /// apart. `touched`: the user interacts with it and expects a quick response, so no trial is made.
    pub fn answered(&mut self, now: Instant, shown: RefreshIndex, interval: Span, touched: bool) {
        let Some(before) = self.shown.replace(shown) else { return };
        let refreshes = u32::try_from(shown.0.saturating_sub(before.0)).unwrap_or(u32::MAX);
        if let GuardPhase::Rest { until } | GuardPhase::AtRefresh { until, .. } = self.phase
            && now >= until
        {
            return self.watch(GuardPhase::Watch);
        }
        if refreshes > PAUSE || touched {
            return self.start_over(now, touched);
        }
        match &mut self.phase {
            GuardPhase::Rest { .. } => return,
            GuardPhase::Trial { change_over, .. } if *change_over > 0 => {
                *change_over -= 1;
                return;
            }
            GuardPhase::Trial { .. } | GuardPhase::AtRefresh { .. } | GuardPhase::Watch => {}
        }
        // Of two frames for one refresh, one is shown.
        self.count = self.count.and(FrameShare { frames: u32::from(refreshes > 0), refreshes });
        self.evaluate(now, interval);
    }

    fn evaluate(&mut self, now: Instant, interval: Span) {
        let seen = interval * i64::from(self.count.refreshes);
        match self.phase {
            GuardPhase::Watch => {
                let before = self.usual.and(self.count);
                if interval * i64::from(self.count.missed() * MISSED_PARTS) > WATCHED && before.are_few() {
                    self.watch(GuardPhase::Trial { before, change_over: CHANGE_OVER });
                } else if seen >= WATCHED {
                    let is_full = interval * i64::from(before.refreshes) > USUAL;
                    self.watch(GuardPhase::Watch);
                    self.usual = if is_full { before.halved() } else { before };
                }
            }
            GuardPhase::Trial { before, .. } if seen >= TRIED => {
                if !self.count.is_more_than(before) {
                    return self.end_without_gain(now);
                }
                let until = now + doubled(HELD, self.faster + 1);
                self.watch(GuardPhase::AtRefresh { before, until, is_confirmed: false });
            }
            GuardPhase::AtRefresh { before, until, is_confirmed } if seen >= CONFIRMED => {
                if !self.count.is_more_than(before) {
                    return self.end_without_gain(now);
                }
                if !is_confirmed {
                    (self.faster, self.not_faster) = (self.faster + 1, 0);
                }
                self.watch(GuardPhase::AtRefresh { before, until, is_confirmed: true });
            }
            _ => {}
        }
    }

    /// The client is not faster at the refresh.
    fn end_without_gain(&mut self, now: Instant) {
        (self.faster, self.not_faster) = (0, self.not_faster + 1);
        self.watch(GuardPhase::Rest { until: now + doubled(RESTED, self.not_faster) });
    }

    fn watch(&mut self, phase: GuardPhase) {
        (self.phase, self.count, self.usual) = (phase, FrameShare::default(), FrameShare::default());
    }

    /// Discards the present count, because the client paused or is `touched`. A client that pauses in its trials is not
    /// tried again and again.
    fn start_over(&mut self, now: Instant, touched: bool) {
        self.count = FrameShare::default();
        match self.phase {
            GuardPhase::Trial { .. } if touched => self.phase = GuardPhase::Watch,
            GuardPhase::Trial { .. } => self.end_without_gain(now),
            _ => {}
        }
    }
}

/// `first`, doubled with each repetition after the first.
fn doubled(first: Span, times: u32) -> Span {
    (first * (1_i64 << times.saturating_sub(1).min(10))).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_micros(16_667);

    struct GuardedClient {
        guard: FrameCountGuard,
        now: Instant,
        shown: RefreshIndex,
        tries: u32,
    }

    impl GuardedClient {
        fn new() -> Self {
            let now = Instant::ZERO + Span::from_seconds(1);
            GuardedClient { guard: FrameCountGuard::default(), now, shown: RefreshIndex(60), tries: 0 }
        }

        /// Answers a callback so many refreshes after the answer before.
        fn answer(&mut self, refreshes: i64, touched: bool) {
            self.now += INTERVAL * refreshes;
            self.shown = RefreshIndex(self.shown.0 + refreshes as u64);
            self.guard.answered(self.now, self.shown, INTERVAL, touched);
        }

        /// Answers callbacks for `span`. The closures give the distance of each frame in refreshes:
        /// `otherwise`, and `at_refresh`.
        fn play(&mut self, span: Span, otherwise: impl Fn(u32) -> i64, at_refresh: impl Fn(u32) -> i64) {
            let end = self.now + span;
            let mut number = 0;
            while self.now < end {
                let was = self.guard.at_refresh();
                let refreshes = if was.is_some() { at_refresh(number) } else { otherwise(number) };
                number += 1;
                self.answer(refreshes, false);
                self.tries += u32::from(was.is_none() && self.guard.at_refresh().is_some());
            }
        }
    }

    #[test]
    fn client_with_half_of_its_frames_is_kept_at_the_refresh_within_two_seconds() {
        let mut client = GuardedClient::new();
        client.play(Span::from_millis(1_700), |_| 2, |_| 1);
        assert_eq!(client.guard.at_refresh(), Some(AtRefreshReason::Faster));
        client.play(Span::from_seconds(28), |_| 2, |_| 1);
        assert_eq!(client.guard.at_refresh(), Some(AtRefreshReason::Faster));
        client.play(Span::from_seconds(600), |_| 2, |_| 1);
        assert!(client.tries <= 6, "{} trials in ten minutes", client.tries);
    }

    #[test]
    fn client_with_nearly_all_frames_is_never_tried() {
        for misses in [0, 20, 12] {
            let mut client = GuardedClient::new();
            let late = move |number: u32| if misses > 0 && number.is_multiple_of(misses) { 2 } else { 1 };
            client.play(Span::from_seconds(60), late, late);
            assert_eq!(client.tries, 0, "one late in {misses}");
        }
    }

    #[test]
    fn a_film_is_tried_seldom_and_left_as_it_was() {
        for picture in [2, 3] {
            let mut client = GuardedClient::new();
            client.play(Span::from_seconds(600), |_| picture, |_| picture);
            assert!(client.tries <= 7, "{} trials in ten minutes", client.tries);
            assert_eq!(client.guard.at_refresh(), None);
        }
    }

    #[test]
    fn client_that_was_faster_by_chance_leaves_the_refresh() {
        let mut client = GuardedClient::new();
        client.play(Span::from_millis(1_100), |_| 2, |_| 1);
        client.play(Span::from_millis(600), |_| 1, |_| 1);
        assert_eq!(client.guard.at_refresh(), Some(AtRefreshReason::Faster));
        client.play(Span::from_seconds(7), |_| 1, |_| 2);
        assert_eq!(client.guard.at_refresh(), None);
    }

    #[test]
    fn faster_client_leaves_the_refresh_even_during_interaction() {
        let mut client = GuardedClient::new();
        client.play(Span::from_millis(1_700), |_| 2, |_| 1);
        assert_eq!(client.guard.at_refresh(), Some(AtRefreshReason::Faster));
        (0..2_000).for_each(|_| client.answer(1, true));
        assert_eq!(client.guard.at_refresh(), None);
    }

    #[test]
    fn interactive_or_paused_client_is_not_tried() {
        let mut client = GuardedClient::new();
        for (refreshes, touched) in [(2, true), (5, false)] {
            for _ in 0..1_000 {
                client.answer(refreshes, touched);
                assert_eq!(client.guard.at_refresh(), None);
            }
        }
    }

    #[test]
    fn client_that_misses_one_refresh_in_eight_is_tried_within_a_second_and_kept_if_that_helps() {
        let mut client = GuardedClient::new();
        let late = |number: u32| if number.is_multiple_of(7) { 2 } else { 1 };
        client.play(Span::from_millis(1_000), late, |_| 1);
        assert_eq!(client.guard.at_refresh(), Some(AtRefreshReason::Trial));
        client.play(Span::from_millis(600), late, |_| 1);
        assert_eq!(client.guard.at_refresh(), Some(AtRefreshReason::Faster));
    }

    #[test]
    fn client_that_seldom_misses_is_not_tried_for_a_cluster_of_misses() {
        let mut client = GuardedClient::new();
        client.play(Span::from_seconds(8), |_| 1, |_| 1);
        for _ in 0..100 {
            client.play(Span::from_millis(300), |number| if number < 8 { 2 } else { 1 }, |_| 1);
            client.play(Span::from_seconds(4), |_| 1, |_| 1);
        }
        assert_eq!(client.tries, 0);
    }

    #[test]
    fn film_whose_pictures_are_pauses_now_and_then_is_tried_seldom() {
        let mut client = GuardedClient::new();
        // 24 pictures a second at 100 Hz.
        let picture = |number: u32| if number.is_multiple_of(6) { 5 } else { 4 };
        client.play(Span::from_seconds(600), picture, picture);
        assert!(client.tries <= 7, "{} trials in ten minutes", client.tries);
    }

    #[test]
    fn second_frame_for_a_refresh_does_not_count() {
        let mut client = GuardedClient::new();
        client.play(Span::from_seconds(1), |number| if number.is_multiple_of(2) { 0 } else { 2 }, |_| 1);
        assert_eq!(client.tries, 1, "half of the refreshes show no frame of their own");
    }
}
