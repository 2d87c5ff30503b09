//! `zwlr_virtual_pointer_manager_v1` 2: a client sends pointer events (wayvnc, test programs).
//!
//! Its events take the same path as events of real devices ([`input::handle`]). They are stamped on arrival: the
//! protocol's times have no stated origin, and wlrctl, among others, sends zeros. Events are gathered until `frame` and
//! then passed on in order.

use std::sync::{Mutex, PoisonError};

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::virtual_pointer::v1::server::zwlr_virtual_pointer_manager_v1::{
    self, ZwlrVirtualPointerManagerV1,
};
use smithay::reexports::wayland_protocols_wlr::virtual_pointer::v1::server::zwlr_virtual_pointer_v1::{
    self, Error, ZwlrVirtualPointerV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::protocol::wl_pointer::{Axis, AxisSource, ButtonState};
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, WEnum,
};
use smithay::utils::{Logical, Point, Rectangle};

use crate::deferred_calls;
use crate::guard::Handlers;
use crate::input::{self, InputEvent, ScrollAxis, ScrollSource};
use crate::output;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

const VERSION: u32 = 2;
/// One step of a wheel in `wl_pointer.axis_value120`.
const STEP: i32 = 120;
/// Events that wait for `frame` at most: further ones are passed on without it.
const MOST_GATHERED: usize = 64;

#[derive(Debug)]
pub struct VirtualPointers {
    _global: GlobalId,
}

impl VirtualPointers {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        VirtualPointers { _global: display.create_global::<State, ZwlrVirtualPointerManagerV1, ()>(VERSION, ()) }
    }
}

/// User data of a virtual pointer.
#[derive(Debug, Default)]
pub struct VirtualPointer {
    /// The output that absolute positions refer to; `None`: the rectangle around all outputs.
    output: Option<Output>,
    gathered: Mutex<PendingPointerEvents>,
}

#[derive(Debug, Default)]
struct PendingPointerEvents {
    /// Motion and buttons since the last frame.
    events: Vec<InputEvent>,
    source: Option<ScrollSource>,
    horizontal: Option<ScrollAxis>,
    vertical: Option<ScrollAxis>,
    held: Vec<u32>,
}

impl GlobalDispatch<ZwlrVirtualPointerManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwlrVirtualPointerManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ZwlrVirtualPointerManagerV1>(&client)
    }
}

impl Dispatch<ZwlrVirtualPointerManagerV1, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _manager: &ZwlrVirtualPointerManagerV1,
        request: zwlr_virtual_pointer_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use zwlr_virtual_pointer_manager_v1::Request;
        let (id, output): (_, Option<WlOutput>) = match request {
            Request::CreateVirtualPointer { id, .. } => (id, None),
            Request::CreateVirtualPointerWithOutput { id, output, .. } => (id, output),
            _ => return,
        };
        let output = output.as_ref().and_then(Output::from_resource);
        init.init(id, VirtualPointer { output, gathered: Mutex::default() });
    }
}

impl Dispatch<ZwlrVirtualPointerV1, VirtualPointer, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        pointer: &ZwlrVirtualPointerV1,
        request: zwlr_virtual_pointer_v1::Request,
        data: &VirtualPointer,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let time = state.clock.now();
        match data.gather(state, time, request) {
            Ok(events) => events.into_iter().for_each(|event| input::handle(state, event)),
            Err((error, message)) => pointer.post_error(error, message),
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, _pointer: &ZwlrVirtualPointerV1, data: &VirtualPointer) {
        // Pressed buttons are released. Not now, because the client may be going, and its surfaces must not be named
        // meanwhile (see `input::focus::focus_lost`).
        let PendingPointerEvents { events, held, .. } = std::mem::take(&mut *data.lock());
        deferred_calls::queue(state, move |state| {
            let time = state.clock.now();
            events.into_iter().for_each(|event| input::handle(state, event));
            for button in held {
                input::handle(state, InputEvent::Button { time, button, pressed: false });
            }
        });
    }
}

type VirtualPointerError = (Error, String);

impl VirtualPointer {
    fn lock(&self) -> std::sync::MutexGuard<'_, PendingPointerEvents> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gathers a request. Returns the events that are complete with it.
    fn gather(
        &self,
        state: &State,
        time: Instant,
        request: zwlr_virtual_pointer_v1::Request,
    ) -> Result<Vec<InputEvent>, VirtualPointerError> {
        let ends = matches!(request, zwlr_virtual_pointer_v1::Request::Frame);
        let mut gathered = self.lock();
        let event = self.event(&mut gathered, state, time, request)?;
        gathered.events.extend(event);
        if ends || gathered.events.len() >= MOST_GATHERED {
            return Ok(std::mem::take(&mut gathered.events));
        }
        Ok(Vec::new())
    }

    /// The event of a request, if the request completes one.
    fn event(
        &self,
        gathered: &mut PendingPointerEvents,
        state: &State,
        time: Instant,
        request: zwlr_virtual_pointer_v1::Request,
    ) -> Result<Option<InputEvent>, VirtualPointerError> {
        use zwlr_virtual_pointer_v1::Request;
        match request {
            Request::Motion { dx, dy, .. } => {
                let delta = Point::from((dx, dy));
                Ok(Some(InputEvent::PointerMotion { time, delta, raw: delta }))
            }
            Request::MotionAbsolute { x, y, x_extent, y_extent, .. } => {
                if x_extent == 0 || y_extent == 0 {
                    return Ok(None);
                }
                let share = (f64::from(x) / f64::from(x_extent), f64::from(y) / f64::from(y_extent));
                Ok(self.position(state, share).map(|position| InputEvent::PointerPosition { time, position }))
            }
            Request::Button { button, state: WEnum::Value(new), .. } => {
                let pressed = new == ButtonState::Pressed;
                gathered.held.retain(|held| *held != button);
                if pressed {
                    gathered.held.push(button);
                }
                Ok(Some(InputEvent::Button { time, button, pressed }))
            }
            Request::Axis { axis, value, .. } => {
                gathered.scroll(axis)?.distance += value;
                Ok(None)
            }
            Request::AxisSource { axis_source } => {
                gathered.source = Some(scroll_source(axis_source)?);
                Ok(None)
            }
            Request::AxisStop { axis, .. } => {
                gathered.scroll(axis)?.stop = true;
                Ok(None)
            }
            Request::AxisDiscrete { axis, value, discrete, .. } => {
                let scroll = gathered.scroll(axis)?;
                scroll.distance += value;
                scroll.v120 = Some(scroll.v120.unwrap_or(0).saturating_add(discrete.saturating_mul(STEP)));
                Ok(None)
            }
            Request::Frame => Ok(gathered.scrolled(time)),
            _ => Ok(None),
        }
    }

    /// Converts fractions of the output, or of the rectangle around all outputs, to a position.
    fn position(&self, state: &State, share: (f64, f64)) -> Option<Point<f64, Logical>> {
        let area: Rectangle<i32, Logical> = match &self.output {
            Some(output) => output::geometry(output),
            None => output::all(state).map(|(_, area)| area).reduce(Rectangle::merge)?,
        };
        let area = area.to_f64();
        Some(area.loc + Point::from((area.size.w * share.0, area.size.h * share.1)))
    }
}

fn scroll_source(source: WEnum<AxisSource>) -> Result<ScrollSource, VirtualPointerError> {
    match source {
        WEnum::Value(AxisSource::Wheel) => Ok(ScrollSource::Wheel),
        WEnum::Value(AxisSource::Finger) => Ok(ScrollSource::Finger),
        WEnum::Value(AxisSource::Continuous) => Ok(ScrollSource::Continuous),
        WEnum::Value(AxisSource::WheelTilt) => Ok(ScrollSource::WheelTilt),
        other => Err((Error::InvalidAxisSource, format!("{other:?} is no axis source"))),
    }
}

impl PendingPointerEvents {
    fn scroll(&mut self, axis: WEnum<Axis>) -> Result<&mut ScrollAxis, VirtualPointerError> {
        match axis {
            WEnum::Value(Axis::HorizontalScroll) => Ok(self.horizontal.get_or_insert_default()),
            WEnum::Value(Axis::VerticalScroll) => Ok(self.vertical.get_or_insert_default()),
            other => Err((Error::InvalidAxis, format!("{other:?} is no axis"))),
        }
    }

    fn scrolled(&mut self, time: Instant) -> Option<InputEvent> {
        let (source, mut horizontal, mut vertical) = (self.source.take(), self.horizontal.take(), self.vertical.take());
        // A distance of 0 ends a scroll, except on a wheel, whose scrolls have no end.
        if !matches!(source, Some(ScrollSource::Wheel | ScrollSource::WheelTilt)) {
            let axes = horizontal.iter_mut().chain(&mut vertical);
            axes.for_each(|scroll| scroll.stop |= scroll.distance == 0.0 && scroll.v120.is_none());
        }
        if horizontal.is_none() && vertical.is_none() {
            return None;
        }
        Some(InputEvent::Axis {
            time,
            source: source.unwrap_or_default(),
            horizontal: horizontal.unwrap_or_default(),
            vertical: vertical.unwrap_or_default(),
        })
    }
}
