//! The view's offset at each time of a run, computed from the input with the compositor's physics. Pure.
//!
//! A client does not learn the offsets of a view that the compositor moves. To ask for them would wake it up in each
//! refresh, which is measured.

use super::course::ScrollCourse;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_timing::scroll::{
    NOTCH_DISTANCE, RenderedRegions, ScrollDistance, ScrollRequest, SupplySettings, ViewLatch, ViewMachine, ViewTerms,
    WHEEL_TURN,
};
use upbeat_timing::time::{Instant, Span};

/// Time between two computed offsets: as exact as a refresh at 120 Hz.
const STEP: Span = Span::from_millis(8);
/// Start of the computation, late enough for times before it.
const START: Instant = Instant::from_nanos(1_000_000_000);

/// Offsets of the view along its scroll axis, in pixels of the document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ViewPath {
    /// One offset a [`STEP`], the first at the start of the course.
    offsets: Vec<f64>,
}

impl ViewPath {
    /// The path of a view with these terms that begins at `first` and gets the input of `course`.
    pub fn of(course: &ScrollCourse, terms: &ViewTerms<'_>, first: (i64, i64)) -> Self {
        let along = |(x, y): (f64, f64)| if terms.axes.0 { x } else { y };
        let mut machine = ViewMachine::new(SupplySettings::default());
        let mut shown = (0.0, 0.0);
        machine.handle_request(START, ScrollRequest::To { offset: first, smoothly: false, serial: 1 }, terms, shown);
        let length = course.events.last().map_or(Span::ZERO, |(at, _)| *at) + course.end;
        let (mut events, mut finger, mut offsets) = (course.events.iter().peekable(), None, Vec::new());
        let mut now = Span::ZERO;
        while now <= length {
            while let Some((at, event)) = events.next_if(|(at, _)| *at <= now) {
                if let Some(request) = request_of(event, &mut finger) {
                    machine.handle_request(START + *at, request, terms, shown);
                }
            }
            let present = START + now;
            let latch = ViewLatch { now: present, present, interval: STEP, scale: 1.0 };
            shown = machine.latch(latch, terms, RenderedRegions::of([terms.document]), shown).at.offset;
            offsets.push(along(shown));
            now += STEP;
        }
        ViewPath { offsets }
    }

    /// The offset at a time since the start of the course; before and after the course, its first and last offset.
    pub fn offset(&self, after: Span) -> f64 {
        self.offsets.get(self.index(after)).copied().unwrap_or_default()
    }

    /// Whether the next motion increases the offset, or the last if none follows.
    pub fn goes_on_to_larger(&self, after: Span) -> bool {
        let (before, onward) = self.offsets.split_at(self.index(after).min(self.offsets.len()));
        let here = self.offset(after);
        let next = onward.iter().find(|offset| **offset != here).map(|next| *next > here);
        let last = || before.iter().rev().find(|offset| **offset != here).map(|last| *last < here);
        next.or_else(last).unwrap_or(true)
    }

    fn index(&self, after: Span) -> usize {
        let index = (after.max(Span::ZERO).as_nanos() / STEP.as_nanos()) as usize;
        index.min(self.offsets.len().saturating_sub(1))
    }
}

/// The request that an input event makes. `finger` keeps the position of the finger on the touch screen.
fn request_of(event: &InputEvent, finger: &mut Option<(f64, f64)>) -> Option<ScrollRequest> {
    match *event {
        InputEvent::FingersScroll { dx, dy } => Some(ScrollRequest::Drag(ScrollDistance { x: dx, y: dy })),
        InputEvent::Scroll { dx, dy } => {
            let turned = |by: f64| by / NOTCH_DISTANCE * WHEEL_TURN;
            Some(ScrollRequest::Wheel(ScrollDistance { x: turned(dx), y: turned(dy) }))
        }
        InputEvent::TouchDown { x, y, .. } => {
            *finger = Some((x, y));
            None
        }
        InputEvent::TouchMove { x, y, .. } => {
            let before = finger.replace((x, y))?;
            Some(ScrollRequest::Drag(ScrollDistance { x: before.0 - x, y: before.1 - y }))
        }
        InputEvent::FingersLift | InputEvent::TouchUp { .. } => {
            *finger = None;
            Some(ScrollRequest::Release)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::ScrollInput;
    use super::super::scroller::{FIRST, view_terms};
    use super::*;

    fn path(input: &ScrollInput, across: bool) -> ViewPath {
        let course = ScrollCourse::of(input, Span::from_seconds(2), Span::ZERO, (640, 480)).unwrap();
        let course = if across { course.with_swapped_axes() } else { course };
        let first = if across { (FIRST, 0) } else { (0, FIRST) };
        ViewPath::of(&course, &view_terms((640, 480), across), first)
    }

    #[test]
    fn view_follows_the_fingers_at_a_constant_speed() {
        for (speed, across) in [(1_000.0, false), (-1_000.0, false), (1_000.0, true)] {
            let path = path(&ScrollInput::Speed(speed), across);
            assert_eq!(path.offset(-Span::from_seconds(1)), FIRST as f64);
            let gone = path.offset(Span::from_seconds(1)) - FIRST as f64;
            assert!((gone - speed).abs() < 30.0, "{gone} at {speed}");
            assert_eq!(path.goes_on_to_larger(Span::ZERO), speed > 0.0);
            assert_eq!(path.goes_on_to_larger(Span::from_seconds(9)), speed > 0.0);
        }
    }

    #[test]
    fn wheel_turns_the_view_by_its_notches() {
        let path = path(&ScrollInput::Wheel, false);
        let gone = path.offset(Span::from_seconds(9)) - FIRST as f64;
        assert!((gone - 16.0 * WHEEL_TURN).abs() < 1.0, "{gone}");
    }
}
