//! Turns the Wayland events of wheels and fingers into scroll distances.

use wayland_client::WEnum;
use wayland_client::protocol::wl_pointer::{Axis, AxisSource, Event};

use upbeat_timing::scroll::{NOTCH_DISTANCE, NOTCH_PARTS, ScrollDistance, WHEEL_TURN};
use upbeat_timing::time::{Instant, Span};

/// An event that is older than [`OLDEST`], or newer than now by more than [`NEWEST`], has its time from another clock.
const OLDEST: Span = Span::from_seconds(1);
const NEWEST: Span = Span::from_millis(4);
const MILLISECOND: u64 = 1_000_000;

/// The time of an event with the timestamp `millis`, read at `now`. The result is in whole milliseconds, like the
/// timestamps, so that the distances between events stay exact. If the fraction of a millisecond of `now` were kept, it
/// would vary with the time of reading, and look like a trembling hand.
pub(super) fn event_time(millis: u32, now: Instant) -> Instant {
    let ago = Span::from_millis((now.as_wayland_millis().wrapping_sub(millis) as i32).into());
    let whole = Instant::from_nanos(now.as_nanos() / MILLISECOND * MILLISECOND);
    if ago < -NEWEST || ago > OLDEST { now } else { whole - ago }
}

/// The kind of device that scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisDevice {
    Wheel,
    Finger,
}

/// The scroll step of one `wl_pointer.frame`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScrollStep {
    pub source: AxisDevice,
    pub way: ScrollDistance,
    /// The fingers were lifted.
    pub lifted: bool,
    pub millis: u32,
}

/// The axis events of a pointer since its last `wl_pointer.frame`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AxisFrame {
    source: Option<AxisSource>,
    distance: ScrollDistance,
    /// Rotation of a wheel in 120ths of a notch.
    turned: Option<ScrollDistance>,
    stop: bool,
    millis: Option<u32>,
}

impl AxisFrame {
    /// Adds an event. Returns the scroll step at the end of the frame.
    pub fn event(&mut self, event: &Event) -> Option<ScrollStep> {
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
            Event::Frame => return std::mem::take(self).finish(),
            _ => {}
        }
        None
    }

    fn finish(self) -> Option<ScrollStep> {
        let millis = self.millis?;
        let scaled = |way: ScrollDistance, by: f64| ScrollDistance { x: way.x * by, y: way.y * by };
        match self.source {
            Some(AxisSource::Finger) => {
                let lifted = self.stop && self.distance == ScrollDistance::default();
                Some(ScrollStep { source: AxisDevice::Finger, way: self.distance, lifted, millis })
            }
            // Devices without a source are treated as wheels.
            None | Some(AxisSource::Wheel) => {
                let by_parts = self.turned.map(|turned| scaled(turned, WHEEL_TURN / NOTCH_PARTS));
                let way = by_parts.unwrap_or_else(|| scaled(self.distance, WHEEL_TURN / NOTCH_DISTANCE));
                Some(ScrollStep { source: AxisDevice::Wheel, way, lifted: false, millis })
            }
            Some(_) => None,
        }
    }
}

const fn along(way: &mut ScrollDistance, axis: Axis) -> Option<&mut f64> {
    match axis {
        Axis::HorizontalScroll => Some(&mut way.x),
        Axis::VerticalScroll => Some(&mut way.y),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(events: &[Event]) -> Option<ScrollStep> {
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
        assert_eq!((wheel.source, wheel.way), (AxisDevice::Wheel, ScrollDistance { x: 0.0, y: 25.0 }));
        assert_eq!(frame(&[axis(15.0)]).unwrap().way.y, 50.0, "a wheel of few words");
        let finger = frame(&[source(AxisSource::Finger), axis(7.5)]).unwrap();
        assert_eq!((finger.source, finger.way.y, finger.lifted), (AxisDevice::Finger, 7.5, false));
        let stop = Event::AxisStop { time: 9, axis: WEnum::Value(Axis::VerticalScroll) };
        assert!(frame(&[source(AxisSource::Finger), stop]).unwrap().lifted);
        assert_eq!(frame(&[]), None);
    }

    #[test]
    fn event_times_of_another_clock_are_ignored() {
        let now = Instant::from_nanos(10_000_000_000);
        assert_eq!(event_time(9_990, now), now - Span::from_millis(10));
        assert_eq!((event_time(10_500, now), event_time(77, now)), (now, now));
    }

    #[test]
    fn events_are_as_far_apart_as_they_were_whenever_they_are_read() {
        let at = |micros: u64| Instant::from_nanos(micros * 1_000);
        assert_eq!(event_time(9_990, at(10_000_900)), at(9_990_000));
        assert_eq!(event_time(9_998, at(9_998_100)), at(9_998_000));
        assert_eq!(event_time(10_001, at(10_000_900)), at(10_001_000), "read before its time has quite come");
    }
}
