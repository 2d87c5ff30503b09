//! The user's finger: a thread with a connection of its own that presses a key or a button at random times.

use std::ops::Range;
use std::os::fd::AsFd as _;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_keyboard::{self, KeyState, WlKeyboard};
use wayland_client::protocol::wl_pointer::ButtonState;
use wayland_client::protocol::{wl_registry, wl_seat::WlSeat};
use wayland_client::{Connection, Dispatch, EventQueue, QueueHandle, delegate_noop};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::{
    zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1, zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1,
};

use crate::bench::client::Pointer;
use crate::time::{Clock as _, Instant, MonotonicClock, Span};

/// Letter A of the Linux input event codes.
const KEY_A: u32 = 30;
/// Time between two presses: long enough for the compositor to count the gesture as over (400 ms) and for the client to
/// fill its queue again.
const PAUSE: Range<Span> = Span::from_millis(700)..Span::from_millis(950);
/// How long it is held down: a short tap.
const HELD: Span = Span::from_millis(40);
/// The golden section: multiples of it are spread most evenly over a unit.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// What is pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Press {
    /// A key of a virtual keyboard.
    #[default]
    Key,
    /// The button of a virtual pointer in the middle of the output, where the only window is.
    Button,
}

/// The client's side of the finger.
#[derive(Debug)]
pub(super) struct Presser {
    /// When each press was sent.
    presses: Receiver<Instant>,
    thread: JoinHandle<()>,
}

impl Presser {
    /// Starts to press, so many times. `None`: the compositor does not have the virtual device.
    /// `interval`: of the display.
    pub(super) fn start(press: Press, count: usize, interval: Span, seed: u64) -> Option<Presser> {
        let mut device = match press {
            Press::Key => Device::Keyboard(Box::new(Keyboard::connect()?)),
            Press::Button => Device::Pointer(Box::new(Pointer::connect()?)),
        };
        let (sender, presses) = channel();
        let times = times(count, interval, seed);
        let play = move || {
            device.prepare();
            let began = MonotonicClock.now();
            for time in times {
                sleep_until(began + time);
                let at = MonotonicClock.now();
                if !device.press(true) || sender.send(at).is_err() {
                    return;
                }
                sleep_until(at + HELD);
                device.press(false);
            }
            sleep_until(MonotonicClock.now() + PAUSE.end);
        };
        let thread = std::thread::Builder::new().name("finger".into()).spawn(play).ok()?;
        Some(Presser { presses, thread })
    }

    /// Whether it has pressed as often as it was asked to, and the last press was given time to be answered.
    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// When each press was sent.
    pub(super) fn stop(self) -> Vec<Instant> {
        self.presses.try_iter().collect()
    }
}

/// When to press, from the beginning on: random refreshes, and in each a place that is as far as can be from those of the
/// presses before it, so that a hundred presses meet every phase of the display. Random places would make the median of
/// so many uncertain by a millisecond.
fn times(count: usize, interval: Span, seed: u64) -> Vec<Span> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let nanos = interval.as_nanos().max(1);
    let refreshes =
        PAUSE.start.as_nanos() / nanos..(PAUSE.end.as_nanos() / nanos).max(PAUSE.start.as_nanos() / nanos + 1);
    let (mut refresh, mut place) = (0, rng.random::<f64>());
    (0..count)
        .map(|_| {
            refresh += rng.random_range(refreshes.clone());
            place = (place + GOLDEN).fract();
            interval * refresh + Span::from_nanos((place * nanos as f64) as i64)
        })
        .collect()
}

fn sleep_until(until: Instant) {
    let left = (until - MonotonicClock.now()).max(Span::ZERO);
    std::thread::sleep(Duration::from_nanos(left.as_nanos() as u64));
}

/// What it presses with.
enum Device {
    Keyboard(Box<Keyboard>),
    Pointer(Box<Pointer>),
}

impl Device {
    fn prepare(&mut self) {
        if let Device::Pointer(pointer) = self {
            let (width, height) = pointer.output;
            pointer.move_to(width / 2.0, height / 2.0);
        }
    }

    /// False when the connection is lost.
    fn press(&mut self, down: bool) -> bool {
        match self {
            Device::Keyboard(keyboard) => keyboard.key(if down { KeyState::Pressed } else { KeyState::Released }),
            Device::Pointer(pointer) => pointer.button(if down { ButtonState::Pressed } else { ButtonState::Released }),
        }
    }
}

/// A virtual keyboard with the seat's own keymap.
struct Keyboard {
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

/// What it knows of the seat.
struct Seat {
    keyboard: ZwpVirtualKeyboardV1,
    has_keymap: bool,
}

impl Dispatch<WlKeyboard, ()> for Seat {
    fn event(
        seat: &mut Self,
        _: &WlKeyboard,
        event: wl_keyboard::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_keyboard::Event::Keymap { format, fd, size } = event {
            seat.keyboard.keymap(format.into(), fd.as_fd(), size);
            seat.has_keymap = true;
        }
    }
}

impl Dispatch<wl_registry::WlRegistry, GlobalListContents> for Seat {
    fn event(
        _: &mut Self,
        _: &wl_registry::WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

delegate_noop!(Seat: ignore WlSeat);
delegate_noop!(Seat: ignore ZwpVirtualKeyboardManagerV1);
delegate_noop!(Seat: ignore ZwpVirtualKeyboardV1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presses_meet_every_phase_of_the_display_and_leave_time_between_them() {
        let interval = Span::from_millihertz(60_000);
        let times = times(100, interval, 7);
        let mut met = [0; 10];
        for time in &times {
            met[(time.as_nanos() % interval.as_nanos() * 10 / interval.as_nanos()) as usize] += 1;
        }
        assert!(met.iter().all(|count| (8..=12).contains(count)), "{met:?}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] > PAUSE.start - interval * 2));
    }
}
