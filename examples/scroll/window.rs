//! The window, and its input.

use std::io;

use upbeat_timing::time::Instant;
use wayland_client::backend::ObjectId;
use wayland_client::globals::{GlobalList, GlobalListContents, registry_queue_init};
use wayland_client::protocol::{
    wl_buffer, wl_compositor, wl_keyboard, wl_pointer, wl_registry, wl_seat, wl_shm, wl_shm_pool, wl_surface, wl_touch,
};
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::xdg::shell::client::{xdg_surface, xdg_toplevel, xdg_wm_base};

use crate::common::window::{ESCAPE, Q};
use crate::pixels::PicturePool;

/// Colour behind all contents.
const BACKGROUND: u32 = 0x0018_1c22;

/// Keys that scroll, by their numbers in `linux/input-event-codes.h`.
#[derive(Clone, Copy, Debug)]
pub enum ScrollKey {
    Home,
    Up,
    PageUp,
    Left,
    Right,
    Down,
    PageDown,
}

impl ScrollKey {
    fn of(code: u32) -> Option<ScrollKey> {
        Some(match code {
            102 => ScrollKey::Home,
            103 => ScrollKey::Up,
            104 => ScrollKey::PageUp,
            105 => ScrollKey::Left,
            106 => ScrollKey::Right,
            108 => ScrollKey::Down,
            109 => ScrollKey::PageDown,
            _ => return None,
        })
    }
}

/// Events since the last call.
#[derive(Default)]
pub struct ScrollWindowEvents {
    pub pointer: Vec<wl_pointer::Event>,
    pub touch: Vec<wl_touch::Event>,
    pub keys: Vec<ScrollKey>,
    pub released: Vec<ObjectId>,
    configured: bool,
    closed: bool,
}

pub struct ScrollWindow {
    pub connection: Connection,
    pub globals: GlobalList,
    pub surface: wl_surface::WlSurface,
    queue: EventQueue<ScrollWindowEvents>,
    shm: wl_shm::WlShm,
    heard: ScrollWindowEvents,
    _background: PicturePool,
}

impl ScrollWindow {
    /// Opens the window; its background is attached, but not committed.
    pub fn open(name: &str, size: (i32, i32)) -> anyhow::Result<Self> {
        let connection = Connection::connect_to_env()?;
        let (globals, mut queue) = registry_queue_init::<ScrollWindowEvents>(&connection)?;
        let handle = queue.handle();
        let compositor: wl_compositor::WlCompositor = globals.bind(&handle, 4..=6, ())?;
        let shm: wl_shm::WlShm = globals.bind(&handle, 1..=1, ())?;
        let shell: xdg_wm_base::XdgWmBase = globals.bind(&handle, 1..=6, ())?;
        let _: Option<wl_seat::WlSeat> = globals.bind(&handle, 5..=8, ()).ok();
        let surface = compositor.create_surface(&handle, ());
        let toplevel = shell.get_xdg_surface(&surface, &handle, ()).get_toplevel(&handle, ());
        toplevel.set_title(format!("Upbeat {name}"));
        toplevel.set_app_id(format!("upbeat.{name}"));
        toplevel.set_min_size(size.0, size.1);
        toplevel.set_max_size(size.0, size.1);
        surface.commit();
        let mut heard = ScrollWindowEvents::default();
        while !heard.configured {
            queue.blocking_dispatch(&mut heard)?;
        }
        let mut background = PicturePool::new(&shm, (size.0 as usize, size.1 as usize), 1, &handle)?;
        let buffer = background.draw(|picture| picture.fill(BACKGROUND));
        surface.attach(buffer.as_ref(), 0, 0);
        surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        Ok(ScrollWindow { connection, globals, surface, queue, shm, heard, _background: background })
    }

    pub fn pool(&self, size: (usize, usize), count: usize) -> io::Result<PicturePool> {
        PicturePool::new(&self.shm, size, count, &self.queue.handle())
    }

    pub fn is_open(&self) -> bool {
        !self.heard.closed
    }

    pub fn heard(&mut self) -> ScrollWindowEvents {
        let closed = self.heard.closed;
        std::mem::replace(
            &mut self.heard,
            ScrollWindowEvents { closed, configured: true, ..ScrollWindowEvents::default() },
        )
    }

    /// Waits until events were dispatched or the time is `until`.
    pub fn wait(&mut self, until: Option<Instant>) -> anyhow::Result<()> {
        crate::common::wait::wait(&mut self.queue, &mut self.heard, until)
    }
}

macro_rules! hear {
    ($interface:ty, $data:ty, |$heard:ident, $object:ident, $event:ident, $handle:ident| $body:expr) => {
        impl Dispatch<$interface, $data> for ScrollWindowEvents {
            fn event(
                $heard: &mut Self,
                $object: &$interface,
                $event: <$interface as Proxy>::Event,
                _: &$data,
                _: &Connection,
                $handle: &QueueHandle<Self>,
            ) {
                $body
            }
        }
    };
}

hear!(wl_registry::WlRegistry, GlobalListContents, |_heard, _object, _event, _handle| {});
hear!(xdg_wm_base::XdgWmBase, (), |_heard, shell, event, _handle| {
    if let xdg_wm_base::Event::Ping { serial } = event {
        shell.pong(serial);
    }
});
hear!(xdg_surface::XdgSurface, (), |heard, surface, event, _handle| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        heard.configured = true;
    }
});
hear!(xdg_toplevel::XdgToplevel, (), |heard, _object, event, _handle| {
    if let xdg_toplevel::Event::Close = event {
        heard.closed = true;
    }
});
hear!(wl_seat::WlSeat, (), |_heard, seat, event, handle| {
    if let wl_seat::Event::Capabilities { capabilities: WEnum::Value(has) } = event {
        if has.contains(wl_seat::Capability::Pointer) {
            seat.get_pointer(handle, ());
        }
        if has.contains(wl_seat::Capability::Keyboard) {
            seat.get_keyboard(handle, ());
        }
        if has.contains(wl_seat::Capability::Touch) {
            seat.get_touch(handle, ());
        }
    }
});
hear!(wl_keyboard::WlKeyboard, (), |heard, _object, event, _handle| {
    if let wl_keyboard::Event::Key { key, state: WEnum::Value(wl_keyboard::KeyState::Pressed), .. } = event {
        heard.closed |= key == Q || key == ESCAPE;
        heard.keys.extend(ScrollKey::of(key));
    }
});
hear!(wl_pointer::WlPointer, (), |heard, _object, event, _handle| heard.pointer.push(event));
hear!(wl_touch::WlTouch, (), |heard, _object, event, _handle| heard.touch.push(event));
hear!(wl_buffer::WlBuffer, (), |heard, buffer, event, _handle| {
    if let wl_buffer::Event::Release = event {
        heard.released.push(buffer.id());
    }
});
delegate_noop!(ScrollWindowEvents: ignore wl_compositor::WlCompositor);
delegate_noop!(ScrollWindowEvents: ignore wl_shm::WlShm);
delegate_noop!(ScrollWindowEvents: ignore wl_shm_pool::WlShmPool);
delegate_noop!(ScrollWindowEvents: ignore wl_surface::WlSurface);
