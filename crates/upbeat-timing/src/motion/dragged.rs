//! A value that the user drags. In each frame it is where the hand will be when the frame is shown.
//!
//! ```text
//!   reports   ×  ×  ×  ×                     a pure function of the shown time: it needs no timer
//!   value     ──────────┬────╮
//!                       last  ╰── foretold ──╮__ at rest again where it was reported last
//!                       └ FORETOLD ┘└ RETURN ┘
//! ```
//! Devices report only motion. When a hand stops there is no report, so the prediction is taken back gradually.

use crate::defaults::DRAG_PREDICTION;
use crate::input_prediction::{self, ErrorTracked, Linear};
use crate::time::{Instant, Span};

/// The furthest that a prediction reaches beyond the last report: a refresh at 60 Hz and a report at 120 Hz.
const FORETOLD: Span = Span::from_millis(24);
/// The time in which a prediction is taken back without a further report: a refresh.
const RETURN: Span = Span::from_millis(16);
/// The largest prediction, in pixels: half of a fingertip's size. When the hand stops abruptly the value visibly
/// overshoots by this.
const REACH: f64 = 24.0;
/// The time before the release from which the velocity is computed.
const LATELY: Span = Span::from_millis(60);
/// A hand without a report for this long before the release stood still.
const STILL: Span = Span::from_millis(50);
/// Reports kept for the velocity: about the last 60 ms of a device at 1 kHz.
const MOST_REPORTS: usize = 64;

/// A value that the user drags: reports are in pixels, the value in a unit of its own.
#[derive(Clone, Debug)]
pub struct DraggedValue {
    tracked: ErrorTracked<Linear>,
    /// The latest reports: time, and total distance in pixels.
    reports: [(Instant, f64); MOST_REPORTS],
    /// The total number of reports.
    count: usize,
    /// The value at the start of the drag.
    from: f64,
    /// The change of the value for each pixel.
    per_pixel: f64,
    range: (f64, f64),
}

impl DraggedValue {
    /// The user grabs the value `from` at the time `at`; each pixel of motion adds `per_pixel`, and the value stays
    /// in `range`.
    pub fn new(at: Instant, from: f64, per_pixel: f64, range: (f64, f64)) -> Self {
        let mut pulled = DraggedValue {
            tracked: ErrorTracked::new(Linear::new(), DRAG_PREDICTION),
            reports: [(at, 0.0); MOST_REPORTS],
            count: 0,
            from,
            per_pixel,
            range,
        };
        pulled.report(at, 0.0);
        pulled
    }

    /// The hand moved by this many pixels.
    pub fn moved(&mut self, at: Instant, by: f64) {
        let (last, way) = self.last();
        self.report(at.max(last), way + by);
    }

    fn report(&mut self, at: Instant, way: f64) {
        self.tracked.observe(input_prediction::PositionSample { at, x: way, y: 0.0 });
        self.reports[self.count % MOST_REPORTS] = (at, way);
        self.count += 1;
    }

    fn last(&self) -> (Instant, f64) {
        self.reports[(self.count - 1) % MOST_REPORTS]
    }

    /// Shifts the value's origin: the same place is `by` more from now on.
    pub fn shift_origin(&mut self, by: f64) {
        self.from += by;
        self.range = (self.range.0 + by, self.range.1 + by);
    }

    /// The value in the frame shown at `present`.
    pub fn at(&self, present: Instant) -> f64 {
        let (last, way) = self.last();
        let since = (present - last).max(Span::ZERO);
        let left = 1.0 - (since - FORETOLD).as_seconds_f64() / RETURN.as_seconds_f64();
        let foretold = self.tracked.predict(last + since.min(FORETOLD)).map_or(way, |predicted| predicted.x);
        let way = way + (foretold - way).clamp(-REACH, REACH) * left.clamp(0.0, 1.0);
        (self.from + way * self.per_pixel).clamp(self.range.0, self.range.1)
    }

    /// When the value comes to rest without further reports.
    pub fn settled_by(&self) -> Instant {
        self.last().0 + FORETOLD + RETURN
    }

    /// The velocity, in its own unit per second, if it is released at `at`.
    pub fn velocity(&self, at: Instant) -> f64 {
        let (last, way) = self.last();
        if at - last > STILL {
            return 0.0;
        }
        let kept = self.count.min(MOST_REPORTS);
        let reports = (1..=kept).map(|back| self.reports[(self.count - back) % MOST_REPORTS]);
        let first = reports.take_while(|(when, _)| last - *when <= LATELY).last().unwrap_or((last, way));
        let seconds = (last - first.0).as_seconds_f64();
        if seconds <= 0.0 { 0.0 } else { (way - first.1) / seconds * self.per_pixel }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYWHERE: (f64, f64) = (-1e9, 1e9);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + millis * 1_000_000)
    }

    /// A hand that moves `speed` pixels a millisecond, and reports every 8 ms until `end`.
    fn pulled(speed: f64, per_pixel: f64, range: (f64, f64), end: u64) -> DraggedValue {
        let mut pulled = DraggedValue::new(at(0), 5.0, per_pixel, range);
        (1..=end / 8).for_each(|report| pulled.moved(at(report * 8), 8.0 * speed));
        pulled
    }

    #[test]
    fn it_is_where_the_hand_will_be_and_comes_back_when_that_stands_still() {
        let pulled = pulled(0.5, 0.1, EVERYWHERE, 160);
        for (present, way) in [(160, 80.0), (176, 88.0), (184, 92.0), (192, 86.0)] {
            assert!((pulled.at(at(present)) - (5.0 + way * 0.1)).abs() < 1e-6, "{present}");
        }
        assert!(pulled.settled_by() == at(200) && pulled.at(at(230)) == 13.0);
        let course: Vec<f64> = (160..230).map(|present| pulled.at(at(present))).collect();
        assert!(course.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.1), "without a jump: {course:?}");
    }

    #[test]
    fn it_is_let_go_as_fast_as_it_was_lately() {
        let mut pulled = pulled(0.5, 0.1, EVERYWHERE, 160);
        assert!((pulled.velocity(at(165)) - 50.0).abs() < 1e-6);
        assert_eq!(pulled.velocity(at(300)), 0.0, "it stood still before that");
        (1..=20).for_each(|report| pulled.moved(at(160 + report * 8), -4.0));
        assert!((pulled.velocity(at(320)) + 50.0).abs() < 1e-6, "not as fast as it was long before");
        assert_eq!(DraggedValue::new(at(0), 0.0, 1.0, EVERYWHERE).velocity(at(0)), 0.0);
    }

    #[test]
    fn it_is_never_foretold_further_than_a_finger_hides() {
        let pulled = pulled(4.0, 1.0, EVERYWHERE, 160);
        let furthest = (160..230).map(|present| pulled.at(at(present))).fold(0.0, f64::max);
        assert_eq!(furthest, 5.0 + 640.0 + REACH);
    }

    #[test]
    fn it_stays_in_its_range_and_can_be_called_otherwise() {
        let mut pulled = pulled(0.5, 0.1, (4.0, 6.0), 160);
        assert_eq!(pulled.at(at(170)), 6.0);
        pulled.shift_origin(-3.0);
        assert_eq!(pulled.at(at(170)), 3.0);
    }

    /// A finger dragged along a touch screen and back: microseconds, two positions, and the kind of event.
    const RECORDED: &str = include_str!("../../../../tests/data/input/touch_atmel_drag.csv");

    #[test]
    fn it_stays_under_a_recorded_finger_at_every_refresh() {
        // Scaled by three, because the recorded screen is small: 1.3 pixels a millisecond.
        let reports: Vec<(u64, f64)> = RECORDED
            .lines()
            .skip(1)
            .map(|line| {
                let mut fields = line.split(',').map(|field| field.parse::<f64>().unwrap_or_default());
                let micros = fields.next().unwrap() as u64;
                (micros, -3.0 * fields.nth(1).unwrap())
            })
            .take_while(|(micros, _)| *micros < 560_000)
            .collect();
        let moment = |micros: u64| Instant::from_nanos(1_000_000_000 + micros * 1_000);
        let finger = |micros: u64| {
            let next = reports.iter().position(|(at, _)| *at >= micros).unwrap();
            let ((from, a), (to, b)) = (reports[next - 1], reports[next]);
            a + (b - a) * (micros - from) as f64 / (to - from) as f64
        };
        // A latch 5 ms before each refresh at 60 Hz, once there are enough reports to predict.
        for present in (180_000..reports.last().unwrap().0).step_by(16_667) {
            let known = reports.iter().take_while(|(at, _)| at + 5_000 <= present);
            let mut pulled: Option<(DraggedValue, f64)> = None;
            for (at, position) in known {
                match &mut pulled {
                    Some((pulled, last)) => pulled.moved(moment(*at), position - std::mem::replace(last, *position)),
                    None => pulled = Some((DraggedValue::new(moment(*at), *position, 1.0, EVERYWHERE), *position)),
                }
            }
            let (pulled, last) = pulled.unwrap();
            let off = pulled.at(moment(present)) - finger(present);
            assert!(off.abs() < 8.0, "{off} px off at {present}, {} without foretelling", last - finger(present));
        }
    }
}
