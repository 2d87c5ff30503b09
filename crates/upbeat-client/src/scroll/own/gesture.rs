//! Fingers and wheels, from the events of Wayland to what they ask of a view.

use wayland_client::WEnum;
use wayland_client::protocol::wl_pointer::{Axis, AxisSource, Event};

use upbeat_timing::scroll::{NOTCH_DISTANCE, NOTCH_PARTS, WHEEL_TURN, Way};
use upbeat_timing::time::{Instant, Span};

/// An event that is older than this has its time from another clock than ours, or that is so much newer.
const OLDEST: Span = Span::from_seconds(1);
const NEWEST: Span = Span::from_millis(4);
const MILLISECOND: u64 = 1_000_000;

/// When an event with this time was, seen from `now`: on whole milliseconds, as all events are, so that they are as far apart as
/// they were. What `now` has of a millisecond would come and go with when they are read, and be taken for a hand that trembles.
pub(super) fn moment(millis: u32, now: Instant) -> Instant {
    let ago = Span::from_millis((now.as_wayland_millis().wrapping_sub(millis) as i32).into());
    let whole = Instant::from_nanos(now.as_nanos() / MILLISECOND * MILLISECOND);
    if ago < -NEWEST || ago > OLDEST { now } else { whole - ago }
}

/// What scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Wheel,
    Finger,
}

/// What one frame of a pointer's events asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scrolled {
    pub source: Source,
    pub way: Way,
    /// The fingers were lifted.
    pub lifted: bool,
    pub millis: u32,
}

/// The events of a pointer since its last frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AxisFrame {
    source: Option<AxisSource>,
    distance: Way,
    /// In 120ths of a turn.
    turned: Option<Way>,
    stop: bool,
    millis: Option<u32>,
}

impl AxisFrame {
    /// One more event. Returns what was asked for with the last of a frame.
    pub fn event(&mut self, event: &Event) -> Option<Scrolled> {
        match event {
            Event::AxisSource { axis_source: WEnum::Value(source) } => self.source = Some(*source),
            Event::Axis { time, axis: WEnum::Value(axis), value } => {
                self.millis = Some(*time);
                *along(&mut self.distance, *axis)? += value;
            }
            Event::AxisStop { time, .. } => {
                self.millis = Some(*time);
                self.stop = true;
            }
            Event::AxisDiscrete { axis: WEnum::Value(axis), discrete } => {
                *along(self.turned.get_or_insert_default(), *axis)? += f64::from(*discrete) * NOTCH_PARTS;
            }
            Event::AxisValue120 { axis: WEnum::Value(axis), value120 } => {
                *along(self.turned.get_or_insert_default(), *axis)? += f64::from(*value120);
            }
            Event::Frame => return std::mem::take(self).over(),
            _ => {}
        }
        None
    }

    fn over(self) -> Option<Scrolled> {
        let millis = self.millis?;
        let scaled = |way: Way, by: f64| Way { x: way.x * by, y: way.y * by };
        match self.source {
            Some(AxisSource::Finger) => {
                let lifted = self.stop && self.distance == Way::default();
                Some(Scrolled { source: Source::Finger, way: self.distance, lifted, millis })
            }
            // Those who say nothing are wheels.
            None | Some(AxisSource::Wheel) => {
                let by_parts = self.turned.map(|turned| scaled(turned, WHEEL_TURN / NOTCH_PARTS));
                let way = by_parts.unwrap_or_else(|| scaled(self.distance, WHEEL_TURN / NOTCH_DISTANCE));
                Some(Scrolled { source: Source::Wheel, way, lifted: false, millis })
            }
            Some(_) => None,
        }
    }
}

const fn along(way: &mut Way, axis: Axis) -> Option<&mut f64> {
    match axis {
        Axis::HorizontalScroll => Some(&mut way.x),
        Axis::VerticalScroll => Some(&mut way.y),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(events: &[Event]) -> Option<Scrolled> {
        let mut frame = AxisFrame::default();
        assert!(events.iter().all(|event| frame.event(event).is_none()), "not before the frame is over");
        frame.event(&Event::Frame)
    }

    fn axis(value: f64) -> Event {
        Event::Axis { time: 5, axis: WEnum::Value(Axis::VerticalScroll), value }
    }

    fn source(source: AxisSource) -> Event {
        Event::AxisSource { axis_source: WEnum::Value(source) }
    }

    #[test]
    fn a_wheel_is_counted_in_turns_and_fingers_in_pixels() {
        let turn = Event::AxisValue120 { axis: WEnum::Value(Axis::VerticalScroll), value120: 60 };
        let wheel = frame(&[source(AxisSource::Wheel), turn, axis(7.5)]).unwrap();
        assert_eq!((wheel.source, wheel.way), (Source::Wheel, Way { x: 0.0, y: 25.0 }));
        assert_eq!(frame(&[axis(15.0)]).unwrap().way.y, 50.0, "a wheel of few words");
        let finger = frame(&[source(AxisSource::Finger), axis(7.5)]).unwrap();
        assert_eq!((finger.source, finger.way.y, finger.lifted), (Source::Finger, 7.5, false));
        let stop = Event::AxisStop { time: 9, axis: WEnum::Value(Axis::VerticalScroll) };
        assert!(frame(&[source(AxisSource::Finger), stop]).unwrap().lifted);
        assert_eq!(frame(&[]), None);
    }

    #[test]
    fn times_of_another_clock_are_not_believed() {
        let now = Instant::from_nanos(10_000_000_000);
        assert_eq!(moment(9_990, now), now - Span::from_millis(10));
        assert_eq!((moment(10_500, now), moment(77, now)), (now, now));
    }

    #[test]
    fn events_are_as_far_apart_as_they_were_whenever_they_are_read() {
        let at = |micros: u64| Instant::from_nanos(micros * 1_000);
        assert_eq!(moment(9_990, at(10_000_900)), at(9_990_000));
        assert_eq!(moment(9_998, at(9_998_100)), at(9_998_000));
        assert_eq!(moment(10_001, at(10_000_900)), at(10_001_000), "read before its time has quite come");
    }
}
