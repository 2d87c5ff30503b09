//! The refresh-rate governor: the rate that content needs, when a display may switch to it, and the distance between
//! frames that are drawn ahead.
//!
//! D-VSync 5.3 (LTPO). Every queued frame carries the interval that it was made for. The display changes its rate after
//! the last frame of the old rate, never before, since a frame drawn for 120 Hz motion is wrong at 60 Hz.
//!
//! ```text
//!  queue    8 8 8 16 16      → the display is switched between the third and the fourth frame
//! ```

use crate::time::{Instant, Span};

/// The speeds, in logical pixels per second, that a moving view has to exceed for the middle and the highest rate.
/// Below 400 px/s one refresh of 60 Hz moves less than 7 px; from 1600 px/s on, 120 Hz is visibly better.
const SPEED_THRESHOLDS: [f64; 2] = [400.0, 1_600.0];
/// A rate is left only when the speed is this part below the threshold that led to it, so that the rate does not
/// flicker.
const SPEED_HYSTERESIS: f64 = 0.75;

/// The distance between frames that are drawn ahead is a multiple of the shortest interval divided by this: fine enough
/// to lose little, coarse enough that a rate lasts.
const STEPS: i64 = 4;
/// The rate falls when a frame takes more than this part of its interval (denominator, numerator), so that frames can
/// still wait ahead…
const FULL: (i64, i64) = (17, 16);
/// …and rises only when a frame takes at most this part of the shorter interval.
const ROOM: (i64, i64) = (5, 4);
/// The largest distance between frames, in longest intervals.
const SLOWEST_TIMES: i64 = 8;

/// The kind of content on screen that determines the rate (D-VSync 5.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateScenario {
    /// Nothing on screen moves.
    Still,
    /// Content with its own cadence (a film, a video): its frame interval.
    Video(Span),
    /// A finger or a button is down.
    Interaction,
    /// A view moves on its own: its speed in logical pixels per second.
    Motion(f64),
}

/// The rates that a display offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRange {
    /// The shortest interval of the panel.
    pub fastest: Span,
    /// The longest interval of the panel.
    pub slowest: Span,
    /// Whether every interval in between is possible (VRR), or only whole multiples of the shortest.
    pub variable: bool,
}

impl RateRange {
    /// A display with one rate.
    pub const fn fixed(interval: Span) -> Self {
        RateRange { fastest: interval, slowest: interval, variable: false }
    }

    /// The possible interval nearest to `wanted` that is not longer, if there is one.
    fn nearest(&self, wanted: Span) -> Span {
        let wanted = wanted.min(self.slowest).max(self.fastest);
        if self.variable {
            return wanted;
        }
        let fastest = self.fastest.as_nanos().max(1);
        // A part in a thousand too long still counts as the multiple: 24/1.001 Hz is 24 Hz here.
        self.fastest * ((wanted.as_nanos() + wanted.as_nanos() / 1_000) / fastest).max(1)
    }
}

/// Chooses the interval of new frames and says when the display changes to it.
#[derive(Clone, Debug)]
pub struct RateGovernor {
    range: RateRange,
    /// The display's present interval.
    current: Span,
    /// The speed range of the last motion.
    speed_range: usize,
    /// The distance between frames that are drawn ahead.
    distance: Span,
}

impl RateGovernor {
    /// A governor for a display that runs at its fastest rate.
    pub const fn new(range: RateRange) -> Self {
        RateGovernor { range, current: range.fastest, speed_range: SPEED_THRESHOLDS.len(), distance: range.fastest }
    }

    /// The rates that the display offers.
    pub const fn range(&self) -> RateRange {
        self.range
    }

    /// The distance between frames that are drawn ahead at a cost of `cost` each: the shortest that the client can
    /// keep up with. It may exceed the longest interval: each picture is then shown several times.
    pub fn distance_for(&mut self, cost: Span) -> Span {
        let step = (self.range.fastest / STEPS).max(Span::from_nanos(1));
        let fits = |(numerator, denominator)| {
            let steps = (cost.scale(numerator, denominator).as_nanos() - 1) / step.as_nanos() + 1;
            (step * steps).max(self.range.fastest).min(self.range.slowest * SLOWEST_TIMES)
        };
        if fits(FULL) > self.distance {
            self.distance = fits(FULL);
        } else if fits(ROOM) < self.distance {
            self.distance = fits(ROOM);
        }
        self.distance
    }

    /// The interval at which the display runs.
    pub const fn current(&self) -> Span {
        self.current
    }

    /// The interval that frames started now should be made for.
    pub fn interval_for(&mut self, scenario: RateScenario) -> Span {
        match scenario {
            RateScenario::Still => self.range.slowest,
            RateScenario::Interaction => self.range.fastest,
            RateScenario::Video(interval) => self.multiple_of(interval),
            RateScenario::Motion(speed) => {
                self.speed_range = next_speed_range(self.speed_range, speed);
                // 120 Hz, 90 Hz, 60 Hz on a display of 120: 1, 4/3 and 2 intervals.
                let (numerator, denominator) = [(2, 1), (4, 3), (1, 1)][self.speed_range];
                self.range.nearest(self.range.fastest.scale(numerator, denominator))
            }
        }
    }

    /// The longest possible interval that divides `interval`: each video frame is shown equally often.
    fn multiple_of(&self, interval: Span) -> Span {
        let mut parts = 1;
        while interval / parts > self.range.slowest {
            parts += 1;
        }
        self.range.nearest(interval / parts)
    }

    /// A frame made for `interval` is about to be latched. It is the oldest, so all frames of the previous rate
    /// have been shown. Returns the interval to switch to, if it differs.
    pub fn latching(&mut self, interval: Span) -> Option<Span> {
        let interval = self.range.nearest(interval);
        if interval == self.current {
            return None;
        }
        self.current = interval;
        Some(interval)
    }

    /// When scan-out of a frame that is ready at `ready` begins: not before one interval has passed since `last`.
    pub fn scan_out(&self, last: Instant, ready: Instant) -> Instant {
        ready.max(last + self.current.max(self.range.fastest))
    }
}

fn next_speed_range(current: usize, speed: f64) -> usize {
    let mut range = current;
    while range < SPEED_THRESHOLDS.len() && speed > SPEED_THRESHOLDS[range] {
        range += 1;
    }
    while range > 0 && speed < SPEED_THRESHOLDS[range - 1] * SPEED_HYSTERESIS {
        range -= 1;
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    const F120: Span = Span::from_millihertz(120_000);

    fn ltpo() -> RateGovernor {
        RateGovernor::new(RateRange { fastest: F120, slowest: Span::from_millihertz(24_000), variable: true })
    }

    #[test]
    fn the_rate_falls_with_the_speed_and_does_not_flicker() {
        let mut governor = ltpo();
        let hertz = [3_000.0, 1_500.0, 1_100.0, 1_500.0, 1_700.0, 350.0, 250.0, 350.0, 500.0]
            .map(|speed| (governor.interval_for(RateScenario::Motion(speed)).as_millihertz() + 500) / 1_000);
        assert_eq!(hertz, [120, 120, 90, 90, 120, 90, 60, 60, 90]);
    }

    #[test]
    fn video_gets_a_whole_multiple_of_its_rate() {
        let film = RateScenario::Video(Span::from_millihertz(23_976));
        assert_eq!(ltpo().interval_for(film).as_millihertz(), 47_952, "24 Hz is just out of the range: twice");
        let mut fixed =
            RateGovernor::new(RateRange { fastest: F120, slowest: Span::from_millihertz(30_000), variable: false });
        let hertz =
            (fixed.interval_for(RateScenario::Video(Span::from_millihertz(60_000))).as_millihertz() + 500) / 1_000;
        assert_eq!(hertz, 60);
    }

    #[test]
    fn client_that_draws_ahead_gets_a_steady_rate_that_it_keeps_up_with() {
        let fastest = Span::from_millis(8);
        let mut governor = RateGovernor::new(RateRange { fastest, slowest: Span::from_millis(20), variable: true });
        let costs = [3.0, 7.0, 7.4, 7.6, 7.4, 6.5, 6.3, 11.0, 33.0, 2.0];
        let distances = costs.map(|cost| governor.distance_for(Span::from_millis_f64(cost)).as_millis_f64());
        assert_eq!(distances, [8.0, 8.0, 8.0, 10.0, 10.0, 10.0, 8.0, 12.0, 36.0, 8.0]);
    }

    #[test]
    fn the_display_switches_after_the_last_frame_of_the_old_rate() {
        let mut governor = ltpo();
        let slow = F120 * 2;
        let switches = [F120, F120, slow, slow, F120].map(|interval| governor.latching(interval));
        assert_eq!(switches, [None, None, Some(slow), None, Some(F120)]);
    }

    #[test]
    fn a_frame_that_is_ready_goes_after_one_interval_and_a_late_one_at_once() {
        let governor = ltpo();
        let last = Instant::from_nanos(1_000_000_000);
        let late = last + F120 + Span::from_millis(1);
        assert_eq!(governor.scan_out(last, late), late);
        assert_eq!(governor.scan_out(last, last + Span::from_millis(1)), last + F120);
    }
}
