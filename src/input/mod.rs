//! Input: one entry point for every source ([`handle`]), the seat, focus, shortcuts and the cursor.
//!
//! ```text
//!  devices ─┐
//!  virtual ─┼─► InputEvent ─► handle ─► bindings ─► drag in progress? ─► focus (scene on screen) ─► seat ─► client
//!  IPC     ─┘                              │                │                                  └► output::input
//!                                          └► shell         └► shell::drag, drawn at the next latch
//! ```

pub mod action_availability;
pub mod actions;
pub mod active_keymap;
pub mod constraint;
pub mod cursor;
pub mod data_drag;
pub mod data_drag_grabs;
mod device_release;
pub mod drag;
pub mod drag_requests;
pub mod event;
pub mod focus;
mod focus_follows_pointer;
pub mod gesture;
mod host_interfaces;
pub mod keyboard;
pub mod keymap;
pub mod libinput;
mod motion_coalescing;
mod mouse_shortcuts;
pub mod new_seat_objects;
pub mod output_waking;
pub mod pointer;
mod pointer_release;
mod prediction_feed;
mod scroll_view_grab;
mod scrolling;
mod seat_for_shell;
mod seat_hardware;
pub mod serials;
pub mod session_swipes;
pub mod shortcut_inhibition;
pub mod shortcut_repeat;
pub mod switch;
pub mod tablet;
pub mod text;
mod title_presses;
mod tool;
pub mod touch;
pub mod touch_drag;
mod touch_points;
mod typing;
mod waiting_events;
pub mod window_picking;
pub mod window_switcher;

use smithay::input::keyboard::{KeyboardHandle, XkbConfig};
use smithay::input::pointer::{CursorImageStatus, PointerHandle};
use smithay::input::touch::TouchHandle;
use smithay::input::{Seat, SeatState};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::utils::{Logical, Point, Serial};

use crate::output;
use crate::shell::WindowId;
use crate::state::State;
use crate::surface::input_prediction::TrackedDevice;
use cursor::SeatCursor;
pub use event::{InputEvent, KeyboardId, LaptopSwitch, ScrollAxis, ScrollSource, TouchpadGesture};
pub use host_interfaces::{HostSession, InputTimes, TabletClients, TimestampedDevice};
pub use seat_hardware::SeatHardware;
use serials::ActionSerials;
use upbeat_timing::time::{Clock, Instant};
pub use waiting_events::{ReadableDevices, SharedDevices, set_devices, take_late_events};

/// Milliseconds until a held key repeats.
const REPEAT_DELAY_MS: i32 = 400;
/// Repetitions per second after that.
const REPEAT_RATE_HZ: i32 = 30;

/// The seat and its devices.
#[derive(Debug)]
pub struct Input {
    seat: Seat<State>,
    /// The devices that are read once more before a frame is submitted.
    devices: waiting_events::SeatDevices,
    pointer: PointerHandle<State>,
    touch: TouchHandle<State>,
    /// `None` when no keymap could be loaded (the keyboard data files are missing).
    keyboard: Option<KeyboardHandle<State>>,
    /// Waits for the user to pick a window by the next press.
    picker: Option<Box<dyn window_picking::WindowPicker>>,
    /// Clients that want shortcuts for themselves.
    inhibitors: shortcut_inhibition::InhibitorTable,
    /// Text fields, and the input method that types into them.
    text: text::TextInputState,
    /// The pointer's focus is found in the applied state, and again after every update, instead of in the scene on
    /// screen after each presentation. For the conformance suite WLCS, which checks the focus before any refresh.
    focus_follows_updates: bool,
    cursor: SeatCursor,
    keyboards: keyboard::SeatKeyboards,
    actions: ActionSerials,
    /// The focus will be updated at the end of the turn.
    focus_is_stale: bool,
    /// The time of the last user activity on any device, injected events included.
    last_use: Instant,
    typed_into: Option<typing::TypedInto>,
    /// How input switches outputs on.
    waking: output_waking::OutputWaking,
    hardware: SeatHardware,
    drag: Option<drag::DragSource>,
    touches: touch_points::SeatTouchPoints,
    tools: tablet::NearTools,
    held_buttons: pointer::HeldButtons,
    last_title_press: Option<title_presses::TitleBarPress>,
    /// The surface that the pointer was last found on, with its origin.
    pointer_focus: pointer::SurfaceFocus,
    unsent_motion: motion_coalescing::UnsentMotion,
    tracked_devices: prediction_feed::TrackedDevices,
    /// Which swipes are the session's own.
    gestures: session_swipes::EnabledSwipes,
    swipe: session_swipes::SwipeState,
    /// The fraction of a step that a wheel with a shortcut has turned.
    wheel: mouse_shortcuts::WheelSteps,
    /// The scroll view that the present scroll gesture moves.
    scrolling: scrolling::ScrollState,
}

impl Input {
    pub const fn seat(&self) -> &Seat<State> {
        &self.seat
    }

    pub const fn pointer(&self) -> &PointerHandle<State> {
        &self.pointer
    }

    pub const fn touch(&self) -> &TouchHandle<State> {
        &self.touch
    }

    /// `None` when no keymap could be loaded (the keyboard data files are missing).
    pub const fn keyboard(&self) -> Option<&KeyboardHandle<State>> {
        self.keyboard.as_ref()
    }

    /// Clients that want shortcuts for themselves.
    pub const fn inhibitors_mut(&mut self) -> &mut shortcut_inhibition::InhibitorTable {
        &mut self.inhibitors
    }

    pub const fn cursor(&self) -> &SeatCursor {
        &self.cursor
    }

    /// Touchscreens and the tablet-mode switch of the seat.
    pub const fn hardware(&self) -> SeatHardware {
        self.hardware
    }

    /// Sets the cursor that the client with the pointer wants.
    pub(crate) fn set_cursor(&mut self, image: CursorImageStatus) {
        self.cursor.set_status(image);
    }

    /// The time of the last user activity on any device, injected events included.
    pub const fn last_use(&self) -> Instant {
        self.last_use
    }

    /// Sets whether clients wait for an idle notification to end.
    pub const fn set_use_awaited(&mut self, is_awaited: bool) {
        self.waking.is_awaited = is_awaited;
    }

    pub const fn gestures_mut(&mut self) -> &mut session_swipes::EnabledSwipes {
        &mut self.gestures
    }

    /// Finds the pointer's focus in the applied state, and again after every update, instead of in the scene on screen
    /// after each presentation. For the conformance suite WLCS, which checks the focus before any refresh.
    pub const fn set_focus_follows_updates(&mut self, follows: bool) {
        self.focus_follows_updates = follows;
    }

    /// Makes a seat with keyboard, pointer and touch.
    pub fn new(display: &DisplayHandle, seats: &mut SeatState<State>) -> Self {
        let mut seat = seats.new_wl_seat(display, "seat0");
        let keyboard = seat
            .add_keyboard(XkbConfig::default(), REPEAT_DELAY_MS, REPEAT_RATE_HZ)
            .inspect_err(|error| tracing::error!(%error, "no keyboard: is the package xkb-data installed?"))
            .ok();
        let (pointer, touch) = (seat.add_pointer(), seat.add_touch());
        Input {
            seat,
            devices: waiting_events::SeatDevices::default(),
            pointer,
            touch,
            keyboard,
            picker: None,
            inhibitors: shortcut_inhibition::InhibitorTable::default(),
            text: text::TextInputState::default(),
            focus_follows_updates: false,
            cursor: SeatCursor::default(),
            keyboards: keyboard::SeatKeyboards::default(),
            actions: ActionSerials::default(),
            focus_is_stale: false,
            last_use: Instant::ZERO,
            typed_into: None,
            waking: output_waking::OutputWaking::default(),
            hardware: SeatHardware::default(),
            drag: None,
            touches: touch_points::SeatTouchPoints::default(),
            tools: tablet::NearTools::default(),
            held_buttons: pointer::HeldButtons::default(),
            last_title_press: None,
            pointer_focus: None,
            unsent_motion: motion_coalescing::UnsentMotion::default(),
            tracked_devices: prediction_feed::TrackedDevices::default(),
            gestures: session_swipes::EnabledSwipes::default(),
            swipe: session_swipes::SwipeState::default(),
            wheel: mouse_shortcuts::WheelSteps::default(),
            scrolling: scrolling::ScrollState::default(),
        }
    }

    /// Whether `serial` belongs to one of the latest actions with a key, a button or a finger: only these may start
    /// a grab.
    pub fn is_recent_action(&self, serial: Serial) -> bool {
        self.actions.contains(serial)
    }

    /// Whether the client of `surface` got `serial` for a press of a button or a finger that is still down.
    pub fn is_held_by(&self, serial: Serial, surface: &WlSurface) -> bool {
        let pressed = self.pointer.grab_start_data().filter(|_| self.pointer.has_grab(serial));
        let on = pressed.and_then(|start| start.focus);
        on.is_some_and(|(on, _)| on.id().same_client_as(&surface.id()))
            || self.touches.slot_of(serial, surface).is_some()
    }
}

/// Handles an event. This is the only entry point.
pub fn handle(state: &mut State, event: InputEvent) {
    if event.is_use() {
        state.input.last_use = state.clock.now();
        if output_waking::note_activity(state, &event) {
            return;
        }
    }
    if let Some((time, stops)) = event.stops_views()
        && scrolling::stop(state, time, stops)
    {
        pointer::refresh_focus_now(state);
    }
    let touched = match &event {
        InputEvent::TouchDown { position, .. } | InputEvent::TouchMotion { position, .. } => Some(*position),
        InputEvent::Tool { event, .. } => Some(event.position),
        _ => None,
    };
    let points = matches!(event, InputEvent::PointerMotion { .. } | InputEvent::PointerPosition { .. });
    match &event {
        InputEvent::TouchDown { .. } => cursor::set_hidden(state, true),
        InputEvent::PointerMotion { .. }
        | InputEvent::PointerPosition { .. }
        | InputEvent::Button { .. }
        | InputEvent::Axis { .. }
        | InputEvent::Tool { .. } => cursor::set_hidden(state, false),
        _ => {}
    }
    match event {
        InputEvent::PointerMotion { time, delta, raw } => pointer::moved(state, time, delta, raw),
        InputEvent::PointerPosition { time, position } => pointer::moved_to(state, time, position),
        InputEvent::Button { time, button, pressed } => pointer::button(state, time, button, pressed),
        InputEvent::Axis { time, source, horizontal, vertical } => {
            pointer::scrolled(state, time, source, horizontal, vertical);
        }
        InputEvent::TouchDown { time, slot, position } => touch::down(state, time, slot, position),
        InputEvent::TouchMotion { time, slot, position } => touch::moved(state, time, slot, position),
        InputEvent::TouchUp { time, slot } => touch::up(state, time, slot),
        InputEvent::TouchFrame { .. } => touch::frame(state),
        InputEvent::TouchCancel { .. } => touch::cancel(state),
        InputEvent::Gesture { time, gesture } => gesture::handle(state, time, gesture),
        InputEvent::Tool { time, event } => tablet::tool(state, time, &event),
        InputEvent::Tablet { time, tablet, there } => tablet::plugged(state, time, &tablet, there),
        InputEvent::Switch { switch, on, .. } => switch::switched(state, switch, on),
        InputEvent::Key { time, keyboard, key, pressed } => keyboard::key(state, time, keyboard, key, pressed),
        InputEvent::Modifiers { keyboard, depressed, latched, locked, layout, .. } => {
            keyboard::modifiers(state, keyboard, keyboard::ModifierMasks { depressed, latched, locked, layout });
        }
    }
    let hand = touched.or_else(|| points.then(|| pointer_position(state)));
    if let Some(position) = hand {
        output::in_place::set_input_position(state, position);
    }
}

/// Tells new followers where the pointer and the fingers are.
pub fn report_standing_devices(state: &mut State) {
    prediction_feed::pointer_stands(state);
    let now = state.clock.now();
    let fingers: Vec<_> = touch::client_touch_points(state).map(|touch| (touch.slot, touch.surface)).collect();
    for (slot, surface) in fingers {
        if let Some(position) = state.input.touches.position(slot) {
            output::scene::followers::device_moved(state, TrackedDevice::Touch(slot), now, position, &surface);
        }
    }
}

/// Where the pointer is (global logical coordinates).
pub fn pointer_position(state: &State) -> Point<f64, Logical> {
    state.input.pointer.current_location()
}

/// Where dragged data is: at the finger that drags it, or at the pointer (global logical coordinates).
pub fn drag_position(state: &State) -> Point<f64, Logical> {
    touch_drag::finger_position(state).unwrap_or_else(|| pointer_position(state))
}

/// The surface that takes input at `position`, and its origin; does not consider grabs.
fn under(state: &State, position: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
    if state.shell.bar_at(position).is_some() {
        return None;
    }
    match state.input.focus_follows_updates {
        true => state.shell.hit(position),
        false => output::scene_on_screen_hit(state, position),
    }
}

/// The window under the pointer.
fn window_under(state: &State) -> Option<WindowId> {
    let (surface, _) = under(state, pointer_position(state))?;
    state.shell.window_of(&surface).map(|window| window.id)
}

/// Finds the pointer's focus again after a presentation, since the surface under it may have changed while the pointer
/// stood still.
pub fn refresh_focus(state: &mut State) {
    pointer::refresh_focus(state);
}

/// An update was applied to `surface`, which may be the cursor.
pub fn applied(state: &mut State, surface: &WlSurface) {
    cursor::applied(state, surface);
    if state.input.focus_follows_updates {
        refresh_focus(state);
    }
}

/// A surface was destroyed: drops all references to it.
pub fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    if state.surfaces.drag_icon() == Some(surface) {
        state.surfaces.set_drag_icon(None);
    }
    cursor::surface_destroyed(state, surface);
    prediction_feed::surface_destroyed(state, surface);
    focus::surface_destroyed(state, surface);
}
