//! The motion of a view: dragged by fingers, flung, turned by a wheel, or scrolled to an offset. Each is a function of
//! the time at which a frame is shown. Missing content ([`RenderedRegions`](super::RenderedRegions)) holds it up, and
//! it continues later.
//!
//! ```text
//!   drag ─► release ─► fling ─┬─► rest          held up: the rest of the way stays, and its time waits
//!   wheel, scroll_to ─► glide ─┘
//! ```

use super::drag_prediction::DragPrediction;
use super::view_course::{ScrollDistance, ViewCourse};
use crate::motion::spring::SpringShape;
use crate::motion::{Motion, MotionSample, MotionStyle};
use crate::time::{Instant, Span};

/// A motion that is nearer to its goal than this has arrived: half a pixel is invisible.
const TOLERANCE: f64 = 0.5;
/// Fingers that are lifted at a lower speed than this, in pixels per second, cause no fling.
const LEAST_FLING: f64 = 50.0;
/// Fingers that did not move for this long before they were lifted have stopped, at any earlier speed.
const HELD_STILL: Span = Span::from_millis(50);
/// For this long after the last sample, fingers are assumed to continue; after that, less and less, since they probably
/// rest.
const GUESSED: Span = Span::from_millis(33);
/// After this time without a sample the view is at the last position of the fingers.
const GUESS_ENDS: Span = Span::from_millis(100);
/// Swings per second of the spring of a glide: most of the way in a tenth of a second.
const GLIDE_SWINGS: f64 = 4.0;
/// The largest useful drag beyond an end, in bands: it moves the view by nine tenths of a band.
const MOST_BEYOND: f64 = 9.0;
/// The part of its speed that a fling keeps from one millisecond to the next, unless a client sets another.
pub const USUAL_DECELERATION: f64 = 0.998;
/// The distance of one notch of a wheel, in pixels: about three lines of text, as in toolkits.
pub const WHEEL_TURN: f64 = 50.0;
/// The parts of a notch that `wl_pointer.axis_value120` counts: fine wheels turn less than a notch between two events.
pub const NOTCH_PARTS: f64 = 120.0;
/// The distance of a notch of a wheel that does not report parts, in the coordinates of pointer motion, as in libinput.
pub const NOTCH_DISTANCE: f64 = 15.0;

/// The allowed offsets of a view along one axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OffsetRange {
    /// The smallest allowed offset.
    pub first: f64,
    /// The largest allowed offset; not less than `first`.
    pub last: f64,
}

impl OffsetRange {
    /// The allowed offset that is nearest to `offset`.
    pub fn clamp(self, offset: f64) -> f64 {
        offset.clamp(self.first, self.last.max(self.first))
    }

    /// The position of `offset` between the first and the last, from 0 to 1.
    pub fn share(self, offset: f64) -> f64 {
        match self.last - self.first {
            0.0 => 0.0,
            way => ((offset - self.first) / way).clamp(0.0, 1.0),
        }
    }

    /// The shown offset of a view that is dragged to `offset`: beyond its end it follows less and less, up to `band`.
    fn banded(self, offset: f64, band: f64) -> f64 {
        let end = self.clamp(offset);
        let beyond = (offset - end).abs();
        if band <= 0.0 { end } else { end + (band * beyond / (beyond + band)).copysign(offset - end) }
    }

    /// Limits a drag beyond an end, so that further dragging has no effect and need not be dragged back.
    fn bounded(self, offset: f64, band: f64) -> f64 {
        let end = self.clamp(offset);
        end + (offset - end).clamp(-band * MOST_BEYOND, band * MOST_BEYOND)
    }
}

/// The allowed offsets along both axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OffsetRanges {
    /// Left to right, in pixels.
    pub x: OffsetRange,
    /// Top to bottom, in pixels.
    pub y: OffsetRange,
}

impl OffsetRanges {
    /// The same ranges, wider by `by` on all sides.
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        let wider = |range: OffsetRange| OffsetRange { first: range.first - by, last: range.last + by };
        OffsetRanges { x: wider(self.x), y: wider(self.y) }
    }
}

/// Offset and speed of a view in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ViewSample {
    /// Left to right, in pixels.
    pub x: MotionSample,
    /// Top to bottom, in pixels.
    pub y: MotionSample,
}

#[derive(Clone, Copy, Debug)]
enum AxisMotion {
    Rest(f64),
    Fling(Fling),
    Glide(Motion),
}

/// A fling: the remaining distance decays exponentially.
#[derive(Clone, Copy, Debug)]
struct Fling {
    start: Instant,
    from: f64,
    rest: f64,
    /// The decay rate per second.
    decay: f64,
}

impl Fling {
    fn at(&self, present: Instant) -> MotionSample {
        let seconds = present.since(self.start).as_seconds_f64().max(0.0);
        let left = (self.rest - self.from) * (-self.decay * seconds).exp();
        if left.abs() < TOLERANCE {
            return MotionSample::at_rest(self.rest);
        }
        MotionSample { value: self.rest - left, velocity: self.decay * left }
    }
}

impl AxisMotion {
    fn at(&self, present: Instant) -> MotionSample {
        match self {
            AxisMotion::Rest(offset) => MotionSample::at_rest(*offset),
            AxisMotion::Fling(fling) => fling.at(present),
            AxisMotion::Glide(motion) => motion.at(present),
        }
    }

    const fn goal(&self) -> f64 {
        match self {
            AxisMotion::Rest(offset) => *offset,
            AxisMotion::Fling(fling) => fling.rest,
            AxisMotion::Glide(motion) => motion.goal(),
        }
    }

    fn fling(start: Instant, from: f64, speed: f64, keeps: f64, range: OffsetRange) -> Self {
        let decay = -keeps.ln() * 1e3;
        if from != range.clamp(from) {
            return AxisMotion::Glide(Motion::new(glide(), start, from, range.clamp(from), TOLERANCE));
        }
        if speed.abs() < LEAST_FLING || decay <= 0.0 {
            return AxisMotion::Rest(from);
        }
        let rest = from + speed / decay;
        // At the end of the document it stops as anywhere else, only sooner.
        if rest == range.clamp(rest) {
            return AxisMotion::Fling(Fling { start, from, rest, decay });
        }
        AxisMotion::Glide(Motion::carry_on(
            glide(),
            start,
            MotionSample { value: from, velocity: speed },
            range.clamp(rest),
            TOLERANCE,
        ))
    }

    fn glide(&self, start: Instant, goal: f64) -> Self {
        let from = self.at(start);
        if (goal - from.value).abs() < TOLERANCE && from.velocity == 0.0 {
            return AxisMotion::Rest(goal);
        }
        AxisMotion::Glide(Motion::carry_on(glide(), start, from, goal, TOLERANCE))
    }

    /// The same motion restarted at `offset` in the frame shown at `present`, with the rest of its way still to come.
    fn held_up(&self, present: Instant, offset: f64) -> Self {
        match self {
            AxisMotion::Rest(_) => AxisMotion::Rest(offset),
            AxisMotion::Fling(fling) => AxisMotion::Fling(Fling { start: present, from: offset, ..*fling }),
            AxisMotion::Glide(motion) => {
                let from = MotionSample { value: offset, velocity: motion.at(present).velocity };
                AxisMotion::Glide(Motion::carry_on(glide(), present, from, motion.goal(), TOLERANCE))
            }
        }
    }
}

fn glide() -> MotionStyle {
    MotionStyle::Spring(SpringShape::nearest(GLIDE_SWINGS, 1.0))
}

/// A drag by fingers.
#[derive(Clone, Debug)]
struct DragState {
    /// The offset at the start of the drag, plus all motion of the fingers.
    offset: (f64, f64),
    last: Instant,
}

/// The motion of a view along both axes.
#[derive(Clone, Debug)]
pub struct ViewMotion {
    x: AxisMotion,
    y: AxisMotion,
    pull: Option<DragState>,
    aim: DragPrediction,
    /// Whether the fingers' positions are predicted for the time at which a frame is seen.
    predicts: bool,
    /// How far the view can be dragged beyond its ranges.
    band: f64,
    ranges: OffsetRanges,
}

impl ViewMotion {
    /// A view that rests at this offset.
    pub fn new(x: f64, y: f64) -> Self {
        ViewMotion {
            x: AxisMotion::Rest(x),
            y: AxisMotion::Rest(y),
            pull: None,
            aim: DragPrediction::new(),
            predicts: true,
            band: 0.0,
            ranges: OffsetRanges::default(),
        }
    }

    /// Sets whether input is predicted.
    pub const fn set_predicts(&mut self, predicts: bool) {
        self.predicts = predicts;
    }

    /// Sets how far the view can be dragged beyond its allowed offsets; when released, it returns.
    pub const fn set_overscroll(&mut self, band: f64) {
        self.band = band;
    }

    /// Whether the view can be dragged beyond its ends.
    pub const fn can_overscroll(&self) -> bool {
        self.band > 0.0
    }

    /// Sets the allowed offsets. An offset or a goal outside moves to the nearest allowed offset.
    pub fn set_ranges(&mut self, ranges: OffsetRanges, present: Instant) {
        if self.ranges == ranges {
            return;
        }
        self.ranges = ranges;
        for (axis, range) in [(&mut self.x, ranges.x), (&mut self.y, ranges.y)] {
            let goal = range.clamp(axis.goal());
            if goal != axis.goal() {
                *axis = if let AxisMotion::Rest(_) = axis { AxisMotion::Rest(goal) } else { axis.glide(present, goal) };
            }
        }
    }

    /// The position in the frame shown at `present`, unless missing content holds the view up.
    pub fn at(&self, present: Instant) -> ViewSample {
        let Some(pull) = &self.pull else {
            return ViewSample { x: self.x.at(present), y: self.y.at(present) };
        };
        let predicted = if self.predicts { self.aim.at(present) } else { None };
        let still = (present.since(pull.last) - GUESSED).max(Span::ZERO).as_seconds_f64();
        let part = (1.0 - still / (GUESS_ENDS - GUESSED).as_seconds_f64()).max(0.0);
        let (guess_x, guess_y) = predicted.unwrap_or(pull.offset);
        let (x, y) = pull.offset;
        let (x, y) = (x + (guess_x - x) * part, y + (guess_y - y) * part);
        let speed = self.aim.speed();
        ViewSample {
            x: MotionSample { value: self.ranges.x.banded(x, self.band), velocity: speed.x },
            y: MotionSample { value: self.ranges.y.banded(y, self.band), velocity: speed.y },
        }
    }

    /// Whether a later frame may show another offset than the frame shown at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        match &self.pull {
            // A prediction is taken back when the fingers rest.
            Some(pull) => present.since(pull.last) < if self.predicts { GUESS_ENDS } else { HELD_STILL },
            None => [self.x, self.y].iter().any(|axis| axis.at(present) != MotionSample::at_rest(axis.goal())),
        }
    }

    /// Whether fingers drag the view.
    pub const fn is_dragged(&self) -> bool {
        self.pull.is_some()
    }

    /// Fingers moved the view by `by` at `at`; the view was at `shown` when they began.
    pub fn drag(&mut self, at: Instant, by: ScrollDistance, shown: (f64, f64)) {
        if self.pull.is_none() {
            self.aim.begin();
            self.aim.observe(at, shown);
            self.pull = Some(DragState { offset: shown, last: at });
        }
        let Some(pull) = &mut self.pull else { return };
        // A drag beyond the end need not be dragged back.
        let (x, y) = (pull.offset.0 + by.x, pull.offset.1 + by.y);
        pull.offset = (self.ranges.x.bounded(x, self.band), self.ranges.y.bounded(y, self.band));
        pull.last = at;
        let offset = pull.offset;
        self.aim.observe(at, offset);
    }

    /// The fingers were lifted at `at`: the view continues from `shown` at their speed, and keeps the part `keeps`
    /// of its speed from one millisecond to the next.
    pub fn release(&mut self, at: Instant, keeps: f64, shown: (f64, f64)) {
        let Some(pull) = self.pull.take() else { return };
        let speed = if at.since(pull.last) > HELD_STILL { ScrollDistance::default() } else { self.aim.speed() };
        self.x = AxisMotion::fling(at, shown.0, speed.x, keeps, self.ranges.x);
        self.y = AxisMotion::fling(at, shown.1, speed.y, keeps, self.ranges.y);
    }

    /// Moves to an offset from `at` on: animated, or at once.
    pub fn scroll_to(&mut self, at: Instant, x: f64, y: f64, smoothly: bool) {
        self.pull = None;
        let (x, y) = (self.ranges.x.clamp(x), self.ranges.y.clamp(y));
        (self.x, self.y) = if smoothly {
            (self.x.glide(at, x), self.y.glide(at, y))
        } else {
            (AxisMotion::Rest(x), AxisMotion::Rest(y))
        };
    }

    /// The offset at which the motion ends.
    pub fn goal(&self) -> (f64, f64) {
        self.pull.as_ref().map_or((self.x.goal(), self.y.goal()), |pull| pull.offset)
    }

    /// Whether input could move the view further this way.
    pub fn can_go(&self, by: ScrollDistance) -> bool {
        let (x, y) = self.goal();
        let room = |offset: f64, by: f64, range: OffsetRange| by != 0.0 && range.clamp(offset + by.signum()) != offset;
        room(x, by.x, self.ranges.x) || room(y, by.y, self.ranges.y)
    }

    /// Stops the view at `shown`. A drag continues.
    pub const fn stop(&mut self, shown: (f64, f64)) {
        if self.pull.is_none() {
            (self.x, self.y) = (AxisMotion::Rest(shown.0), AxisMotion::Rest(shown.1));
        }
    }

    /// The frame shown at `present` shows this offset, short of the desired one: the rest of the way is still to come.
    pub fn hold_up(&mut self, present: Instant, x: f64, y: f64) {
        if self.pull.is_some() {
            return;
        }
        let desired = self.at(present);
        if desired.x.value != x {
            self.x = self.x.held_up(present, x);
        }
        if desired.y.value != y {
            self.y = self.y.held_up(present, y);
        }
    }

    /// The motion after the frame shown at `present`.
    pub fn ongoing_course(&self, present: Instant) -> OngoingCourse {
        let pull = self.pull.as_ref().filter(|pull| present.since(pull.last) < HELD_STILL);
        let speed = pull.map(|_| self.aim.speed());
        let is_pulled = self.pull.is_some();
        let place = self.at(present);
        let axis = |axis: AxisMotion, at: f64| if is_pulled { AxisMotion::Rest(at) } else { axis };
        OngoingCourse {
            x: axis(self.x, place.x.value),
            y: axis(self.y, place.y.value),
            speed: speed.unwrap_or_default(),
            present,
            from: (place.x.value, place.y.value),
        }
    }
}

/// The future course of a view.
#[derive(Clone, Copy, Debug)]
pub struct OngoingCourse {
    x: AxisMotion,
    y: AxisMotion,
    speed: ScrollDistance,
    present: Instant,
    /// The offset at `present`.
    from: (f64, f64),
}

impl ViewCourse for OngoingCourse {
    fn distance_after(&self, after: Span) -> ScrollDistance {
        let seconds = after.as_seconds_f64();
        let at = self.present + after;
        let along = |axis: AxisMotion, speed: f64, from: f64| speed * seconds + axis.at(at).value - from;
        ScrollDistance { x: along(self.x, self.speed.x, self.from.0), y: along(self.y, self.speed.y, self.from.1) }
    }

    fn distance_to_rest(&self) -> ScrollDistance {
        let along = |axis: AxisMotion, speed: f64, from: f64| match speed {
            0.0 => axis.goal() - from,
            speed => f64::INFINITY.copysign(speed),
        };
        ScrollDistance { x: along(self.x, self.speed.x, self.from.0), y: along(self.y, self.speed.y, self.from.1) }
    }
}

#[cfg(test)]
mod tests;
