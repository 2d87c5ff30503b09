//! Scripted input: scroll events of fingers and wheels, with their times.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use upbeat_lab::strokes::{self, StrokeError, StrokeRecording};
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_timing::input_prediction::PositionSample;
use upbeat_timing::scroll::{NOTCH_DISTANCE, WHEEL_TURN};
use upbeat_timing::time::{Instant, Span};

/// Time between two reports of fingers at a constant speed: 125 a second, as on many touchpads.
const REPORT: Span = Span::from_millis(8);
/// Fingers that rest this long before they are lifted start no fling.
const HELD: Span = Span::from_millis(80);
/// Time between two notches of a wheel, as fast as people turn it, and the number of notches before a pause.
const NOTCH: Span = Span::from_millis(90);
const NOTCHES: u32 = 8;
/// Pause between two turns of the wheel.
const WHEEL_PAUSE: Span = Span::from_millis(700);
/// Pause after a recorded stroke, so that its fling has come to rest.
const STROKE_PAUSE: Span = Span::from_millis(2_500);
/// Id of the only touch point.
const FINGER: u32 = 0;
/// Lowest speed in pixels per second at which a view moves in each refresh of any usual display.
const MOVES: f64 = 100.0;
/// Longest gap between two samples of a motion that every refresh can show.
const CLOSE: Span = Span::from_millis(20);
/// Time after the beginning of a motion in which some refreshes may not show it yet.
const BEGINS: Span = Span::from_millis(50);

/// Device and motion of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum ScrollInput {
    /// Fingers on a touchpad, at this speed in pixels per second; negative is up.
    Speed(f64),
    /// A wheel, turned by eight notches in a row.
    Wheel,
    /// A recorded finger on a touch screen.
    Touch(PathBuf),
    /// Recorded fingers on a touchpad.
    Touchpad(PathBuf),
}

/// The text is no valid input.
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

/// Input events of a run, with their times since its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ScrollCourse {
    pub events: Vec<(Span, InputEvent)>,
    /// Time from the last event to the end of the run.
    pub end: Span,
    /// Intervals in which each refresh must show the document at a new position.
    pub moving: Vec<(Span, Span)>,
    /// Distance with fingers down, in pixels, in any direction.
    pub way: f64,
    /// Time with fingers down.
    pub lasting: Span,
}

impl ScrollCourse {
    /// The course of an input: `lasting` at a constant speed with a `pause` after each second, or a recording, on a
    /// window of this size.
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
        let mut course = ScrollCourse { end: HELD * 2, ..ScrollCourse::default() };
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
        let mut course = ScrollCourse { end: WHEEL_PAUSE, ..ScrollCourse::default() };
        let mut at = Span::ZERO;
        while at < lasting {
            let from = at;
            for _ in 0..NOTCHES {
                course.events.push((at, InputEvent::Scroll { dx: 0.0, dy: NOTCH_DISTANCE }));
                at += NOTCH;
                course.lasting += NOTCH;
                course.way += WHEEL_TURN;
            }
            // After the last notch the view glides on, faster than a pixel a refresh until the next notch would come.
            course.moving.push((from + BEGINS, at));
            at += WHEEL_PAUSE;
        }
        course
    }

    /// The strokes of a recording, one after another, until `lasting` has passed. On a touch screen a stroke is scaled
    /// and placed so that it stays on the screen.
    fn recorded(recording: &StrokeRecording, lasting: Span, screen: Option<(usize, usize)>) -> Self {
        let mut course = ScrollCourse { end: STROKE_PAUSE, ..ScrollCourse::default() };
        let mut begin = Span::ZERO;
        for stroke in recording.strokes.iter().filter(|stroke| stroke.len() > 2) {
            if begin >= lasting {
                break;
            }
            let last = match screen {
                Some(size) => course.add_touch_stroke(stroke, begin, size),
                None => course.add_touchpad_stroke(stroke, begin),
            };
            begin = last + STROKE_PAUSE;
        }
        course
    }

    fn add_touchpad_stroke(&mut self, stroke: &[PositionSample], begin: Span) -> Span {
        let mut last = begin;
        for (before, sample, dy) in steps(stroke) {
            last = begin + (sample.at - stroke[0].at);
            self.events.push((last, InputEvent::FingersScroll { dx: 0.0, dy }));
            self.add_motion(begin, stroke[0].at, (before.at, sample.at), dy);
        }
        last += Span::from_millis(1);
        self.events.push((last, InputEvent::FingersLift));
        last
    }

    fn add_touch_stroke(&mut self, stroke: &[PositionSample], begin: Span, (width, height): (usize, usize)) -> Span {
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
            self.add_motion(begin, stroke[0].at, (before.at, sample.at), dy * part);
        }
        last += Span::from_millis(1);
        self.events.push((last, InputEvent::TouchUp { finger: FINGER }));
        last
    }

    /// Adds a movement by `dy` between two samples.
    fn add_motion(&mut self, begin: Span, first: Instant, (before, at): (Instant, Instant), dy: f64) {
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

    /// The same course with swapped axes: right instead of down, left instead of up.
    #[must_use]
    pub fn with_swapped_axes(mut self) -> Self {
        for (_, event) in &mut self.events {
            match event {
                InputEvent::FingersScroll { dx, dy } | InputEvent::Scroll { dx, dy } => std::mem::swap(dx, dy),
                InputEvent::TouchDown { x, y, .. } | InputEvent::TouchMove { x, y, .. } => std::mem::swap(x, y),
                _ => {}
            }
        }
        self
    }

    /// Time of each touchpad report since the start, and the distance so far, in pixels down or right.
    pub fn reports(&self) -> impl Iterator<Item = (Span, f64)> + '_ {
        self.events.iter().scan(0.0, |gone, (at, event)| {
            if let InputEvent::FingersScroll { dx, dy } = event {
                *gone += dx + dy;
            }
            Some((*at, *gone))
        })
    }

    /// Start of the course, from the start of its first motion (`ScrollRun::moving`).
    pub fn began(&self, moves: Instant) -> Option<Instant> {
        self.moving.first().map(|(from, _)| moves - *from)
    }

    /// Pixels per second while the fingers are down.
    pub fn speed(&self) -> f64 {
        self.way / self.lasting.as_seconds_f64().max(f64::MIN_POSITIVE)
    }
}

/// Pairs of consecutive samples, and the document's movement between them: along the axis with the longer way.
fn steps(stroke: &[PositionSample]) -> impl Iterator<Item = (PositionSample, PositionSample, f64)> + '_ {
    let range = |along: fn(&PositionSample) -> f64| {
        let at = stroke.iter().map(along);
        at.clone().fold(f64::MIN, f64::max) - at.fold(f64::MAX, f64::min)
    };
    let along: fn(&PositionSample) -> f64 = if range(|at| at.x) > range(|at| at.y) { |at| at.x } else { |at| at.y };
    stroke.windows(2).map(move |pair| (pair[0], pair[1], along(&pair[0]) - along(&pair[1])))
}

fn read(file: &Path) -> Result<StrokeRecording, StrokeError> {
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
    fn a_constant_speed_scrolls_in_stretches_with_pauses() {
        let seconds = Span::from_seconds;
        let course = ScrollCourse::of(&ScrollInput::Speed(1_000.0), seconds(3), Span::ZERO, SIZE).unwrap();
        assert!((course.way - 3_000.0).abs() < 10.0 && course.moving.len() == 1, "{}", course.way);
        assert!((course.speed() - 1_000.0).abs() < 1.0);
        let course = ScrollCourse::of(&ScrollInput::Speed(-100.0), seconds(8), seconds(2), SIZE).unwrap();
        assert_eq!(course.moving.len(), 3);
        assert!((course.way - 300.0).abs() < 4.0, "{}", course.way);
    }

    #[test]
    fn swapped_axes_scroll_as_far_right_as_down() {
        for input in [ScrollInput::Speed(1_000.0), ScrollInput::Wheel] {
            let down = ScrollCourse::of(&input, Span::from_seconds(1), Span::ZERO, SIZE).unwrap();
            let right = down.clone().with_swapped_axes();
            let way = |course: &ScrollCourse| {
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
        let course = ScrollCourse::of(&ScrollInput::Wheel, Span::from_seconds(2), Span::ZERO, SIZE).unwrap();
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
            let course = ScrollCourse::of(&input, Span::from_seconds(60), Span::ZERO, SIZE).unwrap();
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
