//! A window of fixed size, and its input.

use std::sync::Arc;

use upbeat_client::{FollowDevices, Follower, FramePacer, FrontBuffer, PredictedInput};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};
use wayland_client::globals::{GlobalList, GlobalListContents, registry_queue_init};
use wayland_client::protocol::{
    wl_buffer, wl_compositor, wl_keyboard, wl_pointer, wl_region, wl_registry, wl_seat, wl_shm, wl_shm_pool,
    wl_subcompositor, wl_subsurface, wl_surface, wl_touch,
};
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::xdg::shell::client::{xdg_surface, xdg_toplevel, xdg_wm_base};

use super::screen::{BufferSlot, WindowBuffers};
use super::tablet::{self, PenState};

/// Keys, by their numbers in `linux/input-event-codes.h`.
pub const ESCAPE: u32 = 1;
pub const Q: u32 = 16;
pub const P: u32 = 25;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowInput {
    Key(u32),
    Pointer {
        x: f64,
        y: f64,
    },
    PointerLeft,
    /// Any button of the pointer.
    Button {
        pressed: bool,
    },
    /// Wheel movement in logical pixels: 15 for a click; up is negative.
    Scroll {
        at: Instant,
        by: f64,
    },
    Finger {
        at: Instant,
        finger: i32,
        x: f64,
        y: f64,
    },
    FingerUp {
        finger: i32,
    },
    /// A tablet tool near or on the window, by the low half of its hardware serial.
    Pen {
        tool: u32,
        x: f64,
        y: f64,
        touches: bool,
    },
    PenAway {
        tool: u32,
    },
}

/// A subsurface of the window, committed by itself and without input. It has one buffer with transparency.
pub struct ExampleSubsurface {
    pub subsurface: wl_subsurface::WlSubsurface,
    pub buffers: WindowBuffers,
}

pub struct ExampleWindow {
    pub pacer: Arc<FramePacer>,
    pub screen: Arc<WindowBuffers>,
    connection: Connection,
    globals: GlobalList,
    seat: Option<wl_seat::WlSeat>,
    queue: EventQueue<WindowEvents>,
    events: WindowEvents,
}

/// State that events update.
pub(super) struct WindowEvents {
    pub(super) inputs: Vec<WindowInput>,
    pub(super) pens: PenState,
    hides_cursor: bool,
    configured: bool,
    closed: bool,
}

impl ExampleWindow {
    /// Opens the window; it appears with its first frame. `predict` ignores the compositor's targets.
    pub fn open(name: &str, size: (usize, usize), buffers: usize, predict: bool) -> anyhow::Result<Self> {
        let connection = Connection::connect_to_env()?;
        let (globals, queue) = registry_queue_init::<WindowEvents>(&connection)?;
        let handle = queue.handle();
        let compositor: wl_compositor::WlCompositor = globals.bind(&handle, 4..=6, ())?;
        let shm: wl_shm::WlShm = globals.bind(&handle, 1..=1, ())?;
        let shell: xdg_wm_base::XdgWmBase = globals.bind(&handle, 1..=6, ())?;
        let seat: Option<wl_seat::WlSeat> = globals.bind(&handle, 5..=7, ()).ok();
        seat.iter().for_each(|seat| tablet::listen(&globals, seat, &handle));
        let surface = compositor.create_surface(&handle, ());
        let xdg = shell.get_xdg_surface(&surface, &handle, ());
        let toplevel = xdg.get_toplevel(&handle, ());
        toplevel.set_title(format!("Upbeat {name}"));
        toplevel.set_app_id(format!("upbeat.{name}"));
        let (width, height) = (size.0 as i32, size.1 as i32);
        toplevel.set_min_size(width, height);
        toplevel.set_max_size(width, height);
        let paces = if predict { FramePacer::predicting } else { FramePacer::new };
        let pacer = Arc::new(paces(&connection, &globals, &surface));
        surface.commit();
        let format = wl_shm::Format::Xrgb8888;
        let screen = Arc::new(WindowBuffers::new(&connection, &shm, surface, size, buffers, format, &handle)?);
        let events = WindowEvents {
            inputs: Vec::new(),
            pens: PenState::default(),
            hides_cursor: false,
            configured: false,
            closed: false,
        };
        let mut window = ExampleWindow { pacer, screen, connection, globals, seat, queue, events };
        while !window.events.configured {
            window.queue.blocking_dispatch(&mut window.events)?;
        }
        Ok(window)
    }

    /// Predicted positions of the devices on the window.
    pub fn predicted_input(&self) -> PredictedInput {
        PredictedInput::new(&self.connection, &self.globals, &self.screen.surface)
    }

    /// The front buffer of the window.
    pub fn front_buffer(&self) -> FrontBuffer {
        FrontBuffer::new(&self.connection, &self.globals, &self.screen.surface)
    }

    /// Has a subsurface follow all devices of the seat, held at `anchor`; `None` without a seat.
    pub fn follower(&self, subsurface: &ExampleSubsurface, anchor: (i32, i32)) -> Option<Follower> {
        let (surface, seat) = (&subsurface.buffers.surface, self.seat.as_ref()?);
        let follower = Follower::new(&self.connection, &self.globals, surface, seat, FollowDevices::ALL);
        follower.set_anchor(anchor.0, anchor.1);
        Some(follower)
    }

    /// Makes a subsurface of this size; it appears with its first buffer.
    pub fn subsurface(&self, size: (usize, usize)) -> anyhow::Result<ExampleSubsurface> {
        let handle = self.queue.handle();
        let compositor: wl_compositor::WlCompositor = self.globals.bind(&handle, 4..=6, ())?;
        let shm: wl_shm::WlShm = self.globals.bind(&handle, 1..=1, ())?;
        let subcompositor: wl_subcompositor::WlSubcompositor = self.globals.bind(&handle, 1..=1, ())?;
        let surface = compositor.create_surface(&handle, ());
        let subsurface = subcompositor.get_subsurface(&surface, &self.screen.surface, &handle, ());
        subsurface.set_desync();
        let nothing = compositor.create_region(&handle, ());
        surface.set_input_region(Some(&nothing));
        nothing.destroy();
        let format = wl_shm::Format::Argb8888;
        let buffers = WindowBuffers::new(&self.connection, &shm, surface, size, 1, format, &handle)?;
        Ok(ExampleSubsurface { subsurface, buffers })
    }

    /// Shows no cursor on the window from the next entry of the pointer on.
    pub fn hide_cursor(&mut self) {
        self.events.hides_cursor = true;
    }

    pub fn is_open(&self) -> bool {
        !self.events.closed
    }

    /// The input events since the last call.
    pub fn inputs(&mut self) -> Vec<WindowInput> {
        std::mem::take(&mut self.events.inputs)
    }

    /// Waits until events were dispatched or the time is `until`.
    pub fn wait(&mut self, until: Option<Instant>) -> anyhow::Result<()> {
        super::wait::wait(&mut self.queue, &mut self.events, until)
    }
}

/// The time of an event in wrapping milliseconds: the value nearest to now.
fn moment(millis: u32) -> Instant {
    let now = MonotonicClock.now();
    let ago = now.as_wayland_millis().wrapping_sub(millis) as i32;
    Instant::from_nanos(now.as_nanos() / 1_000_000 * 1_000_000) - Span::from_millis(ago.into())
}

macro_rules! hear {
    ($interface:ty, $data:ty, |$heard:ident, $object:ident, $event:ident, $known:ident, $handle:ident| $body:expr) => {
        impl Dispatch<$interface, $data> for WindowEvents {
            fn event(
                $heard: &mut Self,
                $object: &$interface,
                $event: <$interface as Proxy>::Event,
                $known: &$data,
                _: &Connection,
                $handle: &QueueHandle<Self>,
            ) {
                $body
            }
        }
    };
}

hear!(wl_registry::WlRegistry, GlobalListContents, |_heard, _object, _event, _known, _handle| {});

hear!(xdg_wm_base::XdgWmBase, (), |_heard, shell, event, _known, _handle| {
    if let xdg_wm_base::Event::Ping { serial } = event {
        shell.pong(serial);
    }
});

hear!(xdg_surface::XdgSurface, (), |heard, surface, event, _known, _handle| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        heard.configured = true;
    }
});

hear!(xdg_toplevel::XdgToplevel, (), |heard, _toplevel, event, _known, _handle| {
    heard.closed |= matches!(event, xdg_toplevel::Event::Close);
});

hear!(wl_buffer::WlBuffer, BufferSlot, |_heard, _buffer, event, slot, _handle| {
    if let wl_buffer::Event::Release = event {
        slot.put_back();
    }
});

hear!(wl_seat::WlSeat, (), |_heard, seat, event, _known, handle| {
    if let wl_seat::Event::Capabilities { capabilities: WEnum::Value(can) } = event {
        if can.contains(wl_seat::Capability::Keyboard) {
            seat.get_keyboard(handle, ());
        }
        if can.contains(wl_seat::Capability::Pointer) {
            seat.get_pointer(handle, ());
        }
        if can.contains(wl_seat::Capability::Touch) {
            seat.get_touch(handle, ());
        }
    }
});

hear!(wl_keyboard::WlKeyboard, (), |heard, _keyboard, event, _known, _handle| {
    if let wl_keyboard::Event::Key { key, state: WEnum::Value(wl_keyboard::KeyState::Pressed), .. } = event {
        heard.closed |= key == ESCAPE || key == Q;
        heard.inputs.push(WindowInput::Key(key));
    }
});

hear!(wl_pointer::WlPointer, (), |heard, pointer, event, _known, _handle| {
    if let wl_pointer::Event::Enter { serial, .. } = &event
        && heard.hides_cursor
    {
        pointer.set_cursor(*serial, None, 0, 0);
    }
    match event {
        wl_pointer::Event::Leave { .. } => heard.inputs.push(WindowInput::PointerLeft),
        wl_pointer::Event::Enter { surface_x: x, surface_y: y, .. }
        | wl_pointer::Event::Motion { surface_x: x, surface_y: y, .. } => {
            heard.inputs.push(WindowInput::Pointer { x, y })
        }
        wl_pointer::Event::Button { state, .. } => {
            let pressed = state == WEnum::Value(wl_pointer::ButtonState::Pressed);
            heard.inputs.push(WindowInput::Button { pressed });
        }
        wl_pointer::Event::Axis { time, axis: WEnum::Value(wl_pointer::Axis::VerticalScroll), value } => {
            heard.inputs.push(WindowInput::Scroll { at: moment(time), by: value });
        }
        _ => {}
    }
});

hear!(wl_touch::WlTouch, (), |heard, _touch, event, _known, _handle| {
    match event {
        wl_touch::Event::Down { time, id, x, y, .. } | wl_touch::Event::Motion { time, id, x, y } => {
            heard.inputs.push(WindowInput::Finger { at: moment(time), finger: id, x, y });
        }
        wl_touch::Event::Up { id, .. } => heard.inputs.push(WindowInput::FingerUp { finger: id }),
        _ => {}
    }
});

delegate_noop!(WindowEvents: ignore wl_compositor::WlCompositor);
delegate_noop!(WindowEvents: ignore wl_shm::WlShm);
delegate_noop!(WindowEvents: ignore wl_shm_pool::WlShmPool);
delegate_noop!(WindowEvents: ignore wl_surface::WlSurface);
delegate_noop!(WindowEvents: ignore wl_subcompositor::WlSubcompositor);
delegate_noop!(WindowEvents: ignore wl_subsurface::WlSubsurface);
delegate_noop!(WindowEvents: ignore wl_region::WlRegion);
