//! The parent's seat. Related events are merged, and held keys and buttons are released when the parent's focus leaves.

use wayland_client::protocol::{
    wl_keyboard, wl_keyboard::WlKeyboard, wl_pointer, wl_pointer::WlPointer, wl_seat, wl_seat::WlSeat,
    wl_surface::WlSurface, wl_touch, wl_touch::WlTouch,
};
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum};

use super::clock::input_time;
use super::event::{ParentEvent, WindowId};
use super::parent::ParentState;
use crate::backend::scroll::{ScrollAxis, ScrollSource};
use upbeat_timing::time::{Clock, Instant, MonotonicClock};

/// One step of a wheel, in 120ths.
const STEP: i32 = 120;

/// The devices of the parent's seat, and their held buttons and touches.
#[derive(Debug, Default)]
pub(super) struct ParentDevices {
    keyboard: Option<WlKeyboard>,
    pointer: Option<WlPointer>,
    touch: Option<WlTouch>,
    /// The window under the pointer.
    pointer_window: Option<WindowId>,
    buttons: Vec<u32>,
    scrolling: PendingAxis,
    /// The touching fingers, each with its window.
    fingers: Vec<(i32, WindowId)>,
}

/// Axis events that the next pointer frame completes.
#[derive(Debug, Default)]
struct PendingAxis {
    time: Option<Instant>,
    source: ScrollSource,
    horizontal: ScrollAxis,
    vertical: ScrollAxis,
    is_new: bool,
}

impl PendingAxis {
    fn axis(&mut self, axis: WEnum<wl_pointer::Axis>) -> &mut ScrollAxis {
        self.is_new = true;
        match axis {
            WEnum::Value(wl_pointer::Axis::HorizontalScroll) => &mut self.horizontal,
            _ => &mut self.vertical,
        }
    }
}

impl ParentState {
    /// The window of a surface.
    fn window_of(&self, surface: &WlSurface) -> Option<WindowId> {
        self.windows.iter().map(|window| window.borrow()).find(|window| window.surface() == surface).map(|it| it.id())
    }

    /// A position on a window in physical pixels of its output.
    fn place(&self, id: WindowId, x: f64, y: f64) -> (f64, f64) {
        self.window(id).map_or((x, y), |window| window.borrow().place(x, y))
    }

    fn pointer_at(&mut self, time: Instant, x: f64, y: f64) {
        if let Some(window) = self.devices.pointer_window {
            let (x, y) = self.place(window, x, y);
            self.events.push_back(ParentEvent::PointerMoved { time, window, x, y });
        }
    }

    fn release_buttons(&mut self, time: Instant) {
        for button in self.devices.buttons.drain(..) {
            self.events.push_back(ParentEvent::Button { time, button, pressed: false });
        }
    }

    fn button(&mut self, time: Instant, button: u32, pressed: bool) {
        self.devices.buttons.retain(|held| *held != button);
        if pressed {
            self.devices.buttons.push(button);
        }
        self.events.push_back(ParentEvent::Button { time, button, pressed });
    }

    fn pointer_frame(&mut self) {
        let scrolling = std::mem::take(&mut self.devices.scrolling);
        if scrolling.is_new {
            let PendingAxis { time, source, horizontal, vertical, .. } = scrolling;
            let time = time.unwrap_or_else(|| MonotonicClock.now());
            self.events.push_back(ParentEvent::Axis { time, source, horizontal, vertical });
        }
    }

    fn cancel_touches(&mut self) {
        if !self.devices.fingers.is_empty() {
            self.devices.fingers.clear();
            self.events.push_back(ParentEvent::TouchCancelled { time: MonotonicClock.now() });
        }
    }
}

/// The time of an event with this stamp.
fn at(stamp: u32) -> Instant {
    input_time(stamp, MonotonicClock.now())
}

impl Dispatch<WlSeat, ()> for ParentState {
    fn event(
        parent: &mut Self,
        seat: &WlSeat,
        event: wl_seat::Event,
        _: &(),
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        use wl_seat::Capability;
        let wl_seat::Event::Capabilities { capabilities: WEnum::Value(has) } = event else { return };
        let devices = &mut parent.devices;
        match (has.contains(Capability::Keyboard), &devices.keyboard) {
            (true, None) => devices.keyboard = Some(seat.get_keyboard(handle, ())),
            (false, Some(keyboard)) => {
                keyboard.release();
                devices.keyboard = None;
                parent.events.push_back(ParentEvent::KeyboardLeft);
            }
            _ => {}
        }
        let devices = &mut parent.devices;
        match (has.contains(Capability::Pointer), &devices.pointer) {
            (true, None) => devices.pointer = Some(seat.get_pointer(handle, ())),
            (false, Some(pointer)) => {
                pointer.release();
                devices.pointer = None;
                parent.release_buttons(MonotonicClock.now());
            }
            _ => {}
        }
        let devices = &mut parent.devices;
        match (has.contains(Capability::Touch), &devices.touch) {
            (true, None) => devices.touch = Some(seat.get_touch(handle, ())),
            (false, Some(touch)) => {
                touch.release();
                devices.touch = None;
                parent.cancel_touches();
            }
            _ => {}
        }
    }
}

impl Dispatch<WlKeyboard, ()> for ParentState {
    fn event(
        parent: &mut Self,
        _: &WlKeyboard,
        event: wl_keyboard::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use wl_keyboard::{Event, KeyState, KeymapFormat};
        let event = match event {
            Event::Keymap { format: WEnum::Value(KeymapFormat::XkbV1), fd, size } => {
                ParentEvent::Keymap { file: fd, size }
            }
            // `enter` is ignored: keys that were held when the focus came here were meant for another window.
            Event::Leave { .. } => ParentEvent::KeyboardLeft,
            Event::Key { time, key, state: WEnum::Value(state), .. } => {
                ParentEvent::Key { time: at(time), key, pressed: state == KeyState::Pressed }
            }
            Event::Modifiers { mods_depressed, mods_latched, mods_locked, group, .. } => ParentEvent::Modifiers {
                time: MonotonicClock.now(),
                depressed: mods_depressed,
                latched: mods_latched,
                locked: mods_locked,
                layout: group,
            },
            _ => return,
        };
        parent.events.push_back(event);
    }
}

impl Dispatch<WlPointer, ()> for ParentState {
    fn event(
        parent: &mut Self,
        pointer: &WlPointer,
        event: wl_pointer::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use wl_pointer::{AxisRelativeDirection, AxisSource as Source, ButtonState, Event};
        match event {
            Event::Enter { serial, surface, surface_x, surface_y } => {
                // Hide the parent's cursor, since we draw our own.
                pointer.set_cursor(serial, None, 0, 0);
                parent.devices.pointer_window = parent.window_of(&surface);
                parent.pointer_at(MonotonicClock.now(), surface_x, surface_y);
            }
            Event::Leave { .. } => {
                parent.devices.pointer_window = None;
                parent.release_buttons(MonotonicClock.now());
            }
            Event::Motion { time, surface_x, surface_y } => parent.pointer_at(at(time), surface_x, surface_y),
            Event::Button { time, button, state: WEnum::Value(state), .. } => {
                parent.button(at(time), button, state == ButtonState::Pressed);
            }
            Event::Axis { time, axis, value } => {
                let scrolling = &mut parent.devices.scrolling;
                scrolling.time = Some(at(time));
                scrolling.axis(axis).distance += value;
            }
            Event::AxisSource { axis_source: WEnum::Value(source) } => {
                parent.devices.scrolling.source = match source {
                    Source::Finger => ScrollSource::Finger,
                    Source::Continuous => ScrollSource::Continuous,
                    Source::WheelTilt => ScrollSource::WheelTilt,
                    _ => ScrollSource::Wheel,
                };
            }
            Event::AxisStop { time, axis } => {
                let scrolling = &mut parent.devices.scrolling;
                scrolling.time = Some(at(time));
                scrolling.axis(axis).stop = true;
            }
            // A parent sends only `axis_discrete` or `axis_value120`, depending on the protocol version.
            Event::AxisDiscrete { axis, discrete } => {
                *parent.devices.scrolling.axis(axis).v120.get_or_insert(0) += discrete.saturating_mul(STEP);
            }
            Event::AxisValue120 { axis, value120 } => {
                *parent.devices.scrolling.axis(axis).v120.get_or_insert(0) += value120;
            }
            Event::AxisRelativeDirection { axis, direction } => {
                let inverted = direction == WEnum::Value(AxisRelativeDirection::Inverted);
                parent.devices.scrolling.axis(axis).inverted = inverted;
            }
            Event::Frame => parent.pointer_frame(),
            _ => {}
        }
    }
}

impl Dispatch<WlTouch, ()> for ParentState {
    fn event(parent: &mut Self, _: &WlTouch, event: wl_touch::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        use wl_touch::Event;
        match event {
            Event::Down { time, surface, id: finger, x, y, .. } => {
                let Some(window) = parent.window_of(&surface) else { return };
                parent.devices.fingers.push((finger, window));
                let (x, y) = parent.place(window, x, y);
                parent.events.push_back(ParentEvent::TouchDown { time: at(time), window, finger, x, y });
            }
            Event::Motion { time, id: finger, x, y } => {
                let window = parent.devices.fingers.iter().find(|(down, _)| *down == finger).map(|(_, window)| *window);
                let Some(window) = window else { return };
                let (x, y) = parent.place(window, x, y);
                parent.events.push_back(ParentEvent::TouchMoved { time: at(time), window, finger, x, y });
            }
            Event::Up { time, id: finger, .. } => {
                parent.devices.fingers.retain(|(down, _)| *down != finger);
                parent.events.push_back(ParentEvent::TouchUp { time: at(time), finger });
            }
            Event::Frame => parent.events.push_back(ParentEvent::TouchFrame { time: MonotonicClock.now() }),
            Event::Cancel => parent.cancel_touches(),
            _ => {}
        }
    }
}
