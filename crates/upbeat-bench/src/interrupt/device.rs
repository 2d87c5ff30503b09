//! Input devices for presses: virtual Wayland devices, and the session's private socket for touches, since Wayland has
//! no virtual touch device.

use std::os::fd::AsFd as _;

use serde::{Deserialize, Serialize};
use wayland_client::globals::registry_queue_init;
use wayland_client::protocol::wl_keyboard::{self, KeyState, WlKeyboard};
use wayland_client::protocol::wl_pointer::ButtonState;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{Connection, EventQueue, delegate_noop};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::{
    zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1, zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1,
};

use crate::client::Pointer;
use crate::hear::{hear, hear_globals};
use upbeat_record::ipc::message::Request;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::{Client, find_socket};
use upbeat_timing::time::{Clock as _, MonotonicClock};

/// Letter A of the Linux input event codes.
const KEY_A: u32 = 30;
/// Id of the only touch point.
const FINGER: u32 = 0;

/// Kind of press
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Press {
    /// A key of a virtual keyboard
    #[default]
    Key,
    /// The button of a virtual pointer in the middle of the output, over the only window
    Button,
    /// A finger, at the same place
    Touch,
}

impl Press {
    /// The value on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Press::Key => "key",
            Press::Button => "button",
            Press::Touch => "touch",
        }
    }
}

/// A connected input device.
pub(super) enum Device {
    /// Presses the letter A.
    Keyboard(Box<Keyboard>),
    /// Presses the left button in the middle of the output.
    Pointer(Box<Pointer>),
    /// Touches the middle of the output.
    Finger(Box<Finger>),
}

impl Device {
    /// `None` if the session has no such device.
    pub(super) fn connect(press: Press) -> Option<Device> {
        Some(match press {
            Press::Key => Device::Keyboard(Box::new(Keyboard::connect()?)),
            Press::Button => Device::Pointer(Box::new(Pointer::connect()?)),
            Press::Touch => Device::Finger(Box::new(Finger::connect()?)),
        })
    }

    /// Moves the pointer over the window before the first press.
    pub(super) fn prepare(&mut self) {
        if let Device::Pointer(pointer) = self {
            let (width, height) = pointer.output;
            pointer.move_to(width / 2.0, height / 2.0);
        }
    }

    /// Presses or releases; false when the connection is lost.
    pub(super) fn press(&mut self, down: bool) -> bool {
        match self {
            Device::Keyboard(keyboard) => keyboard.key(if down { KeyState::Pressed } else { KeyState::Released }),
            Device::Pointer(pointer) => pointer.button(if down { ButtonState::Pressed } else { ButtonState::Released }),
            Device::Finger(finger) => finger.touch(down),
        }
    }
}

/// A finger over the middle of the output.
pub(super) struct Finger {
    session: Client,
    at: (f64, f64),
}

impl Finger {
    fn connect() -> Option<Finger> {
        let (width, height) = Pointer::connect()?.output;
        let session = Client::connect(&find_socket(|name| std::env::var_os(name)).ok()?).ok()?;
        Some(Finger { session, at: (width / 2.0, height / 2.0) })
    }

    fn touch(&mut self, down: bool) -> bool {
        let (x, y) = self.at;
        let event =
            if down { InputEvent::TouchDown { finger: FINGER, x, y } } else { InputEvent::TouchUp { finger: FINGER } };
        self.session.ask(Request::Input { events: vec![event] }).is_ok()
    }
}

/// A virtual keyboard with the seat's own keymap.
pub(super) struct Keyboard {
    connection: Connection,
    queue: EventQueue<Seat>,
    seat: Seat,
    keyboard: ZwpVirtualKeyboardV1,
}

impl Keyboard {
    fn connect() -> Option<Keyboard> {
        let connection = Connection::connect_to_env().ok()?;
        let (globals, mut queue) = registry_queue_init::<Seat>(&connection).ok()?;
        let handle = queue.handle();
        let manager: ZwpVirtualKeyboardManagerV1 = globals.bind(&handle, 1..=1, ()).ok()?;
        let seat: WlSeat = globals.bind(&handle, 1..=5, ()).ok()?;
        let keyboard = manager.create_virtual_keyboard(&seat, &handle, ());
        seat.get_keyboard(&handle, ());
        let mut seat = Seat { keyboard: keyboard.clone(), has_keymap: false };
        queue.roundtrip(&mut seat).ok()?;
        seat.has_keymap.then_some(Keyboard { connection, queue, seat, keyboard })
    }

    fn key(&mut self, state: KeyState) -> bool {
        self.keyboard.key(MonotonicClock.now().as_wayland_millis(), KEY_A, state.into());
        self.connection.flush().is_ok() && self.queue.dispatch_pending(&mut self.seat).is_ok()
    }
}

/// State of the seat.
struct Seat {
    keyboard: ZwpVirtualKeyboardV1,
    has_keymap: bool,
}

hear_globals!(Seat);
hear!(Seat: WlKeyboard, (), |seat, _, event, _, _| {
    if let wl_keyboard::Event::Keymap { format, fd, size } = event {
        seat.keyboard.keymap(format.into(), fd.as_fd(), size);
        seat.has_keymap = true;
    }
});
delegate_noop!(Seat: ignore WlSeat);
delegate_noop!(Seat: ignore ZwpVirtualKeyboardManagerV1);
delegate_noop!(Seat: ignore ZwpVirtualKeyboardV1);
