//! A damped spring in closed form, for any damping ratio.
//!
//! With `ω` the undamped angular frequency, `ζ` the damping ratio and `y = x − goal`, the motion obeys
//! `y″ + 2ζω·y′ + ω²·y = 0`. With `σ = ζω` and `κ = ω²(ζ² − 1)` every case is
//!
//! ```text
//!   y(t) = a·C(t) + b·S(t)           a = y(0),  b = y′(0) + σ·a
//!   κ < 0  swings past:  C = e^(−σt)·cos √−κ t      S = e^(−σt)·sin(√−κ t) / √−κ
//!   κ = 0  critical:     C = e^(−σt)                S = e^(−σt)·t
//!   κ > 0  creeps:       C = e^(−σt)·cosh √κ t      S = e^(−σt)·sinh(√κ t) / √κ
//! ```
//!
//! Since `C′ = −σC + κS` and `S′ = C − σS`, velocity needs no separate cases.

use super::MotionSample;
use crate::time::{Instant, Span};

/// Below this share of `ω`, `√|κ|` counts as zero: there the three cases agree to more digits than a pixel needs, but
/// the quotients lose precision.
const CRITICAL_BAND: f64 = 1e-6;
/// How often the interval that contains the settling time is halved: to about a millionth.
const HALVINGS: u32 = 20;
/// How often that interval is doubled before the search gives up. 40 doublings of a time constant are longer than any
/// session.
const DOUBLINGS: u32 = 40;

/// The fault of a spring or a curve, as a sentence without its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(pub &'static str);

/// The parameters of a spring, independent of the value that it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringShape {
    /// `ω` in radians per second.
    frequency: f64,
    /// `ζ`: below 1 the spring overshoots its goal; at 1 it is the fastest without overshoot; above 1 it creeps.
    damping: f64,
}

impl SpringShape {
    /// The slowest spring, in undamped swings per second.
    pub const SLOWEST: f64 = 0.5;
    /// The fastest spring, in undamped swings per second.
    pub const FASTEST: f64 = 30.0;
    /// The smallest damping ratio.
    pub const LEAST_DAMPED: f64 = 0.1;
    /// The largest damping ratio.
    pub const MOST_DAMPED: f64 = 3.0;

    /// A spring of `swings` undamped swings per second with damping ratio `damping`. It refuses values outside
    /// [`SLOWEST`](Self::SLOWEST)..=[`FASTEST`](Self::FASTEST) and
    /// [`LEAST_DAMPED`](Self::LEAST_DAMPED)..=[`MOST_DAMPED`](Self::MOST_DAMPED), where motion would take minutes
    /// or end within a refresh.
    pub fn new(swings: f64, damping: f64) -> Result<Self, ShapeError> {
        if !(Self::SLOWEST..=Self::FASTEST).contains(&swings) {
            return Err(ShapeError("expected a spring's frequency from 0.5 to 30 Hz, such as 4.0"));
        }
        if !(Self::LEAST_DAMPED..=Self::MOST_DAMPED).contains(&damping) {
            return Err(ShapeError("expected a spring's damping ratio from 0.1 to 3, such as 1.0"));
        }
        Ok(Self::nearest(swings, damping))
    }

    /// Like [`new`](Self::new), but clamps the values to their limits.
    pub fn nearest(swings: f64, damping: f64) -> Self {
        let swings = swings.clamp(Self::SLOWEST, Self::FASTEST);
        let damping = damping.clamp(Self::LEAST_DAMPED, Self::MOST_DAMPED);
        SpringShape { frequency: swings * std::f64::consts::TAU, damping }
    }

    fn sigma(self) -> f64 {
        self.damping * self.frequency
    }

    fn kappa(self) -> f64 {
        self.frequency * self.frequency * (self.damping * self.damping - 1.0)
    }

    /// `√|κ|`, or zero within [`CRITICAL_BAND`].
    fn root(self) -> f64 {
        let root = self.kappa().abs().sqrt();
        if root < CRITICAL_BAND * self.frequency { 0.0 } else { root }
    }

    /// `C(t)` and `S(t)` of the module's formula.
    fn basis(self, t: f64) -> (f64, f64) {
        let (sigma, root) = (self.sigma(), self.root());
        if root == 0.0 {
            let decay = (-sigma * t).exp();
            (decay, decay * t)
        } else if self.damping < 1.0 {
            let decay = (-sigma * t).exp();
            (decay * (root * t).cos(), decay * (root * t).sin() / root)
        } else {
            // As two decays: cosh alone would overflow.
            let (slow, fast) = (((root - sigma) * t).exp(), ((-root - sigma) * t).exp());
            ((slow + fast) / 2.0, (slow - fast) / (2.0 * root))
        }
    }

    /// The decay rate of the remaining distance, per second.
    fn rate(self) -> f64 {
        if self.damping > 1.0 { self.sigma() - self.root() } else { self.sigma() }
    }
}

/// A spring's motion towards a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spring {
    shape: SpringShape,
    start: Instant,
    end: Instant,
    goal: f64,
    /// `a` of the module's formula.
    offset: f64,
    /// `b` of the module's formula.
    push: f64,
}

impl Spring {
    /// From `from`, in the frame shown at `start`, to `goal`; settled once the value stays within `tolerance` of it.
    pub(super) fn new(shape: SpringShape, start: Instant, from: MotionSample, goal: f64, tolerance: f64) -> Self {
        let offset = from.value - goal;
        let push = from.velocity + shape.sigma() * offset;
        let seconds = settling_time(shape, offset, push, tolerance);
        Spring { shape, start, end: start + Span::from_millis_f64(seconds * 1e3), goal, offset, push }
    }

    pub(super) fn at(&self, present: Instant) -> MotionSample {
        if present >= self.end {
            return MotionSample::at_rest(self.goal);
        }
        let t = present.since(self.start).as_seconds_f64().max(0.0);
        let (c, s) = self.shape.basis(t);
        let (sigma, kappa) = (self.shape.sigma(), self.shape.kappa());
        MotionSample {
            value: self.goal + self.offset * c + self.push * s,
            velocity: self.offset * (kappa * s - sigma * c) + self.push * (c - sigma * s),
        }
    }

    pub(super) const fn goal(&self) -> f64 {
        self.goal
    }

    pub(super) const fn settled_by(&self) -> Instant {
        self.end
    }
}

/// After how many seconds the spring stays within `tolerance`.
///
/// `|y(t)| ≤ (|a| + |b|·t)·e^(−λt)` in all three cases, with `λ` the rate of decay. From one time constant on that
/// bound only falls, so the time at which it passes the tolerance is found by halving.
fn settling_time(shape: SpringShape, offset: f64, push: f64, tolerance: f64) -> f64 {
    let rate = shape.rate();
    let bound = |t: f64| (offset.abs() + push.abs() * t) * (-rate * t).exp();
    if offset.abs() <= tolerance && push.abs() <= tolerance * rate {
        return 0.0;
    }
    let mut early = 1.0 / rate;
    if bound(early) <= tolerance {
        return early;
    }
    let mut late = early * 2.0;
    for _ in 0..DOUBLINGS {
        if bound(late) <= tolerance {
            break;
        }
        (early, late) = (late, late * 2.0);
    }
    for _ in 0..HALVINGS {
        let middle = (early + late) / 2.0;
        if bound(middle) <= tolerance { late = middle } else { early = middle }
    }
    late
}
