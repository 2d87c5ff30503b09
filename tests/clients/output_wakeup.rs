//! Outputs that are off, and the input that switches them on.

use upbeat::bindings::ShortcutAction;
use upbeat::input::InputEvent;
use upbeat::output::power::{self, PowerOnEvent};
use upbeat_timing::time::Span;
use wayland_protocols_wlr::output_power_management::v1::client::zwlr_output_power_v1::Mode;

use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_A, KEY_LEFT_ALT, KEY_TAB, TestWorld};
use crate::{idle, output_power};

/// Number of input events that the client received.
fn input_count(world: &mut TestWorld, client: ClientIndex) -> usize {
    world.settle();
    let is_input = |event: &ClientEvent| {
        matches!(
            event,
            ClientEvent::Key { .. }
                | ClientEvent::Button { .. }
                | ClientEvent::TouchDown { .. }
                | ClientEvent::PointerMotion { .. }
        )
    };
    world.client(client).take_events().iter().filter(|event| is_input(event)).count()
}

fn touch(world: &mut TestWorld) {
    let time = world.now();
    world.input(InputEvent::TouchDown { time, slot: 3, position: (100.0, 100.0).into() });
    world.input(InputEvent::TouchMotion { time, slot: 3, position: (110.0, 100.0).into() });
    world.input(InputEvent::TouchUp { time, slot: 3 });
}

fn is_on(world: &TestWorld) -> bool {
    world.state.outputs.states().all(|output| output.is_on())
}

/// A window under the pointer, with the keyboard focus.
fn with_a_window() -> (TestWorld, ClientIndex) {
    let mut world = TestWorld::rendered();
    let (client, _window) = world.open("window", 400, 300);
    world.move_window("window", (50, 50));
    world.point(100.0, 100.0);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert_eq!(input_count(&mut world, client), 2, "it has the keyboard");
    (world, client)
}

type WakeInput = fn(&mut TestWorld);

const ACTS: [(&str, WakeInput); 4] = [
    ("a key", |world| {
        world.key(KEY_A, true);
        world.key(KEY_A, false);
    }),
    ("a button", |world| {
        world.button(BUTTON_LEFT, true);
        world.button(BUTTON_LEFT, false);
    }),
    ("a finger", touch),
    ("a motion", |world| world.point(120.0, 120.0)),
];

#[test]
fn input_that_wakes_outputs_after_a_shortcut_reaches_no_client() {
    let (mut world, client) = with_a_window();
    let switch = world.state.bindings.keys.keys().find(|chord| chord.to_string() == "Alt+Tab").copied().unwrap();
    world.state.bindings.keys.insert(switch, ShortcutAction::OutputsOff.into());
    for (what, act) in ACTS {
        world.chord(&[KEY_LEFT_ALT], KEY_TAB);
        assert!(!is_on(&world), "letting go lights nothing");
        input_count(&mut world, client);
        act(&mut world);
        assert!(is_on(&world), "{what} lights them");
        assert_eq!(input_count(&mut world, client), 0, "{what}");
        act(&mut world);
        world.point(100.0, 100.0);
        assert!(input_count(&mut world, client) > 0, "{what} reaches the window again");
    }
}

#[test]
fn input_that_ends_idle_with_outputs_off_is_dropped_and_later_input_arrives() {
    let (mut world, client) = with_a_window();
    let watcher = world.connect();
    let power = output_power::power(&mut world, watcher);
    let _notification = idle::notification(&mut world, watcher);
    let rest = Span::from_millis(1_500);
    for (what, act) in ACTS {
        world.settle();
        world.run_for(rest, &mut |_| None);
        act(&mut world);
        assert!(input_count(&mut world, client) > 0, "{what}: it reaches the window while the output is on");
        world.run_for(rest, &mut |_| None);
        power.set_mode(Mode::Off);
        world.settle();
        world.turn();
        assert!(!is_on(&world));
        act(&mut world);
        world.turn();
        assert_eq!(input_count(&mut world, client), 0, "{what}");
        // The first input only ended the idle state. Later input is delivered even if the client leaves the outputs
        // off, so that the user is not locked out.
        world.key(KEY_A, true);
        world.key(KEY_A, false);
        assert_eq!(input_count(&mut world, client), 2, "{what}");
        power.set_mode(Mode::On);
        world.settle();
    }
}

#[test]
fn input_does_not_wake_outputs_switched_on_and_off_by_a_message() {
    let (mut world, _) = with_a_window();
    let output = world.state.outputs.states().next().unwrap().id();
    power::darken(&mut world.state, PowerOnEvent::Input);
    power::set(&mut world.state, output, true);
    power::set(&mut world.state, output, false);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(!is_on(&world), "the wake-up by input was cancelled");
}

#[test]
fn input_wakes_outputs_switched_off_by_a_message_while_already_off() {
    let (mut world, _) = with_a_window();
    let output = world.state.outputs.states().next().unwrap().id();
    power::darken(&mut world.state, PowerOnEvent::Input);
    power::set(&mut world.state, output, false);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(is_on(&world), "the message changed nothing");
}

#[test]
fn input_does_not_wake_the_output_of_a_closed_lid() {
    let (mut world, _) = with_a_window();
    let output = world.state.outputs.states().next().unwrap().id();
    power::darken(&mut world.state, PowerOnEvent::Input);
    power::switch_off(&mut world.state, output);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(!is_on(&world), "the panel below a closed lid stays off");
}
