//! A safeguard so that pacing is never worse than vsync: it detects clients that make fewer frames than they would with
//! callbacks at the refresh.
//!
//! Everything learned about a client may be wrong: its costs, its class, which callback a commit answers. Only its
//! number of frames is certain. A client that misses many refreshes is called back as early as possible for a moment.
//! If it then makes more frames, it is paced that way for a while.
//!
//! ```text
//!   watch ── 3 of 4 refreshes or fewer ────► trial ── more frames ──► at the refresh ── 30 s, 60 s … ──► watch
//!     ▲                                        └──── not more ──► rest, 10 s … ◄── not more ──┘              │
//!     └──────────────────────────────────────────────────────────────┴───────────────────────────────────────┘
//! ```
//!
//! A film of 24 pictures a second, or a client whose frames take two refreshes, is tried and is not faster at the
//! refresh. Each trial costs the latency of half a second, so trials become rare.

use crate::time::{Instant, Span};

/// The time for which frames are counted before they are judged to be few.
const WATCHED: Span = Span::from_seconds(1);
/// The length of a trial with callbacks at the refresh.
const TRIED: Span = Span::from_millis(500);
/// The time after which the result of a trial is checked again: half a second says little about a client with varying
/// costs.
const CONFIRMED: Span = Span::from_seconds(3);
/// The first frames of a trial do not count, because they were begun before it.
const CHANGE_OVER: u32 = 3;
/// Frames are few if they fill at most this share of the refreshes. A client with varying costs sometimes misses one in
/// ten by chance.
const ENOUGH: (u32, u32) = (3, 4);
/// The gain that makes a trial successful, in tenths of all refreshes.
const GAIN_TENTHS: u32 = 1;
/// A gap of more than this many refreshes is a pause: the client had nothing to draw.
const PAUSE: i64 = 4;
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
    const fn are_few(self) -> bool {
        self.frames * ENOUGH.1 <= self.refreshes * ENOUGH.0
    }

    /// Whether the share of frames exceeds `before` by the gain of a successful trial.
    const fn is_more_than(self, before: FrameShare) -> bool {
        let (now, then) = (self.frames * before.refreshes * 10, before.frames * self.refreshes * 10);
        now >= then + GAIN_TENTHS * self.refreshes * before.refreshes
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
    AtRefresh {
        before: FrameShare,
        until: Instant,
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
    answered: Option<Instant>,
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

    /// The client answered a callback at `now`; refreshes are `interval` apart. `touched`: the user interacts with
    /// it and expects a quick response, so no trial is made.
    pub fn answered(&mut self, now: Instant, interval: Span, touched: bool) {
        let Some(before) = self.answered.replace(now) else { return };
        let gap = now - before;
        if let GuardPhase::Rest { until } | GuardPhase::AtRefresh { until, .. } = self.phase
            && now >= until
        {
            return self.watch(GuardPhase::Watch);
        }
        if gap > interval * PAUSE || touched {
            return self.start_over();
        }
        match &mut self.phase {
            GuardPhase::Rest { .. } => return,
            GuardPhase::Trial { change_over, .. } if *change_over > 0 => {
                *change_over -= 1;
                return;
            }
            GuardPhase::Trial { .. } | GuardPhase::AtRefresh { .. } | GuardPhase::Watch => {}
        }
        self.count.frames += 1;
        // Rounded, because answers vary within a refresh.
        let refreshes = ((gap + interval / 2).as_nanos() / interval.as_nanos().max(1)).max(1);
        self.count.refreshes += u32::try_from(refreshes).unwrap_or(1);
        self.evaluate(now, interval);
    }

    fn evaluate(&mut self, now: Instant, interval: Span) {
        let seen = interval * i64::from(self.count.refreshes);
        match self.phase {
            GuardPhase::Watch if seen >= WATCHED => {
                let few = self.count.are_few();
                self.watch(if few {
                    GuardPhase::Trial { before: self.count, change_over: CHANGE_OVER }
                } else {
                    GuardPhase::Watch
                });
            }
            GuardPhase::Trial { before, .. } if seen >= TRIED => {
                if !self.count.is_more_than(before) {
                    return self.end_without_gain(now);
                }
                (self.faster, self.not_faster) = (self.faster + 1, 0);
                self.watch(GuardPhase::AtRefresh { before, until: now + doubled(HELD, self.faster) });
            }
            GuardPhase::AtRefresh { before, until } if seen >= CONFIRMED => {
                if !self.count.is_more_than(before) {
                    return self.end_without_gain(now);
                }
                self.watch(GuardPhase::AtRefresh { before, until });
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
        (self.phase, self.count) = (phase, FrameShare::default());
    }

    /// Discards the present count, because it means nothing.
    fn start_over(&mut self) {
        self.count = FrameShare::default();
        if matches!(self.phase, GuardPhase::Trial { .. }) {
            self.phase = GuardPhase::Watch;
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
        tries: u32,
    }

    impl GuardedClient {
        fn new() -> Self {
            GuardedClient { guard: FrameCountGuard::default(), now: Instant::ZERO + Span::from_seconds(1), tries: 0 }
        }

        /// Answers callbacks for `span`. The closures give the distance of each frame in refreshes:
        /// `otherwise`, and `at_refresh`.
        fn play(&mut self, span: Span, otherwise: impl Fn(u32) -> i64, at_refresh: impl Fn(u32) -> i64) {
            let end = self.now + span;
            let mut number = 0;
            while self.now < end {
                let was = self.guard.at_refresh();
                let refreshes = if was.is_some() { at_refresh(number) } else { otherwise(number) };
                self.now += INTERVAL * refreshes;
                number += 1;
                self.guard.answered(self.now, INTERVAL, false);
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
        for misses in [0, 20, 4] {
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
        for _ in 0..2_000 {
            client.now += INTERVAL;
            client.guard.answered(client.now, INTERVAL, true);
        }
        assert_eq!(client.guard.at_refresh(), None);
    }

    #[test]
    fn interactive_or_paused_client_is_not_tried() {
        let mut guard = FrameCountGuard::default();
        let mut now = Instant::ZERO;
        for _ in 0..1_000 {
            now += INTERVAL * 2;
            guard.answered(now, INTERVAL, true);
            assert_eq!(guard.at_refresh(), None);
        }
        for _ in 0..1_000 {
            now += INTERVAL * 5;
            guard.answered(now, INTERVAL, false);
            assert_eq!(guard.at_refresh(), None);
        }
    }
}
