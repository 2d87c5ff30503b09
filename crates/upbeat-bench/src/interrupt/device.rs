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

use crate::client::VirtualPointerClient;
use crate::dispatch_macros::{ignore_globals, impl_dispatch};
use upbeat_record::ipc::message::Request;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::{IpcClient, find_socket};
use upbeat_timing::time::{Clock as _, MonotonicClock};

/// Letter A of the Linux input event codes.
const KEY_A: u32 = 30;
/// Id of the only touch point.
const FINGER: u32 = 0;

/// Kind of press
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PressKind {
    /// A key of a virtual keyboard
    #[default]
    Key,
    /// The button of a virtual pointer in the middle of the output, over the only window
    Button,
    /// A finger, at the same place
    Touch,
}

impl PressKind {
    /// The value on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            PressKind::Key => "key",
            PressKind::Button => "button",
            PressKind::Touch => "touch",
        }
    }
}

/// A connected input device.
pub(super) enum PressDevice {
    /// Presses the letter A.
    Keyboard(Box<VirtualKeyboardClient>),
    /// Presses the left button in the middle of the output.
    Pointer(Box<VirtualPointerClient>),
    /// Touches the middle of the output.
    Finger(Box<TouchInjector>),
}

impl PressDevice {
    /// `None` if the session has no such device.
    pub(super) fn connect(press: PressKind) -> Option<PressDevice> {
        Some(match press {
            PressKind::Key => PressDevice::Keyboard(Box::new(VirtualKeyboardClient::connect()?)),
            PressKind::Button => PressDevice::Pointer(Box::new(VirtualPointerClient::connect()?)),
            PressKind::Touch => PressDevice::Finger(Box::new(TouchInjector::connect()?)),
        })
    }

    /// Moves the pointer over the window before the first press.
    pub(super) fn prepare(&mut self) {
        if let PressDevice::Pointer(pointer) = self {
            let (width, height) = pointer.output;
            pointer.move_to(width / 2.0, height / 2.0);
        }
    }

    /// Presses or releases; false when the connection is lost.
    pub(super) fn press(&mut self, down: bool) -> bool {
        match self {
            PressDevice::Keyboard(keyboard) => keyboard.key(if down { KeyState::Pressed } else { KeyState::Released }),
            PressDevice::Pointer(pointer) => {
                pointer.button(if down { ButtonState::Pressed } else { ButtonState::Released })
            }
            PressDevice::Finger(finger) => finger.touch(down),
        }
    }
}

/// A finger over the middle of the output.
pub(super) struct TouchInjector {
    session: IpcClient,
    at: (f64, f64),
}

impl TouchInjector {
    fn connect() -> Option<TouchInjector> {
        let (width, height) = VirtualPointerClient::connect()?.output;
        let session = IpcClient::connect(&find_socket(|name| std::env::var_os(name)).ok()?).ok()?;
        Some(TouchInjector { session, at: (width / 2.0, height / 2.0) })
    }

    fn touch(&mut self, down: bool) -> bool {
        let (x, y) = self.at;
        let event =
            if down { InputEvent::TouchDown { finger: FINGER, x, y } } else { InputEvent::TouchUp { finger: FINGER } };
        self.session.request(Request::Input { events: vec![event] }).is_ok()
    }
}

/// A virtual keyboard with the seat's own keymap.
pub(super) struct VirtualKeyboardClient {
    connection: Connection,
    queue: EventQueue<KeyboardSeat>,
    seat: KeyboardSeat,
    keyboard: ZwpVirtualKeyboardV1,
}

impl VirtualKeyboardClient {
    fn connect() -> Option<VirtualKeyboardClient> {
        let connection = Connection::connect_to_env().ok()?;
        let (globals, mut queue) = registry_queue_init::<KeyboardSeat>(&connection).ok()?;
        let handle = queue.handle();
        let manager: ZwpVirtualKeyboardManagerV1 = globals.bind(&handle, 1..=1, ()).ok()?;
        let seat: WlSeat = globals.bind(&handle, 1..=5, ()).ok()?;
        let keyboard = manager.create_virtual_keyboard(&seat, &handle, ());
        seat.get_keyboard(&handle, ());
        let mut seat = KeyboardSeat { keyboard: keyboard.clone(), has_keymap: false };
        queue.roundtrip(&mut seat).ok()?;
        seat.has_keymap.then_some(VirtualKeyboardClient { connection, queue, seat, keyboard })
    }

    fn key(&mut self, state: KeyState) -> bool {
        self.keyboard.key(MonotonicClock.now().as_wayland_millis(), KEY_A, state.into());
        self.connection.flush().is_ok() && self.queue.dispatch_pending(&mut self.seat).is_ok()
    }
}

/// State of the seat.
struct KeyboardSeat {
    keyboard: ZwpVirtualKeyboardV1,
    has_keymap: bool,
}

ignore_globals!(KeyboardSeat);
impl_dispatch!(KeyboardSeat: WlKeyboard, (), |seat, _, event, _, _| {
    if let wl_keyboard::Event::Keymap { format, fd, size } = event {
        seat.keyboard.keymap(format.into(), fd.as_fd(), size);
        seat.has_keymap = true;
    }
});
delegate_noop!(KeyboardSeat: ignore WlSeat);
delegate_noop!(KeyboardSeat: ignore ZwpVirtualKeyboardManagerV1);
delegate_noop!(KeyboardSeat: ignore ZwpVirtualKeyboardV1);
