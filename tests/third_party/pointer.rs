//! A client with a virtual pointer.

use std::os::unix::net::UnixStream;
use std::path::Path;

use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::{wl_pointer::ButtonState, wl_registry::WlRegistry};
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle};
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1;

/// The evdev code of the left button.
const BUTTON_LEFT: u32 = 0x110;

pub struct TestVirtualPointer {
    queue: EventQueue<IgnoredEvents>,
    pointer: ZwlrVirtualPointerV1,
    extent: (u32, u32),
}

struct IgnoredEvents;

impl TestVirtualPointer {
    /// Creates a pointer in the session at `socket`, whose outputs cover `extent`.
    pub fn connect(socket: &Path, extent: (u32, u32)) -> Self {
        let connection = Connection::from_socket(UnixStream::connect(socket).unwrap()).unwrap();
        let (globals, mut queue) = registry_queue_init::<IgnoredEvents>(&connection).unwrap();
        let handle = queue.handle();
        let manager: ZwlrVirtualPointerManagerV1 = globals.bind(&handle, 1..=2, ()).unwrap();
        let pointer = manager.create_virtual_pointer(None, &handle, ());
        queue.roundtrip(&mut IgnoredEvents).unwrap();
        TestVirtualPointer { queue, pointer, extent }
    }

    /// Moves to a place and clicks.
    pub fn click(&mut self, x: u32, y: u32) {
        self.pointer.motion_absolute(0, x, y, self.extent.0, self.extent.1);
        self.pointer.frame();
        self.queue.roundtrip(&mut IgnoredEvents).unwrap();
        for state in [ButtonState::Pressed, ButtonState::Released] {
            self.pointer.button(0, BUTTON_LEFT, state);
            self.pointer.frame();
            self.queue.roundtrip(&mut IgnoredEvents).unwrap();
        }
    }
}

impl TestVirtualPointer {
    /// Moves to `from`, and from there to `to` with the button held.
    pub fn drag(&mut self, from: (u32, u32), to: (u32, u32)) {
        let steps = [(from, None), (from, Some(ButtonState::Pressed)), (to, None), (to, Some(ButtonState::Released))];
        for ((x, y), state) in steps {
            self.pointer.motion_absolute(0, x, y, self.extent.0, self.extent.1);
            self.pointer.frame();
            if let Some(state) = state {
                self.pointer.button(0, BUTTON_LEFT, state);
                self.pointer.frame();
            }
            self.queue.roundtrip(&mut IgnoredEvents).unwrap();
        }
    }
}

macro_rules! ignore {
    ($($interface:ty, $data:ty);*) => {$(
        impl Dispatch<$interface, $data> for IgnoredEvents {
            fn event(
                _: &mut Self,
                _: &$interface,
                _: <$interface as Proxy>::Event,
                _: &$data,
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
            }
        }
    )*};
}

ignore!(WlRegistry, GlobalListContents; ZwlrVirtualPointerManagerV1, (); ZwlrVirtualPointerV1, ());
