//! Graphics tablets and their tools: pens, erasers, airbrushes.
//!
//! A window whose client supports tablets gets the tool's own events. For any other window the tool is a pointer: the
//! tip is the left button, the buttons on the barrel are the right and the middle one.
//!
//! ```text
//!            ┌─ the client of the surface under it has bound a tablet seat ─► zwp_tablet_tool_v2, the pointer leaves
//!   tool ────┤
//!            └─ it has not ─► pointer::moved_to, pointer::button
//! ```
//!
//! While the tip is down or a button is pressed, all events go to the surface on which that began. A client that asks
//! to drag its window or data with such a press loses the tool to the drag: the tool is the pointer until it is
//! released.

mod seats;
mod tool_object;

use smithay::backend::input::TabletToolDescriptor;
use smithay::input::pointer::{CursorImageStatus, MotionEvent};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_seat_v2::ZwpTabletSeatV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_tool_v2::ZwpTabletToolV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_v2::ZwpTabletV2;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, Resource};
use smithay::utils::{Logical, Point, SERIAL_COUNTER, Serial};
use smithay::wayland::tablet_manager::TabletDescriptor;

use super::TabletClients;
use super::pointer::{self, SurfaceFocus, pick};
pub use super::tool::{ToolAction, ToolAxes, ToolEvent};
use super::{prediction_feed, scroll_view_grab};
use crate::bounds::coordinate_f64;
use crate::output::{self, InputKind};
use crate::shell;
use crate::state::State;
use crate::surface::input_prediction::TrackedDevice;
use seats::{TabletSeats, ToolMotion};
use upbeat_timing::time::{Clock as _, Instant};

// From linux/input-event-codes.h.
const BTN_LEFT: u32 = 0x110;
const BTN_RIGHT: u32 = 0x111;
const BTN_MIDDLE: u32 = 0x112;
const BTN_STYLUS: u32 = 0x14b;
const BTN_STYLUS2: u32 = 0x14c;
/// More tools than a user has near a tablet at a time.
const MAX_TOOLS: usize = 16;

/// A tool that is near a tablet.
#[derive(Debug)]
struct NearTool {
    tool: TabletToolDescriptor,
    /// The surface that all events go to while the tip or a button is down.
    held: Option<SurfaceFocus>,
    /// The tip and the buttons that are down.
    pressed: Vec<ToolPress>,
    /// Where the first of them went down.
    pressed_at: Point<f64, Logical>,
    /// It acts as the pointer.
    is_pointer: bool,
    /// Its last event, and the surface that it was on.
    last: Option<(ToolEvent, SurfaceFocus)>,
}

/// The tip or a button of a tool that is down.
#[derive(Debug)]
struct ToolPress {
    /// The pointer button that it stands for.
    button: u32,
    action: ToolAction,
    /// The serial of the event that the client got.
    serial: Option<Serial>,
}

impl NearTool {
    /// Whether it holds a surface of the client of `surface` by the press `serial`.
    fn holds(&self, serial: Serial, surface: &WlSurface) -> bool {
        let on = self.held.as_ref().and_then(Option::as_ref);
        let is_same_client = on.is_some_and(|(on, _)| on.id().same_client_as(&surface.id()));
        is_same_client && self.pressed.iter().any(|press| press.serial == Some(serial))
    }
}

/// The tools that are near a tablet.
#[derive(Debug, Default)]
pub struct NearTools {
    near: Vec<NearTool>,
    seats: TabletSeats,
}

impl NearTools {
    /// Whether a tool is on a window that supports tablets: then the pointer is on no surface.
    pub fn replace_pointer(&self) -> bool {
        self.near.iter().any(|near| !near.is_pointer)
    }

    /// Where the tool that holds a surface of the client of `surface` by the press `serial` went down.
    pub(super) fn pressed_at(&self, serial: Serial, surface: &WlSurface) -> Option<Point<f64, Logical>> {
        self.near.iter().find(|near| near.holds(serial, surface)).map(|near| near.pressed_at)
    }

    /// Forgets all tools that are near and sends `proximity_out`. Returns their ids for input prediction.
    pub(super) fn forget_all(&mut self, now: Instant) -> Vec<TrackedDevice> {
        let near = std::mem::take(&mut self.near).into_iter().filter(|near| !near.is_pointer);
        let left = near.map(|near| {
            self.seats.leave(&near.tool, now.as_wayland_millis());
            TrackedDevice::Tool(serial_of(&near.tool))
        });
        left.collect()
    }
}

/// A tablet was plugged in or unplugged. Tools leave a tablet that is unplugged.
pub fn plugged(state: &mut State, time: Instant, tablet: &TabletDescriptor, there: bool) {
    if there {
        state.input.tools.seats.add_tablet(&state.display_handle, tablet);
        return;
    }
    let near = state.input.tools.near.iter().filter_map(|near| near.last.as_ref());
    let on_it: Vec<_> = near.map(|(event, _)| event).filter(|event| event.tablet == *tablet).cloned().collect();
    on_it.iter().for_each(|event| leave(state, time, event));
    state.input.tools.seats.remove_tablet(tablet, time.as_wayland_millis());
}

fn position_of(event: &ToolEvent) -> Point<f64, Logical> {
    Point::from((coordinate_f64(event.position.x), coordinate_f64(event.position.y)))
}

/// Handles an event of a tool.
pub fn tool(state: &mut State, time: Instant, event: &ToolEvent) {
    let position = position_of(event);
    let seats = &mut state.input.tools.seats;
    if !seats.has_tablet(&event.tablet) {
        return;
    }
    seats.add_tool(&state.display_handle, &event.tool);
    if event.action == ToolAction::Leave {
        leave(state, time, event);
        return;
    }
    let Some(near) = near(state, &event.tool) else { return };
    let held = near.held.clone();
    let held = held.map(|focus| scroll_view_grab::with_present_origin(state, &focus, position));
    let focus = held.clone().unwrap_or_else(|| pick(state, position));
    let is_pointer = match (&held, find(state, &event.tool)) {
        (Some(_), Some(near)) => near.is_pointer,
        _ => !focus.as_ref().is_some_and(|(surface, _)| state.has_tablet_seat(surface)),
    };
    if let Some(near) = find(state, &event.tool) {
        near.is_pointer = is_pointer;
        near.last = Some((event.clone(), focus.clone()));
    }
    let device = TrackedDevice::Tool(serial_of(&event.tool));
    if is_pointer {
        prediction_feed::device_left(state, device);
        // In case it was on a window that supports tablets.
        state.input.tools.seats.leave(&event.tool, time.as_wayland_millis());
        act_as_pointer(state, time, event, position);
    } else {
        prediction_feed::device_moved(state, device, time, position, &focus);
        act(state, time, event, position, &focus);
    }
}

/// Makes the tool that holds a surface of the client of `surface` by the press `serial` the pointer until it is
/// released. Returns the held surface, whose client gets `proximity_out`.
pub(super) fn become_pointer(
    state: &mut State,
    time: Instant,
    serial: Serial,
    surface: &WlSurface,
) -> Option<SurfaceFocus> {
    let near = state.input.tools.near.iter_mut().find(|near| near.holds(serial, surface))?;
    near.is_pointer = true;
    let (tool, focus) = (near.tool.clone(), near.held.clone());
    state.input.held_buttons.take_over(near.pressed.iter().map(|press| press.button));
    prediction_feed::device_left(state, TrackedDevice::Tool(serial_of(&tool)));
    state.input.tools.seats.leave(&tool, time.as_wayland_millis());
    focus
}

/// `client` made a tablet seat: sends the tools that are on its surfaces, and their pressed buttons.
pub fn seat_made(state: &mut State, client: &Client, seat: &ZwpTabletSeatV2) {
    let millis = state.clock.now().as_wayland_millis();
    let NearTools { near, seats } = &mut state.input.tools;
    seats.add_instance(&state.display_handle, client, seat);
    for near in near.iter().filter(|near| !near.is_pointer) {
        let Some((event, Some((surface, origin)))) = &near.last else { continue };
        if surface.client().as_ref() != Some(client) {
            continue;
        }
        let pressed: Vec<_> = near.pressed.iter().filter_map(|press| Some((press.action, press.serial?))).collect();
        let motion = ToolMotion {
            tablet: &event.tablet,
            surface,
            at: position_of(event) - *origin,
            axes: &ToolAxes::default(),
            serial: SERIAL_COUNTER.next_serial(),
            millis,
        };
        seats.catch_up(seat, &near.tool, &motion, &pressed);
    }
}

/// A tablet seat was destroyed; its objects stay.
pub fn seat_gone(state: &mut State, seat: &ZwpTabletSeatV2) {
    state.input.tools.seats.remove_instance(seat);
}

/// A client destroyed its `zwp_tablet_v2`.
pub fn tablet_object_gone(state: &mut State, object: &ZwpTabletV2) {
    state.input.tools.seats.remove_tablet_object(object);
}

/// A client destroyed its `zwp_tablet_tool_v2`.
pub fn tool_object_gone(state: &mut State, object: &ZwpTabletToolV2) {
    state.input.tools.seats.remove_tool_object(object);
}

/// Whether the tool is on a surface of the client of `object`.
pub fn is_near(state: &State, object: &ZwpTabletToolV2) -> bool {
    state.input.tools.seats.is_near(object)
}

/// Sets the tool's cursor. Has no effect unless the tool is on a surface of the client.
pub fn set_cursor(state: &mut State, object: &ZwpTabletToolV2, image: CursorImageStatus) {
    if is_near(state, object) {
        state.input.cursor.set_status(image);
        output::cursor_changed(state);
    }
}

/// The id by which the client knows the tool in predictions.
const fn serial_of(tool: &TabletToolDescriptor) -> u32 {
    tool.hardware_serial as u32
}

/// Sends the exact time of the tool event that the client of `surface` gets next.
fn send_tool_time(state: &State, surface: Option<&WlSurface>, tool: &TabletToolDescriptor, time: Instant) {
    let foresight = surface.and_then(|surface| state.surfaces.get(surface)).and_then(|entry| entry.input_prediction());
    if let Some(foresight) = foresight {
        foresight.listener().send_tool_timestamp(serial_of(tool), time);
    }
}

fn find<'a>(state: &'a mut State, tool: &TabletToolDescriptor) -> Option<&'a mut NearTool> {
    state.input.tools.near.iter_mut().find(|near| near.tool == *tool)
}

/// The state of the tool; adds it if it was not near yet.
fn near<'a>(state: &'a mut State, tool: &TabletToolDescriptor) -> Option<&'a mut NearTool> {
    let near = &mut state.input.tools.near;
    let is_new = !near.iter().any(|near| near.tool == *tool);
    if is_new && near.len() < MAX_TOOLS {
        let (tool, pressed_at) = (tool.clone(), Point::default());
        near.push(NearTool { tool, held: None, pressed: Vec::new(), pressed_at, is_pointer: true, last: None });
    }
    find(state, tool)
}

/// The tip counts as the left button.
const fn as_button(action: ToolAction) -> Option<(u32, bool)> {
    match action {
        ToolAction::Tip(down) => Some((BTN_LEFT, down)),
        ToolAction::Button(BTN_STYLUS, pressed) => Some((BTN_RIGHT, pressed)),
        ToolAction::Button(BTN_STYLUS2, pressed) => Some((BTN_MIDDLE, pressed)),
        ToolAction::Button(button, pressed) => Some((button, pressed)),
        ToolAction::Enter | ToolAction::Leave | ToolAction::Move => None,
    }
}

/// Notes a press or release. Returns whether it is the first press of the tool.
fn press(state: &mut State, event: &ToolEvent, focus: Option<&SurfaceFocus>, serial: Option<Serial>) -> bool {
    let (Some((button, pressed)), Some(near)) = (as_button(event.action), find(state, &event.tool)) else {
        return false;
    };
    near.pressed.retain(|press| press.button != button);
    let is_first = pressed && near.pressed.is_empty();
    if pressed {
        near.pressed.push(ToolPress { button, action: event.action, serial });
    }
    if is_first {
        near.pressed_at = position_of(event);
        near.held = Some(focus.cloned().flatten());
    } else if near.pressed.is_empty() {
        near.held = None;
    }
    is_first
}

fn act_as_pointer(state: &mut State, time: Instant, event: &ToolEvent, position: Point<f64, Logical>) {
    pointer::moved_to(state, time, position);
    press(state, event, None, None);
    if let Some((button, pressed)) = as_button(event.action) {
        pointer::button(state, time, button, pressed);
    }
}

fn act(state: &mut State, time: Instant, event: &ToolEvent, position: Point<f64, Logical>, focus: &SurfaceFocus) {
    withdraw_pointer(state, time, position);
    let (serial, millis) = (SERIAL_COUNTER.next_serial(), time.as_wayland_millis());
    let surface = focus.as_ref().map(|(surface, _)| surface);
    let kind = if event.action == ToolAction::Move { InputKind::Motion } else { InputKind::Touch };
    output::input(state, kind, surface, time);
    send_tool_time(state, surface, &event.tool, time);
    let seats = &mut state.input.tools.seats;
    if let Some((surface, origin)) = focus {
        let (tablet, axes, at) = (&event.tablet, &event.axes, position - *origin);
        seats.move_to(&event.tool, &ToolMotion { tablet, surface, at, axes, serial, millis });
    } else {
        seats.leave(&event.tool, millis);
    }
    if press(state, event, Some(focus), Some(serial)) {
        shell::layers::keyboard::pressed(state, surface);
    } else if matches!(as_button(event.action), Some((_, false))) {
        state.shell.set_pressed(None);
    }
    if as_button(event.action).is_some() {
        send_tool_time(state, surface, &event.tool, time);
    }
    if matches!(event.action, ToolAction::Tip(true) | ToolAction::Button(..)) {
        state.input.actions.push(serial);
    }
    state.input.tools.seats.act(&event.tool, event.action, serial, millis);
}

/// Takes the pointer off any surface, and moves the cursor to the tool.
fn withdraw_pointer(state: &mut State, time: Instant, position: Point<f64, Logical>) {
    let pointer = state.input.pointer.clone();
    let serial = SERIAL_COUNTER.next_serial();
    let event = MotionEvent { location: position, serial, time: time.as_wayland_millis() };
    pointer.motion(state, None, &event);
    pointer.frame(state);
    state.input.pointer_focus = None;
    prediction_feed::device_left(state, TrackedDevice::Pointer);
    output::cursor_changed(state);
}

fn leave(state: &mut State, time: Instant, event: &ToolEvent) {
    let near = &mut state.input.tools.near;
    let Some(index) = near.iter().position(|near| near.tool == event.tool) else { return };
    let near = near.swap_remove(index);
    if near.is_pointer {
        // Buttons that are still pressed are released with it.
        near.pressed.iter().for_each(|press| pointer::button(state, time, press.button, false));
        return;
    }
    prediction_feed::device_left(state, TrackedDevice::Tool(serial_of(&event.tool)));
    state.input.tools.seats.leave(&event.tool, time.as_wayland_millis());
    state.shell.set_pressed(None);
    pointer::refresh_focus(state);
}
