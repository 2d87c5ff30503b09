//! Low framerate compensation: when to show the last picture again on a panel with variable refresh.
//!
//! The panel repeats its picture after its longest interval without a new picture, and is then busy for its shortest
//! interval. A client that draws slightly slower would have to wait for that each time. So its refreshes are doubled
//! (or tripled) evenly: the picture is shown again half-way to the expected next picture.
//!
//! ```text
//!   longest  ├──────────────────────┤
//!   alone    A                      A▓▓▓▓▓B                 B▓▓▓▓▓C      B comes while the panel repeats A
//!   doubled  A           A▓▓▓▓▓     B           B▓▓▓▓▓      C            the panel is free when B comes
//! ```
//!
//! Source: D-VSync 4.3 (the rate follows the content).

use crate::time::{Instant, Span};

/// Two distances between pictures belong to one rhythm if they differ by at most this fraction (1/5).
const STEADY_PARTS: i64 = 5;
/// The fraction of the shortest interval by which a picture may be later than expected and still come before the panel
/// repeats.
const SLACK_PARTS: i64 = 8;
/// The fraction of the shortest interval within which it is open whether a picture or the panel's repetition comes first
/// (1/32): 0.2 ms at 144 Hz.
const EDGE_PARTS: i64 = 32;
/// A picture is shown at most this many times: slower pictures may be a little late, which is invisible.
const MOST_TIMES: i64 = 3;

/// How long the panel surely waits for the next picture.
pub(super) fn longest_sure_wait((shortest, longest): (Span, Span)) -> Span {
    (longest - shortest / SLACK_PARTS).max(shortest)
}

/// How often a picture is shown until the next comes after `rest`, at least twice, and the distance between its
/// showings. `None` if the panel needs no repetition, or if the content rests.
///
/// Where even repetitions do not fit, they follow at the shortest interval. The next picture is then a little late, but
/// less than behind a repetition that the panel begins by itself after its longest interval:
///
/// ```text
///   shortest, longest  ├──────────────┤      ┊
///   by itself          A                     A▓▓▓▓▓▓▓▓▓▓▓▓▓▓B     B is expected at ×
///   here               A              A▓▓▓▓▓▓▓▓▓▓▓▓×▓B
/// ```
fn showings(rest: Span, (shortest, longest): (Span, Span)) -> Option<(i64, Span)> {
    let undisturbed = longest_sure_wait((shortest, longest));
    let times = (rest.as_nanos() - 1) / undisturbed.as_nanos().max(1) + 1;
    if !(2..=MOST_TIMES).contains(&times) {
        return None;
    }
    let fewer = times - 1;
    // A repetition of ours begins at the planned moment, so it needs less of a reserve than the client's next picture.
    let is_enough = rest <= (longest - shortest / EDGE_PARTS) * fewer;
    let times = if rest / times < shortest && is_enough { fewer } else { times };
    (times >= 2).then(|| (times, (rest / times).max(shortest)))
}

/// When a picture that is on screen since `light` is shown again, if the next comes at `next`, on a panel of this range
/// of intervals: evenly, as often as the panel needs it. `None` if it is not needed or the content rests.
pub(super) fn repetition_before(next: Instant, light: Instant, range: (Span, Span)) -> Option<Instant> {
    showings(next - light, range).map(|(_, step)| light + step)
}

/// The first moment from `from` on at which a picture may be shown so that the panel is free again for the content at
/// `next`: nothing is shown between, or the picture is repeated evenly. `None` if there is no such moment. Content too
/// far away for even repetitions does not matter.
pub(super) fn gap_before(next: Instant, from: Instant, (shortest, longest): (Span, Span)) -> Option<Instant> {
    let (rest, undisturbed) = (next - from, longest_sure_wait((shortest, longest)));
    if rest > undisturbed * MOST_TIMES {
        return Some(from);
    }
    let times = (1..=MOST_TIMES).rev().find(|times| rest >= shortest * *times)?;
    Some(next - rest.min(undisturbed * times))
}

/// The next distance may lie outside the remembered distances by this fraction of their difference (1/4).
const UNSEEN_PARTS: i64 = 4;
/// Remembered distances between pictures: enough for a client with varying costs.
const REMEMBERED: usize = 16;

/// The rhythm of pictures, and when the last picture is shown again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LowFramerateCompensation {
    /// A ring of the last distances between pictures; zero for an unused entry.
    recent: [Span; REMEMBERED],
    place: usize,
    /// When the last picture could have been shown by a panel that was free.
    ready: Option<Instant>,
    /// How long after the previous picture that was.
    distance: Option<Span>,
    again: Option<Instant>,
    /// The distance between a picture and its repetitions.
    step: Span,
    left: i64,
}

impl LowFramerateCompensation {
    /// A new picture is on screen since `light`, on a panel of this range of intervals. A free panel would have shown it
    /// at `ready`.
    pub fn note_picture(&mut self, light: Instant, ready: Instant, (shortest, longest): (Span, Span)) {
        let distance = self.ready.replace(ready).map(|last| ready - last);
        let before = std::mem::replace(&mut self.distance, distance);
        (self.again, self.left) = (None, 0);
        let Some((distance, before)) = distance.zip(before) else { return };
        self.recent[self.place] = distance;
        self.place = (self.place + 1) % REMEMBERED;
        if (distance - before).abs() > before / STEADY_PARTS {
            return self.plan_early_repetition(light, ready, (shortest, longest));
        }
        let rest = ready + distance - light;
        if rest <= longest_sure_wait((shortest, longest)) {
            return self.plan_early_repetition(light, ready, (shortest, longest));
        }
        let Some((times, step)) = showings(rest, (shortest, longest)) else { return };
        let first = ready + self.likely_distances().0 - light;
        // With varying costs the next picture may come earlier, and would find the panel busy.
        let has_room = first >= shortest * 2;
        // A late picture whose next would come right when the panel repeats it would stay late for good. A repetition of
        // ours makes the next picture less late.
        let is_less_late = step * times - rest + shortest / SLACK_PARTS < light - ready;
        let waits = if is_less_late { longest - shortest / EDGE_PARTS } else { longest };
        let may_be_undisturbed = rest <= waits || (step * times > rest && first <= waits);
        if !has_room && may_be_undisturbed {
            // The panel can wait for a picture at the same distance, or for a likely earlier one: a repetition would
            // delay more frames than it helps.
            return;
        }
        let is_free = if times == 2 && has_room { first - shortest } else { Span::MAX };
        (self.step, self.left) = (step.min(is_free), times - 1);
        self.again = Some(light + self.step);
    }

    /// The shortest and the longest likely distance to the next picture: the range of remembered distances, widened
    /// a little if these differ.
    fn likely_distances(&self) -> (Span, Span) {
        let seen = || self.recent.iter().copied().filter(|distance| *distance > Span::ZERO);
        let least = seen().min().unwrap_or_default();
        let most = seen().max().unwrap_or_default();
        let unseen = (most - least) / UNSEEN_PARTS;
        (least - unseen, most + unseen)
    }

    /// The next picture is expected before the panel repeats this one, but a late picture would find the panel
    /// busy. So, if there is time, repeat early enough that the panel is free for the earliest likely picture.
    fn plan_early_repetition(&mut self, light: Instant, ready: Instant, (shortest, longest): (Span, Span)) {
        let (least, most) = self.likely_distances();
        let (first, last) = (ready + least - light, ready + most - light);
        let undisturbed = longest_sure_wait((shortest, longest));
        if last <= undisturbed || most > longest + shortest || first < shortest * 2 {
            return;
        }
        (self.step, self.left) = ((last / 2).min(first - shortest), 1);
        self.again = Some(light + self.step);
    }

    /// The last picture is on screen again since `time`.
    pub fn note_repetition(&mut self, time: Instant) {
        self.left -= 1;
        self.again = (self.left > 0).then(|| time + self.step);
    }

    /// When the last picture is to be shown again.
    pub const fn next_repetition(&self) -> Option<Instant> {
        self.again
    }

    /// Cancels the repetition, because the last picture or another picture is being shown.
    pub fn cancel_repetition(&mut self) {
        self.again = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (Span, Span) = (Span::from_millihertz(144_000), Span::from_millihertz(48_000));

    /// Shows pictures at these distances (milliseconds); returns when the last is shown again, counted from its light.
    fn repetitions(distances: &[f64]) -> Vec<f64> {
        let mut rhythm = LowFramerateCompensation::default();
        let mut light = Instant::from_nanos(1_000_000_000);
        rhythm.note_picture(light, light, RANGE);
        for distance in distances {
            light += Span::from_millis_f64(*distance);
            rhythm.note_picture(light, light, RANGE);
        }
        let mut times = Vec::new();
        while let Some(again) = rhythm.next_repetition() {
            times.push((again - light).as_millis_f64());
            rhythm.note_repetition(again);
        }
        times
    }

    #[test]
    fn slow_pictures_are_repeated_evenly() {
        assert_eq!(repetitions(&[22.0, 22.0]), [11.0]);
        assert_eq!(repetitions(&[42.0, 42.0]), [14.0, 28.0]);
        assert_eq!(repetitions(&[20.5, 20.5]), [10.25], "the panel would be busy with repeating, or nearly");
    }

    /// 40 to 60 Hz.
    const NARROW: (Span, Span) = (Span::from_millihertz(60_000), Span::from_millihertz(40_000));

    /// The delays (milliseconds) of pictures at this even distance on a panel of this range, which repeats a picture by
    /// itself after its longest interval. The first picture is late by `late` milliseconds, and each is said to be ready a
    /// little earlier than it is.
    fn delays(distance: Span, late: f64, range @ (shortest, longest): (Span, Span)) -> Vec<f64> {
        let mut rhythm = LowFramerateCompensation::default();
        let (mut ready, mut began) = (Instant::from_nanos(1_000_000_000), Instant::from_nanos(1_000_000_000));
        let mut delays = Vec::new();
        for number in 0..30 {
            let light = if number == 0 { ready + Span::from_millis_f64(late) } else { ready.max(began + shortest) };
            delays.push((light - ready).as_millis_f64());
            rhythm.note_picture(light, ready - Span::from_micros(20), range);
            (began, ready) = (light, ready + distance);
            loop {
                let again = rhythm.next_repetition().unwrap_or(Instant::MAX).min(began + longest);
                if again >= ready {
                    break;
                }
                if rhythm.next_repetition() == Some(again) {
                    rhythm.note_repetition(again);
                }
                began = again;
            }
        }
        delays
    }

    #[test]
    fn even_pictures_are_in_time_after_a_second_wherever_the_first_finds_the_panel() {
        // At higher rates the panel is too busy to catch up within a second. Between 30 and 40 Hz the narrow panel has no
        // even intervals.
        for (rates, range) in [(17..=120, RANGE), (15..=30, NARROW), (40..=50, NARROW)] {
            for rate in rates {
                for late in [0.0, 1.0, 5.0, 13.0, 16.0, 16.65] {
                    let delays = delays(Span::from_millihertz(rate * 1_000), late, range);
                    let last = delays[delays.len() - 1];
                    assert!(last < 0.01, "{rate} Hz on {range:?}: {delays:?}");
                }
            }
        }
    }

    #[test]
    fn pictures_at_distances_that_the_panel_cannot_keep_wait_for_no_repetition_of_the_panels_own() {
        // A repetition at the shortest interval delays a picture that comes after the longest by at most this.
        let most = (NARROW.0 * 2 - NARROW.1).as_millis_f64();
        for rate in 31..40 {
            let delays = delays(Span::from_millihertz(rate * 1_000), 0.0, NARROW);
            // The distance is not known before the third picture.
            assert!(delays[2..].iter().all(|delay| *delay <= most + 0.03), "{rate} Hz: {delays:?}");
        }
    }

    #[test]
    fn repetitions_that_do_not_fit_follow_at_the_shortest_interval() {
        let millis = |rest: f64| {
            showings(Span::from_millis_f64(rest), NARROW).map(|(times, step)| (times, step.as_millis_f64()))
        };
        assert_eq!(millis(24.0), None, "the panel waits");
        assert_eq!(millis(33.0), Some((2, 16.666_667)));
        assert_eq!(millis(28.0), Some((2, 16.666_667)));
        assert_eq!(millis(47.0), Some((2, 23.5)), "three times would be too often, and twice are enough");
        assert_eq!(millis(50.0), Some((3, 16.666_667)), "the panel might repeat by itself after 25 ms");
        assert_eq!(millis(51.0), Some((3, 17.0)));
    }

    #[test]
    fn delay_by_the_panel_does_not_change_the_rhythm() {
        let mut rhythm = LowFramerateCompensation::default();
        let ready = |number: i64| Instant::from_nanos(1_000_000_000) + Span::from_millis(22) * number;
        (0..3).for_each(|number| rhythm.note_picture(ready(number), ready(number), RANGE));
        let late = ready(3) + Span::from_millis(5);
        rhythm.note_picture(late, ready(3), RANGE);
        assert_eq!(rhythm.next_repetition(), None, "the next one comes before the panel repeats");
        rhythm.note_picture(ready(4), ready(4), RANGE);
        assert_eq!(rhythm.next_repetition(), Some(ready(4) + Span::from_millis(11)));
    }

    #[test]
    fn fast_pictures_are_not_repeated() {
        for distance in [7.0, 12.0, 19.0] {
            assert!(repetitions(&[distance, distance]).is_empty(), "{distance}");
        }
    }

    #[test]
    fn a_long_one_among_short_ones_is_not_shown_again() {
        assert!(repetitions(&[13.0, 13.0, 17.5, 20.5]).is_empty(), "another short one would find the panel busy");
        assert_eq!(repetitions(&[16.9, 17.0, 20.3]), [9.230_556], "there is time before the first may come");
    }

    #[test]
    fn known_next_picture_is_preceded_by_needed_repetitions() {
        let light = Instant::from_nanos(1_000_000_000);
        let before = |millis: f64| {
            let next = light + Span::from_millis_f64(millis);
            let (mut at, mut times) = (light, Vec::new());
            while let Some(again) = repetition_before(next, at, RANGE) {
                times.push((again - light).as_millis_f64());
                at = again;
            }
            times
        };
        assert!(before(19.0).is_empty() && before(-3.0).is_empty());
        assert_eq!(before(22.0), [11.0]);
        assert_eq!(before(42.0), [14.0, 28.0]);
        assert!(before(500.0).is_empty());
    }

    #[test]
    fn irregular_or_resting_pictures_are_not_repeated() {
        assert!(repetitions(&[22.0, 40.0]).is_empty());
        assert!(repetitions(&[1_000.0, 1_000.0]).is_empty());
    }
}
