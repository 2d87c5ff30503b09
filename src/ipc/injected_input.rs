//! Converts injected input (`upbeat msg input`) to device events.

use smithay::backend::input::{TabletToolCapabilities, TabletToolDescriptor, TabletToolType};
use smithay::wayland::tablet_manager::TabletDescriptor;

use crate::input::tablet::{ToolAction, ToolAxes, ToolEvent};
use crate::input::{InputEvent as DeviceEvent, KeyboardId, ScrollAxis, ScrollSource};
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_timing::time::Instant;

/// One click of a wheel, in logical pixels.
const WHEEL_CLICK: f64 = 15.0;

/// One click of a wheel, in 120ths.
const V120_CLICK: f64 = 120.0;

/// The device events that `event` stands for when it happens at `time`, in the order in which they are to be handled.
pub fn device_events(event: InputEvent, time: Instant) -> impl Iterator<Item = DeviceEvent> {
    let reported = match event {
        InputEvent::PointerMove { x, y } => DeviceEvent::PointerPosition { time, position: (x, y).into() },
        InputEvent::PointerMoveBy { dx, dy } => {
            DeviceEvent::PointerMotion { time, delta: (dx, dy).into(), raw: (dx, dy).into() }
        }
        InputEvent::Button { button, pressed } => DeviceEvent::Button { time, button, pressed },
        InputEvent::Scroll { dx, dy } => {
            let (horizontal, vertical) = (wheel(dx), wheel(dy));
            DeviceEvent::Axis { time, source: ScrollSource::Wheel, horizontal, vertical }
        }
        InputEvent::FingersScroll { dx, dy } => fingers(time, dx, dy, false),
        InputEvent::FingersLift => fingers(time, 0.0, 0.0, true),
        InputEvent::Key { key, pressed } => DeviceEvent::Key { time, keyboard: KeyboardId::Session, key, pressed },
        InputEvent::TouchDown { finger, x, y } => {
            DeviceEvent::TouchDown { time, slot: finger, position: (x, y).into() }
        }
        InputEvent::TouchMove { finger, x, y } => {
            DeviceEvent::TouchMotion { time, slot: finger, position: (x, y).into() }
        }
        InputEvent::TouchUp { finger } => DeviceEvent::TouchUp { time, slot: finger },
        InputEvent::PenNear { x, y } => pen(time, (x, y), ToolAction::Enter, None),
        InputEvent::PenMove { x, y, pressure } => pen(time, (x, y), ToolAction::Move, pressure),
        InputEvent::PenDown { x, y, pressure } => pen(time, (x, y), ToolAction::Tip(true), Some(pressure)),
        InputEvent::PenUp { x, y } => pen(time, (x, y), ToolAction::Tip(false), Some(0.0)),
        InputEvent::PenAway => pen(time, (0.0, 0.0), ToolAction::Leave, None),
    };
    // A tablet that is plugged in already is not plugged in again.
    let plugged = DeviceEvent::Tablet { time, tablet: tablet(), there: true };
    let plugged = matches!(event, InputEvent::PenNear { .. }).then_some(plugged);
    let touches =
        matches!(event, InputEvent::TouchDown { .. } | InputEvent::TouchMove { .. } | InputEvent::TouchUp { .. });
    [plugged, Some(reported), touches.then_some(DeviceEvent::TouchFrame { time })].into_iter().flatten()
}

/// A turn of the wheel that scrolls by `distance` logical pixels.
fn wheel(distance: f64) -> ScrollAxis {
    let clicks = (distance / WHEEL_CLICK * V120_CLICK).round() as i32;
    ScrollAxis { distance, v120: (clicks != 0).then_some(clicks), ..ScrollAxis::default() }
}

/// Finger scrolling, as libinput reports it: when the fingers are lifted, both axes stop.
fn fingers(time: Instant, dx: f64, dy: f64, stop: bool) -> DeviceEvent {
    let axis = |distance| ScrollAxis { distance, stop, ..ScrollAxis::default() };
    DeviceEvent::Axis { time, source: ScrollSource::Finger, horizontal: axis(dx), vertical: axis(dy) }
}

/// Name of the injected tablet.
const TABLET: &str = "upbeat msg input pen";
/// Serial number of its pen, which must differ from the serial numbers of real pens.
const PEN_SERIAL: u64 = 0x7065_6e01;

fn tablet() -> TabletDescriptor {
    TabletDescriptor { name: TABLET.to_owned(), usb_id: None, syspath: None }
}

fn pen(time: Instant, position: (f64, f64), action: ToolAction, pressure: Option<f64>) -> DeviceEvent {
    let tool = TabletToolDescriptor {
        tool_type: TabletToolType::Pen,
        hardware_serial: PEN_SERIAL,
        hardware_id_wacom: 0,
        capabilities: TabletToolCapabilities::PRESSURE,
    };
    let axes = ToolAxes { pressure, ..ToolAxes::default() };
    let event = ToolEvent { tablet: tablet(), tool, position: position.into(), axes, action };
    DeviceEvent::Tool { time, event: Box::new(event) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finger_ends_each_of_its_events_with_a_frame_and_a_wheel_turns_in_clicks() {
        let time = Instant::from_nanos(7);
        let events: Vec<_> = device_events(InputEvent::TouchUp { finger: 2 }, time).collect();
        assert_eq!(events, [DeviceEvent::TouchUp { time, slot: 2 }, DeviceEvent::TouchFrame { time }]);
        let events: Vec<_> = device_events(InputEvent::Scroll { dx: 0.0, dy: -30.0 }, time).collect();
        let [DeviceEvent::Axis { horizontal, vertical, .. }] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!((horizontal.v120, vertical.v120, vertical.distance), (None, Some(-240), -30.0));
    }

    #[test]
    fn a_pen_comes_with_its_tablet_and_presses_while_it_is_down() {
        let time = Instant::from_nanos(7);
        let said = |event: InputEvent| device_events(event, time).collect::<Vec<_>>();
        let near = said(InputEvent::PenNear { x: 3.0, y: 4.0 });
        assert!(matches!(&near[..], [DeviceEvent::Tablet { there: true, .. }, DeviceEvent::Tool { .. }]), "{near:?}");
        let tool = |event: InputEvent| match &said(event)[..] {
            [DeviceEvent::Tool { event, .. }] => (event.action, event.axes.pressure, event.position.into()),
            other => panic!("{other:?}"),
        };
        let down = InputEvent::PenDown { x: 3.0, y: 4.0, pressure: 0.5 };
        assert_eq!(tool(down), (ToolAction::Tip(true), Some(0.5), (3.0, 4.0)));
        assert_eq!(tool(InputEvent::PenUp { x: 3.0, y: 4.0 }).1, Some(0.0));
        assert_eq!(tool(InputEvent::PenMove { x: 3.0, y: 4.0, pressure: None }).1, None);
        let text = r#"{"event":"pen-move","x":1.0,"y":2.0}"#;
        let heard: InputEvent = serde_json::from_str(text).unwrap();
        assert_eq!(heard, InputEvent::PenMove { x: 1.0, y: 2.0, pressure: None });
    }

    #[test]
    fn fingers_scroll_without_clicks_and_stop_both_axes_when_they_are_lifted() {
        let time = Instant::from_nanos(7);
        let scrolled = |event: InputEvent| match device_events(event, time).collect::<Vec<_>>().as_slice() {
            [DeviceEvent::Axis { source: ScrollSource::Finger, horizontal, vertical, .. }] => (*horizontal, *vertical),
            other => panic!("{other:?}"),
        };
        let (x, y) = scrolled(InputEvent::FingersScroll { dx: 0.0, dy: 2.5 });
        assert_eq!((x, y), (ScrollAxis::default(), ScrollAxis { distance: 2.5, ..ScrollAxis::default() }));
        let stop = ScrollAxis { stop: true, ..ScrollAxis::default() };
        assert_eq!(scrolled(InputEvent::FingersLift), (stop, stop));
    }
}
