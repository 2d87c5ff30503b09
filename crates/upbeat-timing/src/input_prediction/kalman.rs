//! A Kalman filter with constant velocity.

use super::{PositionSample, Predictor};
use crate::time::{Instant, Span};

/// The expected change of a hand's velocity, as a variance per second: a hand that draws goes from 0 to 1000 px/s in
/// about 50 ms.
const PROCESS_NOISE: f64 = 2.0e7;
/// The variance of a reported position (a standard deviation of half a pixel).
const MEASUREMENT_NOISE: f64 = 0.25;
/// The variance of the velocity before the first samples.
const INITIAL_VELOCITY_VARIANCE: f64 = 1.0e6;
/// Without a sample for this long the hand rests.
const RESTING: Span = Span::from_millis(40);

/// Position and velocity of both axes with a shared covariance, since both are measured with the same noise at the same
/// times.
#[derive(Clone, Debug, Default)]
pub struct Kalman {
    state: Option<KalmanState>,
}

#[derive(Clone, Copy, Debug)]
struct KalmanState {
    at: Instant,
    position: [f64; 2],
    velocity: [f64; 2],
    /// Variance of the position, covariance, variance of the velocity.
    covariance: [f64; 3],
}

impl Kalman {
    /// A filter without samples.
    pub const fn new() -> Self {
        Kalman { state: None }
    }

    const fn start(sample: PositionSample) -> KalmanState {
        KalmanState {
            at: sample.at,
            position: [sample.x, sample.y],
            velocity: [0.0; 2],
            covariance: [MEASUREMENT_NOISE, 0.0, INITIAL_VELOCITY_VARIANCE],
        }
    }
}

impl Predictor for Kalman {
    fn observe(&mut self, sample: PositionSample) {
        let Some(mut state) = self.state else {
            self.state = Some(Self::start(sample));
            return;
        };
        let mut elapsed = sample.at - state.at;
        if elapsed > RESTING {
            // After a rest the old velocity means nothing. The hand moved on at an unknown but recent time,
            // so shorten `elapsed`.
            state.velocity = [0.0; 2];
            state.covariance = [MEASUREMENT_NOISE, 0.0, INITIAL_VELOCITY_VARIANCE];
            elapsed = RESTING / 4;
        }
        let dt = elapsed.as_seconds_f64().max(1e-6);
        let [p, c, v] = state.covariance;
        let (p, c, v) = (
            p + 2.0 * c * dt + v * dt * dt + PROCESS_NOISE * dt * dt * dt / 3.0,
            c + v * dt + PROCESS_NOISE * dt * dt / 2.0,
            v + PROCESS_NOISE * dt,
        );
        let (gain_position, gain_velocity) = (p / (p + MEASUREMENT_NOISE), c / (p + MEASUREMENT_NOISE));
        for (axis, measured) in [sample.x, sample.y].into_iter().enumerate() {
            let predicted = state.position[axis] + state.velocity[axis] * dt;
            let innovation = measured - predicted;
            state.position[axis] = predicted + gain_position * innovation;
            state.velocity[axis] += gain_velocity * innovation;
        }
        state.covariance = [(1.0 - gain_position) * p, (1.0 - gain_position) * c, v - gain_velocity * c];
        state.at = sample.at;
        self.state = Some(state);
    }

    fn position(&self, at: Instant) -> Option<(f64, f64)> {
        let state = self.state?;
        let horizon = (at - state.at).as_seconds_f64();
        Some((state.position[0] + state.velocity[0] * horizon, state.position[1] + state.velocity[1] * horizon))
    }

    fn reset(&mut self) {
        self.state = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_learns_the_velocity_and_smooths_the_noise() {
        let mut kalman = Kalman::new();
        let start = 1_000_000_000_u64;
        for index in 0..60_u64 {
            let noise = [0.3, -0.4, 0.1, -0.2, 0.2][index as usize % 5];
            let x = 0.6 * index as f64 * 8.0 + noise;
            kalman.observe(PositionSample { at: Instant::from_nanos(start + index * 8_000_000), x, y: 7.0 });
        }
        let (x, y) = kalman.position(Instant::from_nanos(start + 59 * 8_000_000 + 16_000_000)).unwrap();
        let expected = 0.6 * (59.0 * 8.0 + 16.0);
        assert!((x - expected).abs() < 2.5 && (y - 7.0).abs() < 0.01, "{x} for {expected}, {y}");
    }

    #[test]
    fn a_rest_ends_the_motion() {
        let mut kalman = Kalman::new();
        for index in 0..30_u64 {
            let at = Instant::from_nanos(index * 8_000_000);
            kalman.observe(PositionSample { at, x: 8.0 * index as f64, y: 0.0 });
        }
        let later = Instant::from_nanos(2_000_000_000);
        kalman.observe(PositionSample { at: later, x: 232.0, y: 0.0 });
        let (x, _) = kalman.position(later + Span::from_millis(50)).unwrap();
        assert!((x - 232.0).abs() < 1.0, "{x}");
    }
}
