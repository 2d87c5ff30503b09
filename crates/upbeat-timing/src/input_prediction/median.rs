//! The robust course of a device: the median of its last speeds, slowed down by their trend.
//!
//! ```text
//!   reports   × ×   × ×     × ×   × ×   × ×        a touchpad that catches up now and then: one speed is twice the rest
//!               └─┬─┘ └──┬──┘ └─┬─┘ └─┬─┘
//!   speeds        s4    s3     s2    s1  s0        a line fits the outlier, the median of s0 to s2 does not
//! ```
//!
//! A hand that slows down goes on slowing down, so a falling trend is followed. A rising trend is not: a prediction
//! that goes too far is seen, because its content has to come back.

use super::{PositionSample, Predictor};
use crate::time::{Instant, Span};

/// The most reports that are kept: 32 ms of a device with 1000 reports a second.
const MOST_REPORTS: usize = 32;
/// Reports that are closer than this count as one, so that a device with 8000 reports a second is remembered as long.
const SHORTEST_STEP: Span = Span::from_micros(950);
/// The shortest time over which a speed is taken: shorter ones are the noise of the sensor's grid.
const SHORTEST_SEGMENT: Span = Span::from_micros(5_500);
/// The most speeds that are looked at, and the newest of them whose median counts.
const MOST_SEGMENTS: usize = 5;
const MEDIAN_OF: usize = 3;
/// Older reports are not looked at.
const WINDOW: Span = Span::from_millis(100);
/// A device that reports nothing for this long has rested: what it did before says nothing.
const RESTING: Span = Span::from_millis(40);
/// The share of a falling trend that is followed.
const SLOWING: f64 = 0.7;
/// The most that the course may be faster than the newest speed.
const NEWEST_LEAD: f64 = 1.3;

/// The last reports of one gesture, and the course that follows from them.
#[derive(Clone, Debug)]
pub struct MedianVelocity {
    reports: [PositionSample; MOST_REPORTS],
    len: usize,
}

/// A speed over a short time, seen from the last report.
#[derive(Clone, Copy, Debug, Default)]
struct SpeedSegment {
    /// The middle of that time in seconds; negative.
    at: f64,
    /// Pixels per second in x and in y.
    velocity: (f64, f64),
}

/// Speeds, the newest first.
#[derive(Clone, Copy, Debug, Default)]
struct RecentSpeeds {
    segments: [SpeedSegment; MOST_SEGMENTS],
    len: usize,
}

/// How the device goes on from its last report.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceCourse {
    /// The last report.
    pub from: PositionSample,
    /// A unit vector.
    pub direction: (f64, f64),
    /// Pixels per second at the last report, and its change per second; never positive.
    speed: f64,
    slowing: f64,
}

impl DeviceCourse {
    /// How far the device goes in this time, in pixels along its direction; never backwards.
    pub fn distance(&self, ahead: Span) -> f64 {
        let ahead = ahead.as_seconds_f64().max(0.0);
        // Where it would stand still before, it stays there.
        let stop = if self.slowing < 0.0 { (self.speed / -self.slowing).max(0.0) } else { f64::INFINITY };
        let moving = ahead.min(stop);
        ((self.speed + self.slowing * moving / 2.0) * moving).max(0.0)
    }

    /// The position this many pixels on.
    pub fn position(&self, distance: f64) -> (f64, f64) {
        (self.from.x + self.direction.0 * distance, self.from.y + self.direction.1 * distance)
    }
}

impl MedianVelocity {
    /// A predictor without reports.
    pub const fn new() -> Self {
        const NONE: PositionSample = PositionSample { at: Instant::ZERO, x: 0.0, y: 0.0 };
        MedianVelocity { reports: [NONE; MOST_REPORTS], len: 0 }
    }

    /// The last report, if any.
    pub fn last(&self) -> Option<PositionSample> {
        self.reports[..self.len].last().copied()
    }

    /// How the device goes on; `None` with fewer than three speeds since it last rested.
    pub(super) fn course(&self) -> Option<DeviceCourse> {
        let from = self.last()?;
        let speeds = self.speeds();
        if speeds.len < MEDIAN_OF {
            return None;
        }
        let segments = &speeds.segments[..speeds.len];
        let newest = &segments[..MEDIAN_OF];
        let sum = newest.iter().fold((0.0, 0.0), |(x, y), speed| (x + speed.velocity.0, y + speed.velocity.1));
        let length = f64::hypot(sum.0, sum.1);
        if length < 1e-9 {
            return Some(DeviceCourse { from, direction: (1.0, 0.0), speed: 0.0, slowing: 0.0 });
        }
        let direction = (sum.0 / length, sum.1 / length);
        let along = |speed: &SpeedSegment| speed.velocity.0 * direction.0 + speed.velocity.1 * direction.1;
        let mut middle = [along(&newest[0]), along(&newest[1]), along(&newest[2])];
        let least = NEWEST_LEAD * middle[0].max(0.0);
        middle.sort_unstable_by(f64::total_cmp);
        let slowing = SLOWING * trend(segments, along).min(0.0);
        let at = newest.iter().map(|speed| speed.at).sum::<f64>() / MEDIAN_OF as f64;
        let speed = middle[1].clamp(0.0, least) - slowing * at;
        Some(DeviceCourse { from, direction, speed: speed.max(0.0), slowing })
    }

    /// The last speeds, each over at least [`SHORTEST_SEGMENT`], back to the last rest.
    fn speeds(&self) -> RecentSpeeds {
        let mut speeds = RecentSpeeds::default();
        let reports = &self.reports[..self.len];
        let Some(last) = reports.last() else { return speeds };
        let mut newer = reports.len() - 1;
        while newer > 0 && speeds.len < MOST_SEGMENTS {
            let end = reports[newer];
            let mut older = newer - 1;
            while older > 0 && end.at - reports[older].at < SHORTEST_SEGMENT {
                older -= 1;
            }
            let start = reports[older];
            let length = end.at - start.at;
            if length < SHORTEST_SEGMENT || length > RESTING || last.at - start.at > WINDOW {
                break;
            }
            let seconds = length.as_seconds_f64();
            let velocity = ((end.x - start.x) / seconds, (end.y - start.y) / seconds);
            let middle = (start.at - last.at).as_seconds_f64() + seconds / 2.0;
            speeds.segments[speeds.len] = SpeedSegment { at: middle, velocity };
            speeds.len += 1;
            newer = older;
        }
        speeds
    }
}

/// The median slope between any two speeds (Theil and Sen): an outlier does not change it.
fn trend(segments: &[SpeedSegment], along: impl Fn(&SpeedSegment) -> f64) -> f64 {
    const MOST_PAIRS: usize = MOST_SEGMENTS * (MOST_SEGMENTS - 1) / 2;
    let (mut slopes, mut len) = ([0.0; MOST_PAIRS], 0);
    for (index, newer) in segments.iter().enumerate() {
        for older in &segments[index + 1..] {
            slopes[len] = (along(newer) - along(older)) / (newer.at - older.at);
            len += 1;
        }
    }
    let slopes = &mut slopes[..len];
    slopes.sort_unstable_by(f64::total_cmp);
    match len {
        0 => 0.0,
        _ if len % 2 == 1 => slopes[len / 2],
        _ => (slopes[len / 2 - 1] + slopes[len / 2]) / 2.0,
    }
}

impl Default for MedianVelocity {
    fn default() -> Self {
        Self::new()
    }
}

impl Predictor for MedianVelocity {
    fn observe(&mut self, sample: PositionSample) {
        while self.last().is_some_and(|last| sample.at < last.at) {
            self.len -= 1;
        }
        // The newest report is always kept; the report before it goes if it was close to its own predecessor.
        let replaces = match &self.reports[..self.len] {
            [.., last] if sample.at <= last.at => true,
            [.., before, last] => last.at - before.at < SHORTEST_STEP,
            _ => false,
        };
        if replaces {
            self.len -= 1;
        } else if self.len == MOST_REPORTS {
            self.reports.copy_within(1.., 0);
            self.len -= 1;
        }
        self.reports[self.len] = sample;
        self.len += 1;
    }

    fn position(&self, at: Instant) -> Option<(f64, f64)> {
        let last = self.last()?;
        let course = self.course().filter(|_| at > last.at);
        Some(course.map_or((last.x, last.y), |course| course.position(course.distance(at - last.at))))
    }

    fn reset(&mut self) {
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Span = Span::from_millis(14);

    /// The position 16 ms after the last of these distances, which were covered in 14 ms each; and the last position.
    fn predicted(distances: &[f64]) -> (f64, f64) {
        let mut course = MedianVelocity::new();
        let (mut at, mut x) = (Instant::from_nanos(1_000_000_000), 0.0);
        course.observe(PositionSample { at, x, y: 0.0 });
        for distance in distances {
            (at, x) = (at + STEP, x + distance);
            course.observe(PositionSample { at, x, y: 0.0 });
        }
        (course.position(at + Span::from_millis(16)).unwrap().0, x)
    }

    #[test]
    fn steady_motion_is_continued_and_a_single_longer_step_changes_nothing() {
        let (then, x) = predicted(&[35.0; 6]);
        assert!((then - x - 40.0).abs() < 1e-6, "{then} {x}");
        let (then, x) = predicted(&[35.0, 35.0, 35.0, 78.0, 35.0, 35.0]);
        assert!((then - x - 40.0).abs() < 1e-6, "{then} {x}");
        let (then, x) = predicted(&[35.0, 35.0, 35.0, 35.0, 35.0, 78.0]);
        assert!((then - x - 40.0).abs() < 1e-6, "{then} {x}");
    }

    #[test]
    fn motion_that_slows_down_is_not_overshot_and_motion_that_gets_faster_is_not_outrun() {
        let (then, x) = predicted(&[60.0, 52.0, 44.0, 36.0, 28.0]);
        // At the newest speed it would be 32 px, with the whole trend 22.
        assert!((22.0..30.0).contains(&(then - x)), "{}", then - x);
        let (then, x) = predicted(&[28.0, 36.0, 44.0, 52.0, 60.0]);
        assert!(then - x < 69.0, "{}", then - x);
    }

    #[test]
    fn hand_that_turns_or_stops_is_not_predicted_backwards_or_on() {
        let (then, x) = predicted(&[30.0, 30.0, 30.0, 30.0, 0.0]);
        assert_eq!(then, x);
        let (then, x) = predicted(&[30.0, 20.0, 10.0, -10.0, -20.0]);
        assert!((x - 30.0..=x).contains(&then), "{then} {x}");
    }

    #[test]
    fn reports_of_a_fast_device_are_remembered_for_as_long_as_those_of_a_slow_one() {
        for micros in [125, 500, 1_000, 8_000] {
            let mut course = MedianVelocity::new();
            let mut at = Instant::from_nanos(1_000_000_000);
            for report in 0..2_000 {
                at += Span::from_micros(micros);
                course.observe(PositionSample { at, x: 0.5 * report as f64 * micros as f64 / 1e3, y: 3.0 });
            }
            let last = course.last().unwrap();
            let (x, y) = course.position(at + Span::from_millis(16)).unwrap();
            assert!((x - last.x - 8.0).abs() < 1e-6 && y == 3.0, "{micros} µs: {x} after {}", last.x);
        }
    }

    #[test]
    fn reports_that_go_back_in_time_or_share_one_give_finite_positions() {
        for times in [[0, 1_000, 0, 0, 1_000], [0, 8_000, 8_100, 0, 100], [5_000, 4_000, 3_000, 9_000, 9_001]] {
            let mut course = MedianVelocity::new();
            let start = Instant::from_nanos(1_000_000_000);
            for (report, micros) in times.into_iter().cycle().take(40).enumerate() {
                course.observe(PositionSample { at: start + Span::from_micros(micros), x: report as f64, y: 0.0 });
                let (x, y) = course.position(start + Span::from_millis(30)).unwrap();
                assert!(x.is_finite() && y.is_finite(), "{times:?}");
            }
        }
    }

    #[test]
    fn nothing_is_known_after_a_rest_until_three_speeds_are() {
        let mut course = MedianVelocity::new();
        let mut at = Instant::from_nanos(1_000_000_000);
        let mut report = |after: i64, x: f64| {
            at += Span::from_millis(after);
            course.observe(PositionSample { at, x, y: 0.0 });
            course.course().is_some()
        };
        let known: Vec<bool> = (0..5).map(|index| report(8, 4.0 * f64::from(index))).collect();
        assert_eq!(known, [false, false, false, true, true]);
        assert!(!report(500, 20.0) && !report(8, 24.0) && !report(8, 28.0) && report(8, 32.0));
    }
}
