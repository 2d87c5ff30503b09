//! The rhythm of content on a panel with variable refresh: when a surface that commits at even distances is expected to
//! commit next, whether it asks for callbacks or not.
//!
//! A panel that shows a picture is busy for its shortest interval. So a picture that is not urgent (a moved cursor, a
//! repetition) leaves room for the expected content, and two surfaces of one client that commit at the same rate share a
//! frame:
//!
//! ```text
//!   window      A                       B                       C      expected from the distances so far
//!   subsurface   a                       b                       c     the same rate: the latch for A waits for a
//!   panel        Aa      cursor          Bb      cursor          Cc    a cursor here ─► ─ ─ ─ comes with Cc
//! ```
//!
//! Source: D-VSync 4.3 (the rate follows the content).

use crate::id::PacerId;
use crate::id::SurfaceId;
use crate::time::{Instant, Span};

/// Surfaces whose rhythm is remembered on one output; the surface that has committed nothing for longest is forgotten.
const MOST_SURFACES: usize = 8;
/// Remembered distances between commits of one surface.
const REMEMBERED: usize = 8;
/// A surface has a rhythm if this many of the remembered distances are alike: a single dropped frame changes nothing,
/// and a client with varying costs seems even for a moment only.
const ALIKE: usize = 7;
/// Content may be this fraction of the shortest interval earlier or later than expected (1/8): 0.9 ms at 144 Hz.
const SLACK_PARTS: i64 = 8;
/// Two surfaces share a frame if they commit within this fraction of the shortest interval (1/2).
const TOGETHER_PARTS: i64 = 2;

/// How much earlier or later than expected content may come, on a panel with this shortest interval.
pub(super) fn slack(shortest: Span) -> Span {
    shortest / SLACK_PARTS
}

/// The commits of one surface.
#[derive(Clone, Copy, Debug)]
struct SurfaceRhythm {
    surface: SurfaceId,
    client: PacerId,
    last: Instant,
    /// A ring of the last distances; zero for an unused entry.
    distances: [Span; REMEMBERED],
    place: usize,
    /// The last content was not latched yet.
    is_pending: bool,
}

impl SurfaceRhythm {
    const fn new(surface: SurfaceId, client: PacerId, now: Instant) -> Self {
        let distances = [Span::ZERO; REMEMBERED];
        SurfaceRhythm { surface, client, last: now, distances, place: 0, is_pending: true }
    }

    fn commit(&mut self, now: Instant) {
        self.distances[self.place] = now - self.last;
        self.place = (self.place + 1) % REMEMBERED;
        (self.last, self.is_pending) = (now, true);
    }

    /// The distance between two commits, if they are even to within `slack`.
    fn period(&self, slack: Span) -> Option<Span> {
        let mut sorted = self.distances;
        sorted.sort_unstable();
        // Without the smallest and the largest; not their median, because timers of whole milliseconds alternate.
        let middle = &sorted[1..REMEMBERED - 1];
        let mean = middle.iter().fold(Span::ZERO, |sum, distance| sum + *distance) / (REMEMBERED as i64 - 2);
        let alike = sorted.iter().filter(|distance| **distance > Span::ZERO && (**distance - mean).abs() <= slack);
        (alike.count() >= ALIKE).then_some(mean)
    }

    /// When the next content is expected; `None` without a rhythm, or if it is late by more than `slack`.
    fn expected(&self, now: Instant, slack: Span) -> Option<Instant> {
        Some(self.last + self.period(slack)?).filter(|expected| now <= *expected + slack)
    }
}

/// The rhythms of the surfaces on one output.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContentRhythms([Option<SurfaceRhythm>; MOST_SURFACES]);

impl ContentRhythms {
    /// New content of `surface` was applied.
    pub fn commit(&mut self, client: PacerId, surface: SurfaceId, now: Instant) {
        let known = self.0.iter_mut().flatten().find(|known| known.surface == surface && known.client == client);
        match known {
            Some(known) => known.commit(now),
            None => {
                let oldest = self.0.iter_mut().min_by_key(|slot| slot.map(|known| known.last));
                oldest.into_iter().for_each(|slot| *slot = Some(SurfaceRhythm::new(surface, client, now)));
            }
        }
    }

    /// All content was latched.
    pub fn latch(&mut self) {
        self.0.iter_mut().flatten().for_each(|known| known.is_pending = false);
    }

    /// When the next content of any surface with a rhythm is expected.
    pub fn next(&self, now: Instant, slack: Span) -> Option<Instant> {
        self.0.iter().flatten().filter_map(|known| known.expected(now, slack)).min()
    }

    /// Whether content of `client` is expected.
    pub fn has(&self, client: PacerId, now: Instant, slack: Span) -> bool {
        self.0.iter().flatten().any(|known| known.client == client && known.expected(now, slack).is_some())
    }

    /// Until when content that was committed waits for another surface of its client, so that one frame shows both;
    /// `None` if it waits for none.
    pub fn complete_at(&self, now: Instant, shortest: Span) -> Option<Instant> {
        let slack = slack(shortest);
        let pending = self.0.iter().flatten().filter(|known| known.is_pending);
        let parts = pending.flat_map(|first| {
            let others = self.0.iter().flatten().filter(|other| !other.is_pending && other.client == first.client);
            others.filter_map(|other| {
                let (period, own) = (other.period(slack)?, first.period(slack)?);
                let is_same_rate = (period - own).abs() <= slack;
                let expected = other.expected(now, slack).filter(|_| is_same_rate)?;
                (expected <= first.last + shortest / TOGETHER_PARTS).then_some(expected + slack)
            })
        });
        parts.max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORTEST: Span = Span::from_micros(6_944);

    fn at(millis: f64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_millis_f64(millis)
    }

    /// The rhythms after one surface has committed at these times (milliseconds).
    fn committed(times: &[f64]) -> ContentRhythms {
        let mut rhythms = ContentRhythms::default();
        times.iter().for_each(|time| rhythms.commit(PacerId::default(), SurfaceId(1), at(*time)));
        rhythms
    }

    fn next(rhythms: &ContentRhythms, now: f64) -> Option<f64> {
        rhythms.next(at(now), slack(SHORTEST)).map(|next| (next - at(0.0)).as_millis_f64())
    }

    #[test]
    fn even_commits_are_expected_to_go_on_until_one_is_late() {
        let even = committed(&[0.0, 17.0, 33.0, 50.0, 67.0, 83.0, 100.0, 117.0, 134.0]);
        assert_eq!(next(&even, 134.0), Some(150.833_333));
        assert_eq!(next(&even, 151.5), Some(150.833_333), "a little late");
        assert_eq!(next(&even, 152.0), None);
    }

    #[test]
    fn a_single_dropped_frame_changes_no_rhythm_and_uneven_commits_have_none() {
        let after = |first: &[f64]| {
            let last = first[first.len() - 1];
            let even = (1..=6).map(|frame| last + 10.0 * f64::from(frame));
            next(&committed(&first.iter().copied().chain(even).collect::<Vec<_>>()), last + 61.0)
                .map(|next| next - last)
        };
        assert_eq!(after(&[0.0, 10.0, 30.0]), Some(70.0));
        assert_eq!(after(&[0.0, 20.0, 40.0]), None);
        assert_eq!(after(&[0.0]), None, "too few");
    }

    #[test]
    fn content_waits_for_another_surface_of_its_client_that_comes_soon_at_the_same_rate() {
        let both = |behind: f64, every: u32, now: f64| {
            let mut rhythms = ContentRhythms::default();
            for frame in 0..20_u32 {
                rhythms.latch();
                rhythms.commit(PacerId::default(), SurfaceId(1), at(33.0 * f64::from(frame)));
                if frame < 19 && frame.is_multiple_of(every) {
                    rhythms.commit(PacerId::default(), SurfaceId(2), at(33.0 * f64::from(frame) + behind));
                }
            }
            let until = rhythms.complete_at(at(33.0 * 19.0 + now), SHORTEST);
            until.map(|until| (until - at(33.0 * 19.0)).as_millis_f64())
        };
        assert_eq!(both(1.0, 1, 0.0), Some(1.868));
        assert_eq!(both(1.0, 1, 1.9), None, "it did not come");
        assert_eq!(both(5.0, 1, 0.0), None, "it comes too late for one frame");
        assert_eq!(both(1.0, 3, 0.0), None, "another rate");
    }

    #[test]
    fn the_surface_at_rest_for_longest_is_forgotten() {
        let mut rhythms = committed(&[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]);
        for surface in 2..=MOST_SURFACES as u32 {
            rhythms.commit(PacerId::default(), SurfaceId(surface), at(71.0));
        }
        assert_eq!(next(&rhythms, 71.0), Some(80.0));
        rhythms.commit(PacerId::default(), SurfaceId(99), at(72.0));
        assert_eq!(next(&rhythms, 72.0), None);
    }
}
