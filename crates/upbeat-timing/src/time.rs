//! Points in time and lengths of time, in nanoseconds of one monotonic clock.
//!
//! [`Instant`] is a point on `CLOCK_MONOTONIC` (the clock of `wp_presentation` and of DRM timestamps) or on a simulated
//! clock; [`Span`] is the signed distance between two such points. They are not [`std::time::Duration`], so that a
//! relative time can never be passed where an absolute time is meant.
//!
//! Only [`MonotonicClock`] reads the system's clock. The timing core never does: `now` is passed in.

use std::cell::Cell;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A point in time: nanoseconds since the epoch of the clock in use.
///
/// Serialised as that number.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(u64);

/// A signed length of time in nanoseconds. Serialised as that number.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Span(i64);

impl Instant {
    /// The clock's epoch. DRM drivers without usable timestamps report it.
    pub const ZERO: Instant = Instant(0);
    /// A point that is never reached.
    pub const MAX: Instant = Instant(u64::MAX);

    /// The point `nanos` nanoseconds after the epoch.
    pub const fn from_nanos(nanos: u64) -> Self {
        Instant(nanos)
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the epoch, truncated to 32 bits as Wayland's event times are.
    pub const fn as_wayland_millis(self) -> u32 {
        (self.0 / 1_000_000) as u32
    }

    /// Seconds since the epoch, as their high and low 32 bits, and nanoseconds, as in Wayland's newer protocols.
    pub const fn as_wayland_parts(self) -> (u32, u32, u32) {
        let (seconds, nanos) = (self.0 / NANOS_PER_SECOND as u64, self.0 % NANOS_PER_SECOND as u64);
        ((seconds >> 32) as u32, seconds as u32, nanos as u32)
    }

    /// Whole microseconds since the epoch.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// The time since the epoch as the standard library's type.
    pub const fn since_epoch(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The point that lies `since_epoch` after the epoch; saturates after 584 years.
    pub const fn from_epoch(since_epoch: Duration) -> Self {
        let nanos = since_epoch.as_nanos();
        Instant(if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 })
    }

    const fn offset(self, nanos: i64) -> Instant {
        Instant(self.0.saturating_add_signed(nanos))
    }

    /// The distance from `earlier` to `self`; negative when `earlier` lies later. Saturates.
    pub const fn since(self, earlier: Instant) -> Span {
        let (distance, is_before) = (self.0.abs_diff(earlier.0), self.0 < earlier.0);
        match (distance > i64::MAX as u64, is_before) {
            (false, false) => Span(distance as i64),
            (false, true) => Span(-(distance as i64)),
            (true, false) => Span(i64::MAX),
            (true, true) => Span(i64::MIN),
        }
    }
}

impl Span {
    /// A span of length zero.
    pub const ZERO: Span = Span(0);
    /// The longest span that can be represented.
    pub const MAX: Span = Span(i64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Span(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Span(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Span(millis.saturating_mul(1_000_000))
    }

    /// A span of `seconds` seconds.
    pub const fn from_seconds(seconds: i64) -> Self {
        Span(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// A span of a number of milliseconds, rounded to the nanosecond.
    pub fn from_millis_f64(millis: f64) -> Self {
        Span((millis * 1e6).round() as i64)
    }

    /// The refresh interval of a rate in millihertz (as `wl_output.mode` states it); zero for a rate of zero.
    pub const fn from_millihertz(millihertz: u32) -> Self {
        if millihertz == 0 {
            Span(0)
        } else {
            Span((1_000 * NANOS_PER_SECOND + millihertz as i64 / 2) / millihertz as i64)
        }
    }

    /// How often the span fits into a second, in thousandths, rounded; 0 for spans of no length.
    pub const fn to_millihertz(self) -> u32 {
        if self.0 <= 0 {
            return 0;
        }
        let rate = (1_000 * NANOS_PER_SECOND + self.0 / 2) / self.0;
        if rate > u32::MAX as i64 { u32::MAX } else { rate as u32 }
    }

    /// The length in nanoseconds, negative for the past.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Milliseconds as a float: for reports, never for decisions.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds as a float: for reports, never for decisions.
    pub fn as_seconds_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The rate in millihertz of this refresh interval; zero for an empty or negative span.
    pub const fn as_millihertz(self) -> u32 {
        if self.0 <= 0 { 0 } else { ((1_000 * NANOS_PER_SECOND + self.0 / 2) / self.0) as u32 }
    }

    /// The standard library's type; a negative span becomes zero.
    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(if self.0 < 0 { 0 } else { self.0 as u64 })
    }

    /// From the standard library's type; saturates.
    pub const fn from_duration(duration: Duration) -> Self {
        let nanos = duration.as_nanos();
        Span(if nanos > i64::MAX as u128 { i64::MAX } else { nanos as i64 })
    }

    /// The distance without its sign.
    pub const fn abs(self) -> Self {
        Span(self.0.saturating_abs())
    }

    /// Whether the span is negative, so that it points to the past.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// `self` scaled by `numerator / denominator`, computed without overflow and rounded down.
    pub const fn scale(self, numerator: i64, denominator: i64) -> Self {
        // The product nearly always fits, and a 128-bit division costs ten times as much as a 64-bit division.
        if let Some(product) = self.0.checked_mul(numerator) {
            return Span(product.div_euclid(denominator));
        }
        Span((self.0 as i128 * numerator as i128).div_euclid(denominator as i128) as i64)
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    fn add(self, span: Span) -> Instant {
        self.offset(span.0)
    }
}

impl Sub<Span> for Instant {
    type Output = Instant;
    fn sub(self, span: Span) -> Instant {
        self.offset(span.0.saturating_neg())
    }
}

impl Sub for Instant {
    type Output = Span;
    fn sub(self, earlier: Instant) -> Span {
        self.since(earlier)
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl SubAssign<Span> for Instant {
    fn sub_assign(&mut self, span: Span) {
        *self = *self - span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(self.0.saturating_neg())
    }
}

impl Mul<i64> for Span {
    type Output = Span;
    fn mul(self, factor: i64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Div<i64> for Span {
    type Output = Span;
    fn div(self, divisor: i64) -> Span {
        Span(self.0 / divisor)
    }
}

impl std::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Instant::MAX {
            return f.write_str("never");
        }
        write!(f, "{}.{:06}ms", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}ms", self.as_millis_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A source of the present time. The timing core takes `now` as an argument instead.
pub trait Clock {
    /// The present moment on this clock.
    fn now(&self) -> Instant;
}

/// `CLOCK_MONOTONIC`: the clock of vblank timestamps, of `wp_presentation` and of input events.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> Instant {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Instant(time.tv_sec as u64 * NANOS_PER_SECOND as u64 + time.tv_nsec as u64)
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct SimulatedClock(Cell<Instant>);

impl SimulatedClock {
    /// A clock that shows `start`.
    pub fn starting_at(start: Instant) -> Self {
        SimulatedClock(Cell::new(start))
    }

    /// Moves the clock to `to`, backwards too (a suspend or a broken driver in a test).
    pub fn set(&self, to: Instant) {
        self.0.set(to);
    }

    /// Moves the clock by `span`.
    pub fn advance(&self, span: Span) {
        self.0.set(self.0.get() + span);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Instant {
        self.0.get()
    }
}

/// The only clock that a session reads: the system's clock, or a simulated clock that a test moves, so that a test of
/// ten minutes takes only as long as its work.
#[derive(Clone, Debug, Default)]
pub struct SessionClock(Option<Rc<SimulatedClock>>);

impl SessionClock {
    /// A clock that follows `clock`.
    pub const fn simulated(clock: Rc<SimulatedClock>) -> Self {
        SessionClock(Some(clock))
    }
}

impl Clock for SessionClock {
    fn now(&self) -> Instant {
        self.0.as_ref().map_or_else(|| MonotonicClock.now(), |clock| clock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_rate_and_its_interval_are_inverse() {
        for millihertz in [30_000, 59_940, 60_000, 90_000, 119_880, 144_000, 240_000, 1_000_000] {
            assert_eq!(Span::from_millihertz(millihertz).as_millihertz(), millihertz);
        }
        assert_eq!(Span::from_millihertz(0), Span::ZERO);
        assert_eq!(Span::ZERO.as_millihertz(), 0);
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(Instant::ZERO - Span::from_seconds(1), Instant::ZERO);
        assert_eq!(Instant::MAX + Span::from_seconds(1), Instant::MAX);
        assert_eq!(Instant::ZERO - Instant::MAX, Span(i64::MIN));
        assert_eq!(Instant::MAX - Instant::ZERO, Span::MAX);
        assert_eq!(-Span(i64::MIN), Span::MAX);
    }

    #[test]
    fn a_session_reads_the_clock_that_it_is_given() {
        let hand = Rc::new(SimulatedClock::starting_at(Instant(5)));
        let clock = SessionClock::simulated(hand.clone());
        hand.advance(Span(2));
        assert_eq!(clock.now(), Instant(7));
        let before = MonotonicClock.now();
        assert!(SessionClock::default().now() >= before);
    }

    #[test]
    fn the_monotonic_clock_does_not_run_backwards() {
        let first = MonotonicClock.now();
        assert!(MonotonicClock.now() >= first);
    }
}
