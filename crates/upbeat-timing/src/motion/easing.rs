//! Easing curves: cubic Béziers from (0, 0) to (1, 1), as in CSS Easing Functions Level 1 (section 2.3).

use super::spring::ShapeError;

/// The precision of the curve's parameter, in shares of the time: far less than a frame of any motion.
const PRECISION: f64 = 1e-9;
/// Newton steps before halving takes over; a well-behaved curve needs four.
const NEWTON_STEPS: u32 = 8;
/// Below this slope of time by parameter a Newton step is not trusted.
const FLAT: f64 = 1e-6;
/// The number of halvings that bring the unit interval below the precision.
const HALVINGS: u32 = 40;
/// How far a curve may overshoot, in either direction, in shares of the way.
const LARGEST_OVERSHOOT: f64 = 2.0;

/// A curve that maps the share of the time to the share of the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicBezier {
    x: Cubic,
    y: Cubic,
    points: [f64; 4],
}

/// `((a·u + b)·u + c)·u`: one coordinate of a Bézier curve whose ends are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cubic {
    a: f64,
    b: f64,
    c: f64,
}

impl Cubic {
    const fn through(first: f64, second: f64) -> Self {
        let c = 3.0 * first;
        let b = 3.0 * (second - first) - c;
        Cubic { a: 1.0 - c - b, b, c }
    }

    fn at(self, u: f64) -> f64 {
        ((self.a * u + self.b) * u + self.c) * u
    }

    fn slope(self, u: f64) -> f64 {
        (3.0 * self.a * u + 2.0 * self.b) * u + self.c
    }
}

impl CubicBezier {
    /// CSS `linear`: the way is proportional to the time.
    pub const LINEAR: CubicBezier = Self::through(0.0, 0.0, 1.0, 1.0);
    /// CSS `ease`: fast start, slow end.
    pub const EASE: CubicBezier = Self::through(0.25, 0.1, 0.25, 1.0);
    /// CSS `ease-in`: starts slowly.
    pub const EASE_IN: CubicBezier = Self::through(0.42, 0.0, 1.0, 1.0);
    /// CSS `ease-out`: ends slowly.
    pub const EASE_OUT: CubicBezier = Self::through(0.0, 0.0, 0.58, 1.0);
    /// CSS `ease-in-out`: slow start and end.
    pub const EASE_IN_OUT: CubicBezier = Self::through(0.42, 0.0, 0.58, 1.0);

    const fn through(x1: f64, y1: f64, x2: f64, y2: f64) -> Self {
        CubicBezier { x: Cubic::through(x1, x2), y: Cubic::through(y1, y2), points: [x1, y1, x2, y2] }
    }

    /// The curve with control points (x1, y1) and (x2, y2). It refuses an x outside 0..=1 (time would run
    /// backwards), a y beyond -2..=3, and a curve that starts or ends infinitely fast, since no velocity could be
    /// kept from it.
    pub fn new(x1: f64, y1: f64, x2: f64, y2: f64) -> Result<Self, ShapeError> {
        let is_time = |x: f64| (0.0..=1.0).contains(&x);
        if !is_time(x1) || !is_time(x2) {
            return Err(ShapeError("expected the curve's x1 and x2 from 0 to 1: time does not run backwards"));
        }
        let is_way = |y: f64| (-LARGEST_OVERSHOOT..=1.0 + LARGEST_OVERSHOOT).contains(&y);
        if !is_way(y1) || !is_way(y2) {
            return Err(ShapeError("expected the curve's y1 and y2 from -2 to 3"));
        }
        let curve = Self::through(x1, y1, x2, y2);
        if !curve.slope(0.0).is_finite() || !curve.slope(1.0).is_finite() {
            return Err(ShapeError(
                "expected a curve that neither starts nor ends infinitely fast: x1 = 0 wants y1 = 0, x2 = 1 wants y2 = 1",
            ));
        }
        Ok(curve)
    }

    /// The control points x1, y1, x2, y2.
    pub const fn points(self) -> [f64; 4] {
        self.points
    }

    /// The share of the way that is done after `share` of the time (0 to 1).
    pub fn at(self, share: f64) -> f64 {
        self.y.at(self.parameter(share))
    }

    /// The slope after `share` of the time: shares of the way per share of the time.
    pub fn slope(self, share: f64) -> f64 {
        let u = self.parameter(share);
        let (dx, dy) = (self.x.slope(u), self.y.slope(u));
        if dx.abs() > FLAT {
            return dy / dx;
        }
        // Both derivatives are zero: the next derivatives decide (de l'Hôpital).
        let (ddx, ddy) = (6.0 * self.x.a * u + 2.0 * self.x.b, 6.0 * self.y.a * u + 2.0 * self.y.b);
        if dy.abs() <= FLAT && ddx.abs() > FLAT {
            ddy / ddx
        } else if dy.abs() <= FLAT {
            self.y.a / self.x.a
        } else {
            f64::INFINITY
        }
    }

    /// The parameter at which `share` of the time is over. It exists, because `x` never falls.
    fn parameter(self, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        let mut u = share;
        for _ in 0..NEWTON_STEPS {
            let error = self.x.at(u) - share;
            if error.abs() < PRECISION {
                return u;
            }
            let slope = self.x.slope(u);
            if slope.abs() < FLAT {
                break;
            }
            u = (u - error / slope).clamp(0.0, 1.0);
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            u = (low + high) / 2.0;
            if self.x.at(u) < share { low = u } else { high = u }
        }
        u
    }
}
