//! The vsync model: period and phase of a display's refreshes, from presentation timestamps.
//!
//! A line is fitted through the last 6 to 32 timestamps (least squares over refresh numbers, as AOSP's predictor does);
//! D-VSync 5.1 asks for such a model and for its calibration every few frames. Impossible timestamps are refused and
//! counted: zero, in the future, backwards, duplicate, or off the grid. Several in a row that are off the grid *in the
//! same way* mean that the grid moved (a suspend, or another program set a mode): the model starts anew from there. If
//! a display's timestamps are never usable, the model runs on its own: *software vsync*.
//!
//! A panel with variable refresh has no grid: the next refresh is as soon as the panel allows, or when the frame is
//! ready, and the model only remembers the last refresh.

mod rate;

use super::target::RefreshIndex;
use crate::time::{Instant, Span};
pub(crate) use rate::RefreshMode;

/// The number of timestamps that the fit uses.
const SAMPLES: usize = 32;
/// Below this many samples the mode's own period is used.
const MINIMUM_FIT: usize = 6;
/// A timestamp further than this fraction of a period from the grid is an outlier.
const OUTLIER_DIVISOR: i64 = 5;
/// The fitted period stays within this share of the mode's (3 %): clocks are not worse than that.
const PERIOD_TOLERANCE: i64 = 33;
/// After this many refusals in a row the timestamps are unusable, or the grid has moved.
const GIVE_UP_AFTER: u32 = 4;
/// How far two oscillators may drift apart, in parts per million: the error of the phase grows by this while the
/// display is idle.
const DRIFT_PPM: i64 = 20;
/// How far a mode's nominal period may differ from the display's real period, drift included: crystals, and rounded
/// rates.
const CLOCK_PPM: i64 = 100;
/// After this many refreshes without a timestamp a driver may have stopped its clock meanwhile.
const PAUSE: u64 = 60;
/// A longer pause (days) allows no larger error.
const MOST_PAUSED: u64 = 1 << 24;
/// A phase whose error exceeds this fraction of a period is not worth waiting for.
const TRUST_DIVISOR: i64 = 32;
/// A timestamp may lie this far ahead of `now`: drivers stamp the *start of scan-out* from within the blanking.
const FUTURE_TOLERANCE: Span = Span::from_millis(2);

/// Why a timestamp was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampRefusal {
    /// The driver has no timestamps.
    Zero,
    /// The timestamp lies in the future.
    Future,
    /// The timestamp lies before the previous timestamp.
    Backwards,
    /// The timestamp repeats the previous refresh.
    Duplicate,
    /// The timestamp is off the grid by this much.
    Outlier(Span),
}

/// How the model used a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampObservation {
    /// The timestamp belongs to a refresh of the grid.
    Accepted {
        /// The refresh of the timestamp.
        index: RefreshIndex,
        /// Timestamp minus the predicted time.
        error: Span,
    },
    /// The grid moved: the model starts again from this timestamp.
    Moved {
        /// The refresh of the timestamp.
        index: RefreshIndex,
    },
    /// The timestamp was not used.
    Refused {
        /// The refresh nearest to `now` on the model's own grid: most likely the one presented.
        index: RefreshIndex,
        /// Why it was refused.
        reason: TimestampRefusal,
    },
}

impl TimestampObservation {
    /// The refresh of the timestamp; only a guess if it was refused.
    pub const fn index(self) -> RefreshIndex {
        match self {
            TimestampObservation::Accepted { index, .. }
            | TimestampObservation::Moved { index }
            | TimestampObservation::Refused { index, .. } => index,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct RefreshSample {
    index: u64,
    time: Instant,
}

/// Period and phase of one display.
#[derive(Clone, Debug)]
pub struct VsyncModel {
    nominal: Span,
    rate: RefreshMode,
    /// The point that predictions start from: the fitted line at the newest sample.
    anchor: RefreshSample,
    period: Span,
    samples: [RefreshSample; SAMPLES],
    len: usize,
    next: usize,
    /// Root of the mean squared distance of the samples from the line.
    residual: Span,
    refused: u32,
    refused_total: u64,
    /// The last timestamp off the grid, to compare with the next.
    stray: Option<Instant>,
    usable: bool,
}

impl VsyncModel {
    /// A grid of `interval` through `anchor`, which becomes refresh 0.
    pub fn new(interval: Span, anchor: Instant) -> Self {
        let interval = interval.max(Span::from_micros(1));
        VsyncModel {
            nominal: interval,
            rate: RefreshMode::Fixed,
            anchor: RefreshSample { index: 0, time: anchor },
            period: interval,
            samples: [RefreshSample::default(); SAMPLES],
            len: 0,
            next: 0,
            residual: Span::ZERO,
            refused: 0,
            refused_total: 0,
            stray: None,
            usable: true,
        }
    }

    /// The interval between two refreshes; the shortest one on a variable-refresh panel.
    pub const fn interval(&self) -> Span {
        self.period
    }

    /// Whether timestamps are usable. If not, the model runs as software vsync.
    pub const fn is_usable(&self) -> bool {
        self.usable
    }

    /// The total number of refused timestamps.
    pub const fn refused(&self) -> u64 {
        self.refused_total
    }

    /// The possible error of a prediction made now: the scatter of the samples, plus the drift since the newest sample.
    pub fn error(&self, now: Instant) -> Span {
        self.residual + self.drift(now)
    }

    /// How far the display's clock may have drifted since the newest sample.
    fn drift(&self, now: Instant) -> Span {
        (now - self.anchor.time).max(Span::ZERO).scale(DRIFT_PPM, 1_000_000)
    }

    /// Whether the phase is known well enough to wait for a deadline. After a long idle it is not: ask the device
    /// for its last vblank, or compose at once. A variable-refresh panel has no phase, so this is never true for
    /// it.
    pub fn is_trusted(&self, now: Instant) -> bool {
        !self.is_variable() && (self.len > 0 || !self.usable) && self.error(now) < self.period / TRUST_DIVISOR
    }

    /// When refresh `index` happens. On a variable-refresh panel: the earliest useful moment for it.
    pub fn present(&self, index: RefreshIndex) -> Instant {
        let (from, behind) = match &self.rate {
            RefreshMode::Fixed => (self.anchor, self.anchor.index.saturating_sub(index.0)),
            RefreshMode::Variable(panel) => (if index.0 > self.anchor.index { panel.expected } else { self.anchor }, 0),
        };
        let ahead = index.0.saturating_sub(from.index);
        // Called a hundred times in a refresh, hence a 64-bit product, which saturates after centuries.
        let way = |steps: u64| self.period.as_nanos().unsigned_abs().saturating_mul(steps);
        Instant::from_nanos(from.time.as_nanos().saturating_add(way(ahead)).saturating_sub(way(behind)))
    }

    /// The time of the last known refresh.
    pub const fn last(&self) -> Instant {
        self.anchor.time
    }

    /// Checks `time`, the timestamp of a refresh, before it is observed. If it lies off the grid and the drift
    /// since the newest sample can explain that, the phase is forgotten: the timestamp is then the first of a new
    /// grid instead of an outlier.
    pub fn check_drift(&mut self, time: Instant, now: Instant) {
        if self.implausible(time, now).is_some() {
            return;
        }
        let drift = self.drift(time);
        let off = (time - self.present(self.nearest(time))).abs();
        let is_off = off > self.period / OUTLIER_DIVISOR;
        if !self.is_variable() && self.len > 0 && is_off && drift > self.period / TRUST_DIVISOR {
            self.forget_samples();
        }
    }

    /// Whether the grid moved during a pause by more than clocks drift. A fit through the older samples would take
    /// the step for a wrong period.
    fn has_grid_moved(&self, index: RefreshIndex, error: Span) -> bool {
        let paused = index.0.saturating_sub(self.anchor.index);
        let explained = (self.period * paused.min(MOST_PAUSED) as i64).scale(CLOCK_PPM, 1_000_000);
        self.len > 0 && paused >= PAUSE && error.abs() > explained + self.residual * 2
    }

    /// Forgets the samples; the period stays until there are new samples.
    fn forget_samples(&mut self) {
        self.len = 0;
        self.next = 0;
        self.residual = Span::ZERO;
    }

    /// The first refresh at or after `time`.
    pub fn at_or_after(&self, time: Instant) -> RefreshIndex {
        let distance = (time - self.anchor.time).as_nanos();
        let period = self.period.as_nanos();
        let steps = match &self.rate {
            RefreshMode::Fixed => distance.div_euclid(period) + i64::from(distance.rem_euclid(period) != 0),
            RefreshMode::Variable(_) => i64::from(distance > 0),
        };
        RefreshIndex(self.anchor.index.saturating_add_signed(steps))
    }

    /// The refresh nearest to `time`.
    pub fn nearest(&self, time: Instant) -> RefreshIndex {
        if self.is_variable() {
            return self.at_or_after(time);
        }
        let half = self.period.as_nanos() / 2;
        let steps = ((time - self.anchor.time).as_nanos().saturating_add(half)).div_euclid(self.period.as_nanos());
        RefreshIndex(self.anchor.index.saturating_add_signed(steps))
    }

    /// Learns from the timestamp of a presented frame. `sequence_step` is how far the display's counter moved since
    /// the last presented frame, where it has one.
    pub fn observe(&mut self, time: Instant, sequence_step: Option<u64>, now: Instant) -> TimestampObservation {
        if let Some(reason) = self.implausible(time, now) {
            return self.refuse(reason, now);
        }
        if let RefreshMode::Variable(panel) = &mut self.rate {
            self.anchor = RefreshSample { index: self.anchor.index + 1, time };
            panel.expected = RefreshSample { index: self.anchor.index + 1, time: time + self.period };
            self.len = 1;
            return TimestampObservation::Accepted { index: RefreshIndex(self.anchor.index), error: Span::ZERO };
        }
        let index = self.number(time, sequence_step);
        let error = time - self.present(index);
        if self.len > 0 && error.abs() > self.period / OUTLIER_DIVISOR {
            return self.off_grid(time, error, now);
        }
        if self.has_grid_moved(index, error) {
            self.forget_samples();
        }
        self.accept(index, time);
        TimestampObservation::Accepted { index, error }
    }

    /// Whether the time of any refresh is known. If not, the grid is a guess that continues the previous grid.
    pub const fn has_phase(&self) -> bool {
        self.len > 0 || self.is_variable()
    }

    /// The display restarts its refreshes, as when it is switched on. The first timestamp will give the new phase.
    pub fn forget_phase(&mut self, now: Instant) {
        let last = RefreshIndex(self.at_or_after(now).0.saturating_sub(1));
        let time = self.present(last);
        self.restart(last, time.min(now));
    }

    /// The refresh rate changed. Until a timestamp arrives ([`has_phase`](Self::has_phase)), the next refresh after
    /// `now` is assumed one new interval after the last refresh.
    pub fn set_interval(&mut self, interval: Span, now: Instant) {
        self.forget_phase(now);
        self.nominal = interval.max(Span::from_micros(1));
        self.period = self.nominal;
    }

    /// The first timestamp of a grid without a phase, to be [observed](Self::observe) next, belongs to refresh
    /// `index`. The model cannot know the number, but the caller that requested the refresh does. Returns whether
    /// the phase was unknown.
    pub fn learn_phase(&mut self, index: RefreshIndex, time: Instant, now: Instant) -> bool {
        let is_news = !self.has_phase() && self.implausible(time, now).is_none();
        if is_news {
            self.anchor = RefreshSample { index: index.0, time };
        }
        is_news
    }

    /// Sets the phase from a vblank that was read from the device instead of from a presented frame. Used after an
    /// idle or a suspend.
    pub fn synchronise(&mut self, vblank: Instant) {
        let index = self.nearest(vblank).max(RefreshIndex(self.anchor.index));
        self.restart(index, vblank);
        self.len = 1;
        self.next = 1;
        self.samples[0] = RefreshSample { index: index.0, time: vblank };
    }

    fn implausible(&self, time: Instant, now: Instant) -> Option<TimestampRefusal> {
        if time == Instant::ZERO {
            return Some(TimestampRefusal::Zero);
        }
        if time > now + FUTURE_TOLERANCE {
            return Some(TimestampRefusal::Future);
        }
        let last = self.newest()?;
        if time < last.time {
            return Some(TimestampRefusal::Backwards);
        }
        (time - last.time < self.period / 2 && !self.is_variable()).then_some(TimestampRefusal::Duplicate)
    }

    fn newest(&self) -> Option<RefreshSample> {
        (self.len > 0).then(|| self.samples[(self.next + SAMPLES - 1) % SAMPLES])
    }

    /// The refresh number of a timestamp: by the display's own counter if it agrees with the clock to within half a
    /// period.
    fn number(&self, time: Instant, sequence_step: Option<u64>) -> RefreshIndex {
        let by_clock = self.nearest(time);
        let counted = self.newest().zip(sequence_step).map(|(last, step)| RefreshIndex(last.index + step));
        match counted {
            Some(index) if (time - self.present(index)).abs() <= self.period / 2 => index,
            _ => by_clock,
        }
    }

    fn refuse(&mut self, reason: TimestampRefusal, now: Instant) -> TimestampObservation {
        self.refused_total += 1;
        self.refused += 1;
        if self.refused >= GIVE_UP_AFTER {
            self.usable = false;
        }
        TimestampObservation::Refused { index: self.nearest(now), reason }
    }

    /// One stray timestamp is a glitch. A second stray at least a period later that agrees with the first is a new
    /// grid.
    fn off_grid(&mut self, time: Instant, error: Span, now: Instant) -> TimestampObservation {
        let agrees = self.stray.is_some_and(|stray| {
            let off = (time - stray).as_nanos().rem_euclid(self.period.as_nanos());
            off.min(self.period.as_nanos() - off) < self.period.as_nanos() / OUTLIER_DIVISOR
        });
        if agrees || self.refused + 1 >= GIVE_UP_AFTER {
            let index = self.nearest(time).max(RefreshIndex(self.anchor.index + 1));
            self.restart(index, time);
            self.accept(index, time);
            return TimestampObservation::Moved { index };
        }
        self.stray = Some(time);
        self.refused += 1;
        self.refused_total += 1;
        TimestampObservation::Refused { index: self.nearest(now), reason: TimestampRefusal::Outlier(error) }
    }

    fn restart(&mut self, index: RefreshIndex, time: Instant) {
        self.anchor = RefreshSample { index: index.0, time };
        self.period = self.nominal;
        self.len = 0;
        self.next = 0;
        self.residual = Span::ZERO;
        self.refused = 0;
        self.stray = None;
    }

    fn accept(&mut self, index: RefreshIndex, time: Instant) {
        self.samples[self.next] = RefreshSample { index: index.0, time };
        self.next = (self.next + 1) % SAMPLES;
        self.len = (self.len + 1).min(SAMPLES);
        self.refused = 0;
        self.stray = None;
        self.usable = true;
        if self.len < MINIMUM_FIT {
            self.anchor = RefreshSample { index: index.0, time };
        } else {
            self.fit(index.0, time);
        }
    }

    /// Least squares relative to the newest sample, so that the numbers stay small enough for `f64` to be exact.
    fn fit(&mut self, index: u64, time: Instant) {
        let points = self.samples[..self.len]
            .iter()
            .map(|sample| ((sample.index as f64) - (index as f64), (sample.time - time).as_nanos() as f64));
        let n = self.len as f64;
        let (sum_x, sum_y) = points.clone().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
        let (mean_x, mean_y) = (sum_x / n, sum_y / n);
        let (sxx, sxy) = points
            .clone()
            .fold((0.0, 0.0), |(xx, xy), (x, y)| (xx + (x - mean_x) * (x - mean_x), xy + (x - mean_x) * (y - mean_y)));
        if sxx <= 0.0 {
            return;
        }
        let nominal = self.nominal.as_nanos() as f64;
        let tolerance = nominal / PERIOD_TOLERANCE as f64;
        let slope = (sxy / sxx).clamp(nominal - tolerance, nominal + tolerance);
        let intercept = mean_y - slope * mean_x;
        let squares: f64 = points.map(|(x, y)| (y - intercept - slope * x).powi(2)).sum();
        self.period = Span::from_nanos(slope.round() as i64);
        self.anchor = RefreshSample { index, time: time + Span::from_nanos(intercept.round() as i64) };
        self.residual = Span::from_nanos((squares / n).sqrt().round() as i64);
    }
}

#[cfg(test)]
mod tests;
