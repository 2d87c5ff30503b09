//! Touch events of an X server, from its input extension (XInput 2.2).
//!
//! The server gives every touch a new, growing number. Here a finger gets the lowest free number, as on a touchscreen.
//! XInput does not group touch events, so all events that were read together are a frame.

use x11rb::errors::ConnectionError;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, TouchBeginEvent, XIEventMask};
use x11rb::protocol::xproto::Window;
use x11rb::rust_connection::RustConnection;

use crate::backend::nested::{ParentEvent, WindowId};
use upbeat_timing::time::Instant;

/// The first version of XInput with touch events.
const WITH_TOUCH: (u16, u16) = (2, 2);
/// Positions are fixed-point numbers with 16 fractional bits.
const FIXED_POINT: f64 = 65_536.0;

/// Whether the server supports touch events. Blocks for its answer.
pub(super) fn is_known(connection: &RustConnection) -> bool {
    let answer = connection.xinput_xi_query_version(WITH_TOUCH.0, WITH_TOUCH.1).ok();
    let version = answer.and_then(|answer| answer.reply().ok());
    let known = version.is_some_and(|version| (version.major_version, version.minor_version) >= WITH_TOUCH);
    if !known {
        tracing::info!("the X server has no touch events: fingers move the pointer");
    }
    known
}

/// Selects the touch events of a window; they are then not sent as pointer events.
pub(super) fn listen(connection: &RustConnection, window: Window) -> Result<(), ConnectionError> {
    let mask = vec![XIEventMask::TOUCH_BEGIN | XIEventMask::TOUCH_UPDATE | XIEventMask::TOUCH_END];
    let mask = EventMask { deviceid: Device::ALL_MASTER.into(), mask };
    connection.xinput_xi_select_events(window, &[mask]).map(drop)
}

/// The position of a touch in its window.
pub(super) fn place(touch: &TouchBeginEvent) -> (f64, f64) {
    (f64::from(touch.event_x) / FIXED_POINT, f64::from(touch.event_y) / FIXED_POINT)
}

/// The phase of a touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TouchPhase {
    Begin,
    Update,
    End,
}

/// The touching fingers, with the server's numbers.
#[derive(Debug, Default)]
pub(super) struct TouchPoints {
    down: Vec<Option<u32>>,
    /// An event was reported since the last frame.
    has_events: bool,
}

impl TouchPoints {
    /// Converts an event of touch `number`, at a position in pixels of `window`; `None` for a touch that did not
    /// begin here.
    pub fn touched(
        &mut self,
        phase: TouchPhase,
        number: u32,
        window: WindowId,
        (x, y): (f64, f64),
        time: Instant,
    ) -> Option<ParentEvent> {
        let finger = match phase {
            TouchPhase::Begin => self.free(),
            TouchPhase::Update | TouchPhase::End => self.down.iter().position(|down| *down == Some(number))?,
        };
        self.down[finger] = (phase != TouchPhase::End).then_some(number);
        self.has_events = true;
        let finger = i32::try_from(finger).ok()?;
        Some(match phase {
            TouchPhase::Begin => ParentEvent::TouchDown { time, window, finger, x, y },
            TouchPhase::Update => ParentEvent::TouchMoved { time, window, finger, x, y },
            TouchPhase::End => ParentEvent::TouchUp { time, finger },
        })
    }

    /// The lowest free finger number.
    fn free(&mut self) -> usize {
        self.down.iter().position(Option::is_none).unwrap_or_else(|| {
            self.down.push(None);
            self.down.len() - 1
        })
    }

    /// Ends the group of events that were read together.
    pub fn frame(&mut self, time: Instant) -> Option<ParentEvent> {
        std::mem::take(&mut self.has_events).then_some(ParentEvent::TouchFrame { time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: WindowId = WindowId(1);
    const NOW: Instant = Instant::from_nanos(7);

    /// The event of a touch as text: down at, moved to, lifted, or none.
    fn touch_event(fingers: &mut TouchPoints, phase: TouchPhase, number: u32, place: (f64, f64)) -> String {
        match fingers.touched(phase, number, WINDOW, place, NOW) {
            Some(ParentEvent::TouchDown { finger, x, y, .. }) => format!("{finger} down at {x} {y}"),
            Some(ParentEvent::TouchMoved { finger, x, y, .. }) => format!("{finger} at {x} {y}"),
            Some(ParentEvent::TouchUp { finger, .. }) => format!("{finger} up"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_finger_keeps_its_number_and_the_next_one_gets_the_lowest_that_is_free() {
        let mut fingers = TouchPoints::default();
        let story = [
            touch_event(&mut fingers, TouchPhase::Begin, 4_000_000_001, (1.0, 2.5)),
            touch_event(&mut fingers, TouchPhase::Begin, 4_000_000_002, (3.0, 4.0)),
            touch_event(&mut fingers, TouchPhase::Update, 4_000_000_001, (1.5, 2.5)),
            touch_event(&mut fingers, TouchPhase::End, 4_000_000_001, (1.5, 2.5)),
            touch_event(&mut fingers, TouchPhase::Begin, 4_000_000_003, (9.0, 9.0)),
            touch_event(&mut fingers, TouchPhase::Update, 4_000_000_002, (3.0, 5.0)),
        ];
        let expected = ["0 down at 1 2.5", "1 down at 3 4", "0 at 1.5 2.5", "0 up", "0 down at 9 9", "1 at 3 5"];
        assert_eq!(story, expected);
    }

    #[test]
    fn a_touch_that_began_elsewhere_is_not_ours() {
        let mut fingers = TouchPoints::default();
        assert_eq!(touch_event(&mut fingers, TouchPhase::Update, 5, (0.0, 0.0)), "None");
        assert_eq!(touch_event(&mut fingers, TouchPhase::End, 5, (0.0, 0.0)), "None");
        assert!(fingers.frame(NOW).is_none(), "no event was reported");
    }

    #[test]
    fn events_read_together_are_one_frame() {
        let mut fingers = TouchPoints::default();
        fingers.touched(TouchPhase::Begin, 1, WINDOW, (0.0, 0.0), NOW);
        fingers.touched(TouchPhase::Begin, 2, WINDOW, (5.0, 0.0), NOW);
        assert!(matches!(fingers.frame(NOW), Some(ParentEvent::TouchFrame { time: NOW })));
        assert!(fingers.frame(NOW).is_none());
    }

    #[test]
    fn places_have_sixteen_binary_places() {
        let touch = TouchBeginEvent { event_x: 3 << 16 | 1 << 15, event_y: -(1 << 14), ..empty() };
        assert_eq!(place(&touch), (3.5, -0.25));
    }

    fn empty() -> TouchBeginEvent {
        TouchBeginEvent {
            response_type: 0,
            extension: 0,
            sequence: 0,
            length: 0,
            event_type: 0,
            deviceid: 0,
            time: 0,
            detail: 0,
            root: 0,
            event: 0,
            child: 0,
            root_x: 0,
            root_y: 0,
            event_x: 0,
            event_y: 0,
            sourceid: 0,
            flags: 0_u32.into(),
            mods: Default::default(),
            group: Default::default(),
            button_mask: Vec::new(),
            valuator_mask: Vec::new(),
            axisvalues: Vec::new(),
        }
    }
}
