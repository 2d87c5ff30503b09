//! Injects pointer input: a thread with a connection of its own moves a virtual pointer over the probe's window.
//!
//! First it searches the window: it moves over the output until the window reports a pointer position, which gives the
//! window's place. Then it sends numbered positions (`input`) at random times, until it is stopped.
//!
//! ```text
//! hand    move (512,384) ──▶              move (519,389) ──▶               number 1 ──▶   number 2 ──▶
//! window        felt (160.0, 120.0) ──▶        felt (167.0, 125.0): found
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wayland_client::globals::registry_queue_init;
use wayland_client::protocol::{wl_output, wl_pointer::ButtonState, wl_seat::WlSeat};
use wayland_client::{Connection, EventQueue, WEnum, delegate_noop};
use wayland_protocols_wlr::virtual_pointer::v1::client::{
    zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1, zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1,
};

use super::input::{WINDOW, position_of};
use super::journal::SentInput;
use crate::dispatch_macros::{ignore_globals, impl_dispatch};
use upbeat_timing::time::{Clock, Instant, MonotonicClock, Span};

/// Left button of the Linux input event codes.
const BTN_LEFT: u32 = 0x110;
/// Units in a pixel for absolute positions: as fine as Wayland's fixed-point numbers.
const UNITS: f64 = 256.0;
/// How long to wait for the window's pointer event at a point: longer than any sensible frame.
const PATIENCE: Duration = Duration::from_millis(200);
/// Offset of the second point of the search: tells a late event of an older position from a true answer.
const NUDGE: (f64, f64) = (7.0, 5.0);
/// Points around the middle that are tried first. The number doubles in each round, because the window may not be
/// mapped yet.
const FIRST_REACH: usize = 4;
/// Time between the two position reports that must agree (in pixels, within a few of Wayland's 256ths). A window that
/// still moves slowly at the end of an animation would be found at a wrong place, and every number misread.
const REST: Duration = Duration::from_millis(100);
const MOST_ASTRAY: f64 = 0.05;
/// Attempts at a point where the window reports changing positions: an animation still moves it. An animation takes a
/// fraction of a second, and each attempt takes at most a frame.
const MOST_ATTEMPTS: u32 = 100;
/// The golden ratio: the fractional parts of its multiples are spread as evenly as possible.
const GOLDEN: f64 = 0.618_033_988_749_895;
/// Value before the first number is sent.
const NOTHING_SENT: u32 = 0;

/// The probe's handle of the injector thread.
#[derive(Debug)]
pub(super) struct PointerInjector {
    positions: Sender<(f64, f64)>,
    newest_sent: Arc<AtomicU32>,
    thread: JoinHandle<Vec<SentInput>>,
}

/// Input that the thread injects.
#[derive(Clone, Copy, Debug)]
pub(super) struct InjectedGesture {
    /// For the random times.
    pub(super) seed: u64,
    /// Mean events per second.
    pub(super) rate: f64,
    /// Keep a button pressed.
    pub(super) hold: bool,
}

impl PointerInjector {
    /// Starts the thread; `None` where the compositor has no virtual pointer or no output.
    pub(super) fn start(gesture: InjectedGesture) -> Option<PointerInjector> {
        let pointer = VirtualPointerClient::connect()?;
        let (feelings, felt) = channel();
        let newest_sent = Arc::new(AtomicU32::new(NOTHING_SENT));
        let sent = Arc::clone(&newest_sent);
        let thread = std::thread::Builder::new()
            .name("hand".into())
            .spawn(move || inject(pointer, gesture, &felt, &sent))
            .ok()?;
        Some(PointerInjector { positions: feelings, newest_sent, thread })
    }

    /// The newest number that was sent; `None` while the window is being searched.
    pub(super) fn newest_sent(&self) -> Option<u32> {
        Some(self.newest_sent.load(Ordering::Acquire)).filter(|number| *number != NOTHING_SENT)
    }

    /// Reports a pointer event of the window, in surface-local coordinates.
    pub(super) fn report_position(&self, x: f64, y: f64) {
        let _ = self.positions.send((x, y)); // the thread may have ended
    }

    /// Whether the thread has ended, because it did not find the window or lost its connection.
    pub(super) fn has_given_up(&self) -> bool {
        self.thread.is_finished()
    }

    /// Stops the thread and returns the injected inputs with their times.
    pub(super) fn stop(self) -> Vec<SentInput> {
        drop(self.positions);
        self.thread.join().unwrap_or_default()
    }
}

/// Finds the window, then sends numbers until the channel closes.
fn inject(
    mut pointer: VirtualPointerClient,
    gesture: InjectedGesture,
    felt: &Receiver<(f64, f64)>,
    newest: &AtomicU32,
) -> Vec<SentInput> {
    let mut injected = Vec::with_capacity(16 * 1024);
    let Some((left, top)) = find_window(&mut pointer, felt) else { return injected };
    if gesture.hold {
        pointer.button(ButtonState::Pressed);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(gesture.seed);
    let mut phase: f64 = rng.random();
    for number in NOTHING_SENT + 1.. {
        let pause = Span::from_nanos((rng.random_range(0.5..1.5) / gesture.rate * 1e9) as i64);
        let due = next_input_time(MonotonicClock.now(), pause, pointer.interval, phase);
        phase = (phase + GOLDEN).fract();
        // The channel closes at the end of the run; positions in it are ignored from here on.
        if sleep_unless_closed(felt, due) {
            break;
        }
        let (x, y) = position_of(number);
        newest.store(number, Ordering::Release);
        injected.push(SentInput { number, at: MonotonicClock.now() });
        if !pointer.move_to(left + x, top + y) {
            break;
        }
    }
    if gesture.hold {
        pointer.button(ButtonState::Released);
    }
    injected
}

/// A moment about `pause` after `now`, at `phase` of a refresh interval. An input mostly waits for the next refresh, so
/// the phases are spread evenly. With random phases the median of some hundred inputs differed by a third of a
/// millisecond from run to run.
fn next_input_time(now: Instant, pause: Span, interval: Span, phase: f64) -> Instant {
    let interval = interval.as_nanos();
    let earliest = now + (pause - Span::from_nanos(interval / 2)).max(Span::ZERO);
    if interval <= 0 {
        return earliest;
    }
    let into = (earliest - Instant::ZERO).as_nanos();
    let wait = ((phase * interval as f64) as i64 - into).rem_euclid(interval);
    earliest + Span::from_nanos(wait)
}

/// Sleeps until `end`; true when the channel closes before.
fn sleep_unless_closed(felt: &Receiver<(f64, f64)>, end: Instant) -> bool {
    loop {
        let left = (end - MonotonicClock.now()).max(Span::ZERO);
        match felt.recv_timeout(Duration::from_nanos(left.as_nanos().unsigned_abs())) {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => return true,
        }
    }
}

/// Finds the window's top left corner on the output.
fn find_window(pointer: &mut VirtualPointerClient, felt: &Receiver<(f64, f64)>) -> Option<(f64, f64)> {
    let points = search_points(pointer.output);
    let mut reach = FIRST_REACH;
    loop {
        let near = points.iter().take(reach);
        if let Some(corner) = near.into_iter().find_map(|(x, y)| find_window_at(pointer, felt, *x, *y)) {
            return Some(corner);
        }
        if reach >= points.len() {
            return None;
        }
        reach *= 2;
    }
}

/// Finds the window's top left corner if the window is at this point. Waits while an animation still moves the window.
fn find_window_at(
    pointer: &mut VirtualPointerClient,
    felt: &Receiver<(f64, f64)>,
    x: f64,
    y: f64,
) -> Option<(f64, f64)> {
    for _ in 0..MOST_ATTEMPTS {
        let (first_x, first_y) = wait_for_position(pointer, felt, x, y)?;
        let (second_x, second_y) = wait_for_position(pointer, felt, x + NUDGE.0, y + NUDGE.1)?;
        let apart = |a: f64, b: f64, c: f64, d: f64| (a - b).abs().max((c - d).abs());
        if apart(second_x, first_x + NUDGE.0, second_y, first_y + NUDGE.1) > MOST_ASTRAY {
            continue;
        }
        std::thread::sleep(REST);
        let (later_x, later_y) = wait_for_position(pointer, felt, x, y)?;
        if apart(later_x, first_x, later_y, first_y) <= MOST_ASTRAY {
            return Some((x - later_x, y - later_y));
        }
    }
    None
}

/// Points of a grid so fine that a window anywhere contains one with room around it. Nearest to the middle of the
/// output first.
fn search_points((width, height): (f64, f64)) -> Vec<(f64, f64)> {
    let (step_x, step_y) = (WINDOW.0 as f64 / 2.5, WINDOW.1 as f64 / 2.5);
    let mut points = Vec::new();
    let mut y = step_y / 2.0;
    while y < height {
        let mut x = step_x / 2.0;
        while x < width {
            points.push((x.round(), y.round()));
            x += step_x;
        }
        y += step_y;
    }
    let from_middle = |(x, y): (f64, f64)| (x - width / 2.0).hypot(y - height / 2.0);
    points.sort_by(|a, b| from_middle(*a).total_cmp(&from_middle(*b)));
    points
}

/// Moves the pointer and waits for the window's pointer event.
fn wait_for_position(
    pointer: &mut VirtualPointerClient,
    felt: &Receiver<(f64, f64)>,
    x: f64,
    y: f64,
) -> Option<(f64, f64)> {
    while felt.try_recv().is_ok() {}
    pointer.move_to(x, y);
    felt.recv_timeout(PATIENCE).ok()
}

/// A virtual pointer on a connection of its own.
pub(crate) struct VirtualPointerClient {
    connection: Connection,
    queue: EventQueue<InjectorOutput>,
    state: InjectorOutput,
    pointer: ZwlrVirtualPointerV1,
    /// Size of the first output in pixels.
    pub(crate) output: (f64, f64),
    /// Refresh interval of that output; zero if unknown.
    interval: Span,
}

impl VirtualPointerClient {
    /// `None` where the compositor has no virtual pointer or no output.
    pub(crate) fn connect() -> Option<VirtualPointerClient> {
        let connection = Connection::connect_to_env().ok()?;
        let (globals, mut queue) = registry_queue_init::<InjectorOutput>(&connection).ok()?;
        let handle = queue.handle();
        let manager: ZwlrVirtualPointerManagerV1 = globals.bind(&handle, 1..=2, ()).ok()?;
        let seat: Option<WlSeat> = globals.bind(&handle, 1..=5, ()).ok();
        let output: wl_output::WlOutput = globals.bind(&handle, 1..=2, ()).ok()?;
        let mut state = InjectorOutput { size: None, interval: Span::ZERO };
        queue.roundtrip(&mut state).ok()?;
        let (width, height) = state.size?;
        let pointer = if wayland_client::Proxy::version(&manager) >= 2 {
            manager.create_virtual_pointer_with_output(seat.as_ref(), Some(&output), &handle, ())
        } else {
            manager.create_virtual_pointer(seat.as_ref(), &handle, ())
        };
        let (output, interval) = ((f64::from(width), f64::from(height)), state.interval);
        Some(VirtualPointerClient { connection, queue, state, pointer, output, interval })
    }

    /// Moves to a position on the output, in pixels; false when the connection is lost.
    pub(crate) fn move_to(&mut self, x: f64, y: f64) -> bool {
        let units = |pixels: f64| (pixels * UNITS).round().max(0.0) as u32;
        self.pointer.motion_absolute(now_ms(), units(x), units(y), units(self.output.0), units(self.output.1));
        self.end_frame()
    }

    /// Presses or releases the left button; false when the connection is lost.
    pub(crate) fn button(&mut self, state: ButtonState) -> bool {
        self.pointer.button(now_ms(), BTN_LEFT, state);
        self.end_frame()
    }

    fn end_frame(&mut self) -> bool {
        self.pointer.frame();
        self.connection.flush().is_ok() && self.queue.dispatch_pending(&mut self.state).is_ok()
    }
}

fn now_ms() -> u32 {
    MonotonicClock.now().as_wayland_millis()
}

/// Properties of the output that the injector needs.
#[derive(Debug)]
struct InjectorOutput {
    size: Option<(i32, i32)>,
    interval: Span,
}

delegate_noop!(InjectorOutput: ignore ZwlrVirtualPointerManagerV1);
delegate_noop!(InjectorOutput: ignore ZwlrVirtualPointerV1);
delegate_noop!(InjectorOutput: ignore WlSeat);

ignore_globals!(InjectorOutput);
impl_dispatch!(InjectorOutput: wl_output::WlOutput, (), |output, _, event, _, _| {
    if let wl_output::Event::Mode { flags: WEnum::Value(flags), width, height, refresh } = event
        && flags.contains(wl_output::Mode::Current)
    {
        output.size = Some((width, height));
        output.interval = u32::try_from(refresh).ok().filter(|rate| *rate > 0).map_or(Span::ZERO, Span::from_millihertz);
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_spread_over_the_refresh_whenever_they_begin_and_keep_their_rate() {
        let interval = Span::from_millihertz(60_000);
        for start in [0, 3_000_000, 16_000_000] {
            let (mut now, mut phase) = (Instant::from_nanos(1_000_000_000 + start), 0.3);
            let begun = now;
            let mut phases: Vec<f64> = Vec::new();
            for number in 0..300_i64 {
                let pause = Span::from_millis(17 + number % 33);
                let due = next_input_time(now, pause, interval, phase);
                assert!((due - now - pause).abs() <= interval / 2 + Span::from_nanos(1), "{}", due - now);
                (now, phase) = (due, (phase + GOLDEN).fract());
                phases.push((due.as_nanos() % interval.as_nanos().unsigned_abs()) as f64 / interval.as_nanos() as f64);
            }
            phases.sort_by(f64::total_cmp);
            let worst = phases
                .iter()
                .zip(0..)
                .map(|(phase, place)| (phase - f64::from(place) / 300.0).abs())
                .fold(0.0, f64::max);
            assert!(worst < 0.01, "{worst}");
            let mean = (now - begun).as_seconds_f64() / 300.0;
            assert!((0.032..0.034).contains(&mean), "{mean}");
        }
        assert_eq!(
            next_input_time(Instant::from_nanos(5), Span::from_nanos(7), Span::ZERO, 0.5),
            Instant::from_nanos(12)
        );
    }

    #[test]
    fn every_window_position_contains_a_search_point_with_room_for_the_nudge() {
        let points = search_points((1280.0, 720.0));
        for left in (0..=1280 - WINDOW.0).step_by(7) {
            for top in (0..=720 - WINDOW.1).step_by(7) {
                let inside = |(x, y): &(f64, f64)| {
                    let (x, y) = (x - left as f64, y - top as f64);
                    x >= 0.0 && y >= 0.0 && x + NUDGE.0 < WINDOW.0 as f64 && y + NUDGE.1 < WINDOW.1 as f64
                };
                assert!(points.iter().any(inside), "a window at {left},{top}");
            }
        }
    }

    #[test]
    fn the_search_begins_in_the_middle() {
        let (x, y) = search_points((1280.0, 720.0))[0];
        assert!((x - 640.0).abs() <= 64.0 && (y - 360.0).abs() <= 48.0, "{x},{y}");
    }
}
