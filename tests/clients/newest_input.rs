//! Input that arrives while a frame is chosen and drawn: the planes have the position of the last event before the
//! submission, also where the CPU draws.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use upbeat::backend::headless::OutputOptions;
use upbeat::bindings::ShortcutAction;
use upbeat::input::{self, InputEvent, ReadableDevices};
use upbeat::output::power::{self, PowerOnEvent};
use upbeat::state::State;
use upbeat_timing::time::{Clock as _, Instant, Span};

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::simulated::{TURN, nothing};
use crate::fixture::{ClientEvent, ClientIndex, KEY_LEFT_ALT, KEY_TAB, TestToplevel, TestWorld};

const SIZE: (i32, i32) = (400, 300);
/// The pointer before and after the late event.
const BEFORE: (f64, f64) = (640.0, 360.0);
const AFTER: (f64, f64) = (700.0, 400.0);
/// Half the size of the cursor plane.
const NEAR: f64 = 32.0;

/// Devices whose events the event loop has not read yet: they are read only before a frame is submitted.
#[derive(Clone)]
pub struct LateDevices {
    events: Rc<RefCell<VecDeque<InputEvent>>>,
    reads: Rc<Cell<u32>>,
    last_read: Rc<Cell<Instant>>,
}

impl ReadableDevices for LateDevices {
    fn read(&mut self, state: &mut State) -> bool {
        self.reads.set(self.reads.get() + 1);
        self.last_read.set(state.clock.now());
        // An event must not make the devices be read again.
        upbeat::shell::ShellSeat::read_waiting_input(state);
        let mut has_events = false;
        while let Some(event) = { self.events.borrow_mut().pop_front() } {
            has_events = true;
            input::handle(state, event);
        }
        has_events
    }
}

impl LateDevices {
    pub fn of(world: &mut TestWorld) -> Self {
        let devices =
            LateDevices { events: Rc::default(), reads: Rc::default(), last_read: Rc::new(Cell::new(Instant::ZERO)) };
        input::set_devices(&mut world.state, Rc::new(RefCell::new(devices.clone())));
        devices
    }

    pub fn push(&self, event: InputEvent) {
        self.events.borrow_mut().push_back(event);
    }

    pub fn point(&self, world: &TestWorld, position: (f64, f64)) {
        self.push(InputEvent::PointerPosition { time: world.now(), position: position.into() });
    }

    fn press(&self, world: &TestWorld, held: u32, key: u32) {
        let time = world.now();
        for (key, pressed) in [(held, true), (key, true), (key, false), (held, false)] {
            self.push(InputEvent::Key { time, keyboard: input::KeyboardId::Session, key, pressed });
        }
    }
}

/// The pixels of the first output that the cursor plane covers.
pub fn cursor_pixels(world: &TestWorld) -> Vec<(i32, i32)> {
    let shown = world.state.outputs.states().next().unwrap();
    let [with, without] = [true, false].map(|cursor| shown.display().screenshot(cursor).unwrap());
    let differs = |at: &usize| with.pixels[*at] != without.pixels[*at];
    let places = (0..with.pixels.len()).filter(differs);
    places.map(|at| (at as i32 % with.width, at as i32 / with.width)).collect()
}

/// Asserts that the cursor is on screen at `place`, and only there.
pub fn assert_cursor_at(world: &TestWorld, place: (f64, f64)) {
    let seen = cursor_pixels(world);
    assert!(!seen.is_empty(), "a cursor is seen");
    let near = |(x, y): &(i32, i32)| (f64::from(*x) - place.0).abs() < NEAR && (f64::from(*y) - place.1).abs() < NEAR;
    assert!(seen.iter().all(near), "the cursor is not at {place:?} but at {:?}", seen[0]);
}

/// A session that draws with the CPU, with a red window and the pointer at [`BEFORE`].
fn session(options: OutputOptions) -> (TestWorld, LateDevices, ClientIndex, TestToplevel) {
    let mut world = TestWorld::rendered_on(options);
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.point(BEFORE.0, BEFORE.1);
    world.run_until_idle();
    let devices = LateDevices::of(&mut world);
    (world, devices, client, window)
}

fn with_cursor_plane() -> OutputOptions {
    OutputOptions { cursor_plane: Some((64, 64)), ..OutputOptions::default() }
}

/// Commits a picture, and runs until it is on screen.
fn show(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, number: u32) {
    commit(world, client, window, number);
    world.run_until("the picture", |world| world.client(client).light(number).is_some());
}

fn commit(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, number: u32) {
    let colour = if number.is_multiple_of(2) { BLUE } else { GREEN };
    world.client(client).draw(&window.surface, number, SIZE, colour);
    window.surface.commit();
    world.settle();
}

#[test]
fn cursor_plane_of_a_drawn_frame_has_the_position_of_the_last_event_before_its_submission() {
    let (mut world, devices, client, window) = session(with_cursor_plane());
    devices.point(&world, AFTER);
    show(&mut world, client, &window, 2);
    assert_cursor_at(&world, AFTER);
    world.run_until_idle();
    assert_cursor_at(&world, AFTER);
    let motion = world.client(client).take_events();
    assert!(motion.iter().any(|event| matches!(event, ClientEvent::PointerMotion { .. })), "{motion:?}");
}

#[test]
fn cursor_plane_that_alone_changes_has_the_position_of_the_last_event_before_its_submission() {
    let (mut world, devices, ..) = session(with_cursor_plane());
    let before = world.output(0).presented();
    world.point(BEFORE.0 - 100.0, BEFORE.1);
    devices.point(&world, AFTER);
    world.run_until("the next frame", |world| world.output(0).presented() > before);
    assert_cursor_at(&world, AFTER);
}

#[test]
fn outputs_are_switched_off_by_a_shortcut_that_is_read_before_a_submission() {
    for draws in [true, false] {
        let (mut world, devices, client, window) = session(with_cursor_plane());
        let switch = world.state.bindings.keys.keys().find(|chord| chord.to_string() == "Alt+Tab").copied().unwrap();
        world.state.bindings.keys.insert(switch, ShortcutAction::OutputsOff.into());
        let mut number = 2;
        // More often than the display has buffers: none may be lost.
        for _ in 0..8 {
            devices.press(&world, KEY_LEFT_ALT, KEY_TAB);
            if draws {
                commit(&mut world, client, &window, number);
                number += 1;
            } else {
                world.point(BEFORE.0 + f64::from(number), BEFORE.1);
            }
            world.run_until("darkness", |world| world.state.outputs.states().all(|output| !output.is_on()));
            world.turn();
            power::light(&mut world.state, PowerOnEvent::Input);
            world.run_until_idle();
            show(&mut world, client, &window, number);
            number += 1;
        }
    }
}

#[test]
fn a_turn_follows_at_once_on_input_that_is_read_before_a_submission() {
    let (mut world, devices, ..) = session(with_cursor_plane());
    // No client hears of motion beside its window, which would start a turn as well.
    world.point(20.0, 20.0);
    devices.point(&world, (60.0, 60.0));
    world.run_until("the submission", |_| devices.reads.get() > 0);
    assert!(world.now() - devices.last_read.get() <= TURN);
}

#[test]
fn devices_are_read_once_for_a_frame_with_planes_and_never_otherwise() {
    let (mut world, devices, client, window) = session(with_cursor_plane());
    for number in 2..6 {
        show(&mut world, client, &window, number);
    }
    assert_eq!(devices.reads.get(), 4);
    world.run_for(Span::from_millis(500), &mut nothing);
    assert_eq!(devices.reads.get(), 4, "an idle session reads nothing");

    let (mut world, devices, client, window) = session(OutputOptions::default());
    show(&mut world, client, &window, 2);
    assert_eq!(devices.reads.get(), 0, "a drawn cursor stays as it was drawn");
}
