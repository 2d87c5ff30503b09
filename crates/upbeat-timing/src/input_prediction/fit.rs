//! Least-squares fits of a line and of a parabola to the last samples.

use std::marker::PhantomData;

use super::{PositionSample, Predictor};
use crate::defaults::{ACCELERATION_HORIZON, LINEAR_WINDOW, QUADRATIC_WINDOW};
use crate::time::{Instant, Span};

/// The most samples that a fit uses.
const MOST_SAMPLES: usize = 24;
/// Without a sample for this long the hand rests, and so does the prediction. Devices report only motion.
const RESTING: Span = Span::from_millis(40);

/// The last samples within a window of time, oldest first.
#[derive(Clone, Debug)]
struct SampleHistory {
    samples: [PositionSample; MOST_SAMPLES],
    len: usize,
    window: Span,
}

impl SampleHistory {
    const fn new(window: Span) -> Self {
        const NONE: PositionSample = PositionSample { at: Instant::ZERO, x: 0.0, y: 0.0 };
        SampleHistory { samples: [NONE; MOST_SAMPLES], len: 0, window }
    }

    fn push(&mut self, sample: PositionSample) {
        if self.last().is_some_and(|last| sample.at <= last.at) {
            self.len -= 1;
        }
        if self.last().is_some_and(|last| sample.at - last.at > RESTING) {
            // Moving again after a rest: older positions mean nothing.
            let last = self.samples[self.len - 1];
            self.samples[0] = PositionSample { at: sample.at - RESTING / 4, ..last };
            self.len = 1;
        }
        let oldest = sample.at - self.window;
        let old = self.samples[..self.len].iter().take_while(|sample| sample.at < oldest).count();
        let drop = old.max((self.len + 1).saturating_sub(MOST_SAMPLES));
        self.samples.copy_within(drop..self.len, 0);
        self.len -= drop;
        self.samples[self.len] = sample;
        self.len += 1;
    }

    fn last(&self) -> Option<PositionSample> {
        self.samples[..self.len].last().copied()
    }

    /// Sums of powers of time (seconds before the last sample, so negative) and of their products with positions.
    fn moments(&self, origin: PositionSample) -> PowerSums {
        let mut sums = PowerSums { count: self.len as f64, ..PowerSums::default() };
        for sample in &self.samples[..self.len] {
            let t = (sample.at - origin.at).as_seconds_f64();
            let (x, y) = (sample.x - origin.x, sample.y - origin.y);
            sums.t1 += t;
            sums.t2 += t * t;
            sums.t3 += t * t * t;
            sums.t4 += t * t * t * t;
            sums.x = [sums.x[0] + x, sums.x[1] + x * t, sums.x[2] + x * t * t];
            sums.y = [sums.y[0] + y, sums.y[1] + y * t, sums.y[2] + y * t * t];
        }
        sums
    }
}

/// Sums over samples of powers of time, and of their products with positions.
#[derive(Clone, Copy, Debug, Default)]
pub struct PowerSums {
    count: f64,
    t1: f64,
    t2: f64,
    t3: f64,
    t4: f64,
    x: [f64; 3],
    y: [f64; 3],
}

impl PowerSums {
    /// The slope of the line through the points; `None` if all lie at one moment.
    fn slope(&self, axis: &[f64; 3]) -> Option<f64> {
        let determinant = self.count * self.t2 - self.t1 * self.t1;
        (determinant > 1e-12).then(|| (self.count * axis[1] - self.t1 * axis[0]) / determinant)
    }

    /// Velocity and half the acceleration at the origin of the parabola through the points, by Cramer's rule.
    fn parabola(&self, axis: &[f64; 3]) -> Option<(f64, f64)> {
        let PowerSums { count: n, t1, t2, t3, t4, .. } = *self;
        let determinant = n * (t2 * t4 - t3 * t3) - t1 * (t1 * t4 - t3 * t2) + t2 * (t1 * t3 - t2 * t2);
        // The scale of the determinant is n · t² · t⁴: compare with that instead of zero.
        if self.count < 4.0 || determinant <= 1e-6 * n * t2 * t4 {
            return None;
        }
        let [a, b, c] = *axis;
        let velocity = n * (b * t4 - t3 * c) - a * (t1 * t4 - t3 * t2) + t2 * (t1 * c - b * t2);
        let bend = n * (t2 * c - b * t3) - t1 * (t1 * c - b * t2) + a * (t1 * t3 - t2 * t2);
        Some((velocity / determinant, bend / determinant))
    }
}

/// A shape of motion that is fitted to the last samples.
pub trait FitCurve: Clone + std::fmt::Debug {
    /// The time span that the curve is fitted to.
    const WINDOW: Span;

    /// How far an axis (sums of its positions with powers of time) moves within `horizon` seconds after the last
    /// sample.
    fn advance(sums: &PowerSums, axis: &[f64; 3], horizon: f64) -> f64;
}

/// A straight line (the fit of D-VSync's ZDP, in two dimensions).
#[derive(Clone, Debug)]
pub struct LineCurve;

impl FitCurve for LineCurve {
    const WINDOW: Span = LINEAR_WINDOW;

    fn advance(sums: &PowerSums, axis: &[f64; 3], horizon: f64) -> f64 {
        sums.slope(axis).unwrap_or(0.0) * horizon
    }
}

/// A parabola whose acceleration is followed for 20 ms, and then its velocity.
#[derive(Clone, Debug)]
pub struct ParabolaCurve;

impl FitCurve for ParabolaCurve {
    const WINDOW: Span = QUADRATIC_WINDOW;

    fn advance(sums: &PowerSums, axis: &[f64; 3], horizon: f64) -> f64 {
        let bent = horizon.min(ACCELERATION_HORIZON);
        match sums.parabola(axis) {
            Some((velocity, bend)) => velocity * horizon + bend * bent * (2.0 * horizon - bent),
            None => LineCurve::advance(sums, axis, horizon),
        }
    }
}

/// A curve through the last samples, continued from the newest sample.
#[derive(Clone, Debug)]
pub struct Fit<C> {
    history: SampleHistory,
    curve: PhantomData<C>,
}

/// A line through the last 40 ms.
pub type Linear = Fit<LineCurve>;
/// A parabola through the last 70 ms.
pub type Quadratic = Fit<ParabolaCurve>;

impl<C: FitCurve> Fit<C> {
    /// A predictor without samples.
    pub const fn new() -> Self {
        Fit { history: SampleHistory::new(C::WINDOW), curve: PhantomData }
    }
}

impl<C: FitCurve> Default for Fit<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: FitCurve> Predictor for Fit<C> {
    fn observe(&mut self, sample: PositionSample) {
        self.history.push(sample);
    }

    fn position(&self, at: Instant) -> Option<(f64, f64)> {
        let last = self.history.last()?;
        let sums = self.history.moments(last);
        let horizon = (at - last.at).as_seconds_f64();
        Some((last.x + C::advance(&sums, &sums.x, horizon), last.y + C::advance(&sums, &sums.y, horizon)))
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(predictor: &mut impl Predictor, position: impl Fn(f64) -> (f64, f64)) -> Instant {
        let mut at = Instant::from_nanos(1_000_000_000);
        for index in 0..20 {
            at = Instant::from_nanos(1_000_000_000 + index * 5_000_000);
            let (x, y) = position(index as f64 * 0.005);
            predictor.observe(PositionSample { at, x, y });
        }
        at
    }

    fn assert_near(actual: Option<(f64, f64)>, expected: (f64, f64), within: f64) {
        let (x, y) = actual.unwrap();
        assert!((x - expected.0).abs() < within && (y - expected.1).abs() < within, "{x}, {y} for {expected:?}");
    }

    #[test]
    fn a_line_continues_straight_motion() {
        let mut linear = Linear::new();
        let last = feed(&mut linear, |t| (100.0 + 800.0 * t, 50.0 - 300.0 * t));
        assert_near(linear.position(last + Span::from_millis(16)), (100.0 + 800.0 * 0.111, 50.0 - 300.0 * 0.111), 1e-6);
    }

    #[test]
    fn a_parabola_follows_acceleration_where_a_line_falls_behind() {
        let path = |t: f64| (4_000.0 * t * t, 0.0);
        let (mut line, mut parabola) = (Linear::new(), Quadratic::new());
        feed(&mut line, path);
        let at = feed(&mut parabola, path) + Span::from_millis(16);
        let expected = path(0.111).0;
        assert_near(parabola.position(at), (expected, 0.0), 1e-6);
        assert!(line.position(at).unwrap().0 < expected - 1.0);
    }

    #[test]
    fn after_a_rest_the_old_speed_is_forgotten() {
        let mut linear = Linear::new();
        let last = feed(&mut linear, |t| (1_000.0 * t, 0.0));
        let later = last + Span::from_millis(500);
        linear.observe(PositionSample { at: later, x: 96.0, y: 0.0 });
        let (x, _) = linear.position(later + Span::from_millis(16)).unwrap();
        assert!((96.0..100.0).contains(&x), "{x}");
    }

    #[test]
    fn one_sample_predicts_itself() {
        let mut linear = Quadratic::new();
        assert_eq!(linear.position(Instant::ZERO), None);
        linear.observe(PositionSample { at: Instant::from_nanos(5), x: 3.0, y: 4.0 });
        assert_eq!(linear.position(Instant::from_nanos(50_000_000)), Some((3.0, 4.0)));
    }
}
