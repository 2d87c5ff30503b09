//! What fingers and wheels do, and when.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use upbeat_lab::strokes::{self, Recording, StrokeError};
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_timing::input_prediction::Sample;
use upbeat_timing::scroll::{NOTCH_DISTANCE, WHEEL_TURN};
use upbeat_timing::time::{Instant, Span};

/// How often fingers report where they are at a constant speed: 125 times a second, as many touchpads do.
const REPORT: Span = Span::from_millis(8);
/// Who holds still for so long before the fingers are lifted throws nothing.
const HELD: Span = Span::from_millis(80);
/// Two turns of a wheel, as fast as people turn it, and how often before a pause.
const NOTCH: Span = Span::from_millis(90);
const NOTCHES: u32 = 8;
/// After that the next begins.
const WHEEL_PAUSE: Span = Span::from_millis(700);
/// After a stroke of a recording its fling has come to rest.
const STROKE_PAUSE: Span = Span::from_millis(2_500);
/// A finger of a touch screen.
const FINGER: u32 = 0;
/// From here on a view moves by more than a pixel in each refresh of any usual display, in pixels per second.
const MOVES: f64 = 100.0;
/// Samples that are further apart are no motion that each refresh could show.
const CLOSE: Span = Span::from_millis(20);
/// What comes right after a beginning is not seen in each refresh yet.
const BEGINS: Span = Span::from_millis(50);

/// What scrolls.
#[derive(Clone, Debug, PartialEq)]
pub enum ScrollInput {
    /// Fingers on a touchpad, at this speed in pixels per second; upwards if it is negative.
    Speed(f64),
    /// A wheel, turned eight times in a row.
    Wheel,
    /// A recorded finger on a screen.
    Touch(PathBuf),
    /// Recorded fingers on a touchpad.
    Touchpad(PathBuf),
}

/// Not an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a speed in pixels per second, `wheel`, `touch=FILE` or `touchpad=FILE`, found `{0}`")]
pub struct CourseError(String);

impl FromStr for ScrollInput {
    type Err = CourseError;

    fn from_str(text: &str) -> Result<Self, CourseError> {
        let wrong = || CourseError(text.to_owned());
        match text.split_once('=') {
            Some(("touch", file)) => Ok(ScrollInput::Touch(file.into())),
            Some(("touchpad", file)) => Ok(ScrollInput::Touchpad(file.into())),
            Some(_) => Err(wrong()),
            None if text == "wheel" => Ok(ScrollInput::Wheel),
            None => {
                let speed: f64 = text.parse().map_err(|_| wrong())?;
                let is_meant = speed.is_finite() && (1.0..=100_000.0).contains(&speed.abs());
                if is_meant { Ok(ScrollInput::Speed(speed)) } else { Err(wrong()) }
            }
        }
    }
}

impl fmt::Display for ScrollInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScrollInput::Speed(speed) => write!(f, "{speed}"),
            ScrollInput::Wheel => f.write_str("wheel"),
            ScrollInput::Touch(file) => write!(f, "touch={}", file.display()),
            ScrollInput::Touchpad(file) => write!(f, "touchpad={}", file.display()),
        }
    }
}

/// What is done, each thing so long after the beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Course {
    pub events: Vec<(Span, InputEvent)>,
    /// How long after the last of them it is over.
    pub end: Span,
    /// From when to when each refresh is to show the document elsewhere.
    pub moving: Vec<(Span, Span)>,
    /// How far it goes while the fingers are down, in pixels, whatever the direction.
    pub way: f64,
    /// For how long.
    pub lasting: Span,
}

impl Course {
    /// Of an input: `lasting` of a constant speed with pauses of `pause` after each second, or a recording, on a window of this size.
    ///
    /// # Errors
    /// If a recording cannot be read.
    pub fn of(input: &ScrollInput, lasting: Span, pause: Span, size: (usize, usize)) -> Result<Self, StrokeError> {
        match input {
            ScrollInput::Speed(speed) => Ok(Self::constant(*speed, lasting, pause)),
            ScrollInput::Wheel => Ok(Self::wheel(lasting)),
            ScrollInput::Touch(file) => Ok(Self::recorded(&read(file)?, lasting, Some(size))),
            ScrollInput::Touchpad(file) => Ok(Self::recorded(&read(file)?, lasting, None)),
        }
    }

    fn constant(speed: f64, lasting: Span, pause: Span) -> Self {
        let mut course = Course { end: HELD * 2, ..Course::default() };
        let (mut at, stretch) = (Span::ZERO, if pause > Span::ZERO { Span::from_seconds(1) } else { lasting });
        while at < lasting {
            let until = (at + stretch).min(lasting);
            let from = at;
            while at < until {
                at += REPORT;
                let dy = speed * REPORT.as_seconds_f64();
                course.events.push((at, InputEvent::FingersScroll { dx: 0.0, dy }));
                course.way += dy.abs();
            }
            course.moving.push((from + BEGINS, at));
            course.lasting += at - from;
            at += HELD;
            course.events.push((at, InputEvent::FingersLift));
            at += pause;
        }
        course
    }

    fn wheel(lasting: Span) -> Self {
        let mut course = Course { end: WHEEL_PAUSE, ..Course::default() };
        let mut at = Span::ZERO;
        while at < lasting {
            let from = at;
            for _ in 0..NOTCHES {
                course.events.push((at, InputEvent::Scroll { dx: 0.0, dy: NOTCH_DISTANCE }));
                at += NOTCH;
                course.lasting += NOTCH;
                course.way += WHEEL_TURN;
            }
            // What glides after the last is still faster than a pixel a refresh when the next would come.
            course.moving.push((from + BEGINS, at));
            at += WHEEL_PAUSE;
        }
        course
    }

    /// The strokes of a recording, one after another, until so much time has passed. A finger on a screen of this size keeps to
    /// it: what would leave it begins anew.
    fn recorded(recording: &Recording, lasting: Span, screen: Option<(usize, usize)>) -> Self {
        let mut course = Course { end: STROKE_PAUSE, ..Course::default() };
        let mut begin = Span::ZERO;
        for stroke in recording.strokes.iter().filter(|stroke| stroke.len() > 2) {
            if begin >= lasting {
                break;
            }
            let last = match screen {
                Some(size) => course.touched(stroke, begin, size),
                None => course.pulled(stroke, begin),
            };
            begin = last + STROKE_PAUSE;
        }
        course
    }

    fn pulled(&mut self, stroke: &[Sample], begin: Span) -> Span {
        let mut last = begin;
        for (before, sample, dy) in steps(stroke) {
            last = begin + (sample.at - stroke[0].at);
            self.events.push((last, InputEvent::FingersScroll { dx: 0.0, dy }));
            self.note(begin, stroke[0].at, (before.at, sample.at), dy);
        }
        last += Span::from_millis(1);
        self.events.push((last, InputEvent::FingersLift));
        last
    }

    fn touched(&mut self, stroke: &[Sample], begin: Span, (width, height): (usize, usize)) -> Span {
        let (x, margin) = (width as f64 / 2.0, height as f64 / 8.0);
        let reach = height as f64 - 2.0 * margin;
        let span = steps(stroke).scan(0.0, |at: &mut f64, (.., dy)| {
            *at -= dy;
            Some(*at)
        });
        let (least, most) = span.fold((0.0f64, 0.0f64), |(least, most), at| (least.min(at), most.max(at)));
        let part = (reach / (most - least).max(1.0)).min(1.0);
        let mut y = margin - least * part;
        self.events.push((begin, InputEvent::TouchDown { finger: FINGER, x, y }));
        let mut last = begin;
        for (before, sample, dy) in steps(stroke) {
            y -= dy * part;
            last = begin + (sample.at - stroke[0].at);
            self.events.push((last, InputEvent::TouchMove { finger: FINGER, x, y }));
            self.note(begin, stroke[0].at, (before.at, sample.at), dy * part);
        }
        last += Span::from_millis(1);
        self.events.push((last, InputEvent::TouchUp { finger: FINGER }));
        last
    }

    /// It went `dy` between two samples.
    fn note(&mut self, begin: Span, first: Instant, (before, at): (Instant, Instant), dy: f64) {
        let (from, to) = (begin + (before - first), begin + (at - first));
        self.way += dy.abs();
        self.lasting += to - from;
        if to - from > CLOSE || dy.abs() < MOVES * (to - from).as_seconds_f64() {
            return;
        }
        match self.moving.last_mut().filter(|last| last.1 + Span::from_micros(1) >= from) {
            Some(last) => last.1 = to,
            None => self.moving.push((from + BEGINS, to)),
        }
    }

    /// The same right instead of down, and left instead of up.
    #[must_use]
    pub fn turned(mut self) -> Self {
        for (_, event) in &mut self.events {
            match event {
                InputEvent::FingersScroll { dx, dy } | InputEvent::Scroll { dx, dy } => std::mem::swap(dx, dy),
                InputEvent::TouchDown { x, y, .. } | InputEvent::TouchMove { x, y, .. } => std::mem::swap(x, y),
                _ => {}
            }
        }
        self
    }

    /// When fingers on a touchpad said how far they had gone by then, so long after the beginning and in pixels down or right.
    pub fn reports(&self) -> impl Iterator<Item = (Span, f64)> + '_ {
        self.events.iter().scan(0.0, |gone, (at, event)| {
            if let InputEvent::FingersScroll { dx, dy } = event {
                *gone += dx + dy;
            }
            Some((*at, *gone))
        })
    }

    /// When it began, by when it moves first (`ScrollRun::moving`).
    pub fn began(&self, moves: Instant) -> Option<Instant> {
        self.moving.first().map(|(from, _)| moves - *from)
    }

    /// Pixels per second while the fingers are down.
    pub fn speed(&self) -> f64 {
        self.way / self.lasting.as_seconds_f64().max(f64::MIN_POSITIVE)
    }
}

/// Pairs of samples, and how far the document goes down from one to the other: along whichever axis the stroke goes further.
fn steps(stroke: &[Sample]) -> impl Iterator<Item = (Sample, Sample, f64)> + '_ {
    let range = |along: fn(&Sample) -> f64| {
        let at = stroke.iter().map(along);
        at.clone().fold(f64::MIN, f64::max) - at.fold(f64::MAX, f64::min)
    };
    let along: fn(&Sample) -> f64 = if range(|at| at.x) > range(|at| at.y) { |at| at.x } else { |at| at.y };
    stroke.windows(2).map(move |pair| (pair[0], pair[1], along(&pair[0]) - along(&pair[1])))
}

fn read(file: &Path) -> Result<Recording, StrokeError> {
    strokes::read(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (usize, usize) = (640, 480);

    #[test]
    fn inputs_are_read_as_they_are_written() {
        for text in ["1000", "-100", "wheel", "touch=a.csv", "touchpad=b.csv"] {
            assert_eq!(text.parse::<ScrollInput>().unwrap().to_string(), text);
        }
        for text in ["", "fast", "0", "inf", "mouse=a.csv"] {
            assert!(text.parse::<ScrollInput>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_constant_speed_goes_its_way_in_stretches_with_pauses() {
        let seconds = Span::from_seconds;
        let course = Course::of(&ScrollInput::Speed(1_000.0), seconds(3), Span::ZERO, SIZE).unwrap();
        assert!((course.way - 3_000.0).abs() < 10.0 && course.moving.len() == 1, "{}", course.way);
        assert!((course.speed() - 1_000.0).abs() < 1.0);
        let course = Course::of(&ScrollInput::Speed(-100.0), seconds(8), seconds(2), SIZE).unwrap();
        assert_eq!(course.moving.len(), 3);
        assert!((course.way - 300.0).abs() < 4.0, "{}", course.way);
    }

    #[test]
    fn turned_it_goes_as_far_to_the_right_as_it_went_down() {
        for input in [ScrollInput::Speed(1_000.0), ScrollInput::Wheel] {
            let down = Course::of(&input, Span::from_seconds(1), Span::ZERO, SIZE).unwrap();
            let right = down.clone().turned();
            let way = |course: &Course| {
                course.events.iter().fold((0.0, 0.0), |(x, y), (_, event)| match event {
                    InputEvent::FingersScroll { dx, dy } | InputEvent::Scroll { dx, dy } => (x + dx, y + dy),
                    _ => (x, y),
                })
            };
            let ((across, along), (x, y)) = (way(&right), way(&down));
            assert!(y > 0.0 && (across, along) == (y, x), "{input}");
            assert!(right.reports().eq(down.reports()), "{input}");
        }
    }

    #[test]
    fn a_wheel_moves_from_its_first_notch_until_the_next_would_come_and_then_rests() {
        let course = Course::of(&ScrollInput::Wheel, Span::from_seconds(2), Span::ZERO, SIZE).unwrap();
        let millis = |(from, to): &(Span, Span)| (from.as_millis_f64(), to.as_millis_f64());
        let moving: Vec<_> = course.moving.iter().map(millis).collect();
        assert_eq!((course.events.len(), moving), (16, vec![(50.0, 720.0), (1_470.0, 2_140.0)]));
        assert_eq!((course.way, course.lasting), (800.0, NOTCH * 16));
    }

    #[test]
    fn recorded_fingers_stay_on_the_screen_and_are_lifted() {
        for (file, touch) in [("touch_ep0430_scroll2.csv", true), ("touchpad_2fscroll.csv", false)] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/input").join(file);
            let input = if touch { ScrollInput::Touch(path) } else { ScrollInput::Touchpad(path) };
            let course = Course::of(&input, Span::from_seconds(60), Span::ZERO, SIZE).unwrap();
            assert!(course.events.is_sorted_by_key(|(at, _)| *at), "{file}");
            assert!(course.way > 100.0 && !course.moving.is_empty(), "{file}: {}", course.way);
            let (mut down, mut up) = (0, 0);
            for (_, event) in &course.events {
                match event {
                    InputEvent::TouchMove { y, .. } => assert!((0.0..480.0).contains(y), "{file}: {y}"),
                    InputEvent::TouchDown { .. } => down += 1,
                    InputEvent::TouchUp { .. } | InputEvent::FingersLift => up += 1,
                    _ => {}
                }
            }
            assert!(up > 0 && (!touch || down == up), "{file}: {down} {up}");
        }
    }
}
