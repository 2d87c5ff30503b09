//! Outputs that are off, and the input that switches them on.

use upbeat::bindings::Action;
use upbeat::input::InputEvent;
use upbeat::output::power::{self, LitBy};
use upbeat_timing::time::Span;
use wayland_protocols_wlr::output_power_management::v1::client::zwlr_output_power_v1::Mode;

use crate::fixture::{BUTTON_LEFT, ClientIndex, Event, KEY_A, KEY_LEFT_ALT, KEY_TAB, World};
use crate::{idle, output_power};

/// Number of input events that the client received.
fn heard(world: &mut World, client: ClientIndex) -> usize {
    world.settle();
    let is_input = |event: &Event| {
        matches!(
            event,
            Event::Key { .. } | Event::Button { .. } | Event::TouchDown { .. } | Event::PointerMotion { .. }
        )
    };
    world.client(client).take_events().iter().filter(|event| is_input(event)).count()
}

fn touch(world: &mut World) {
    let time = world.now();
    world.input(InputEvent::TouchDown { time, slot: 3, position: (100.0, 100.0).into() });
    world.input(InputEvent::TouchMotion { time, slot: 3, position: (110.0, 100.0).into() });
    world.input(InputEvent::TouchUp { time, slot: 3 });
}

fn is_on(world: &World) -> bool {
    world.state.outputs.states().all(|output| output.is_on())
}

/// A window under the pointer, with the keyboard focus.
fn with_a_window() -> (World, ClientIndex) {
    let mut world = World::lit();
    let (client, _window) = world.open("window", 400, 300);
    world.put("window", (50, 50));
    world.point(100.0, 100.0);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert_eq!(heard(&mut world, client), 2, "it has the keyboard");
    (world, client)
}

type Act = fn(&mut World);

const ACTS: [(&str, Act); 4] = [
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
fn what_lights_outputs_that_a_shortcut_switched_off_is_nobodys() {
    let (mut world, client) = with_a_window();
    let switch = world.state.bindings.keys.keys().find(|chord| chord.to_string() == "Alt+Tab").copied().unwrap();
    world.state.bindings.keys.insert(switch, Action::OutputsOff.into());
    for (what, act) in ACTS {
        world.chord(&[KEY_LEFT_ALT], KEY_TAB);
        assert!(!is_on(&world), "letting go lights nothing");
        heard(&mut world, client);
        act(&mut world);
        assert!(is_on(&world), "{what} lights them");
        assert_eq!(heard(&mut world, client), 0, "{what}");
        act(&mut world);
        world.point(100.0, 100.0);
        assert!(heard(&mut world, client) > 0, "{what} reaches the window again");
    }
}

#[test]
fn what_ends_idleness_while_all_is_dark_is_nobodys_and_what_comes_after_it_is_not() {
    let (mut world, client) = with_a_window();
    let watcher = world.connect();
    let power = output_power::power(&mut world, watcher);
    let _notification = idle::notification(&mut world, watcher);
    let rest = Span::from_millis(1_500);
    for (what, act) in ACTS {
        world.settle();
        world.run_for(rest, &mut |_| None);
        act(&mut world);
        assert!(heard(&mut world, client) > 0, "{what}: it reaches the window while the output is on");
        world.run_for(rest, &mut |_| None);
        power.set_mode(Mode::Off);
        world.settle();
        world.turn();
        assert!(!is_on(&world));
        act(&mut world);
        world.turn();
        assert_eq!(heard(&mut world, client), 0, "{what}");
        // The first input only ended the idle state. Later input is delivered even if the client leaves the outputs
        // off, so that the user is not locked out.
        world.key(KEY_A, true);
        world.key(KEY_A, false);
        assert_eq!(heard(&mut world, client), 2, "{what}");
        power.set_mode(Mode::On);
        world.settle();
    }
}

#[test]
fn outputs_that_a_message_switched_on_and_off_again_stay_dark_whatever_is_pressed() {
    let (mut world, _) = with_a_window();
    let output = world.state.outputs.states().next().unwrap().id();
    power::darken(&mut world.state, LitBy::Input);
    power::set(&mut world.state, output, true);
    power::set(&mut world.state, output, false);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(!is_on(&world), "the wake-up by input was cancelled");
}

#[test]
fn input_lights_outputs_that_a_message_switches_off_while_they_are_dark() {
    let (mut world, _) = with_a_window();
    let output = world.state.outputs.states().next().unwrap().id();
    power::darken(&mut world.state, LitBy::Input);
    power::set(&mut world.state, output, false);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(is_on(&world), "the message changed nothing");
}

#[test]
fn input_lights_no_output_that_was_shut_while_it_was_dark() {
    let (mut world, _) = with_a_window();
    let output = world.state.outputs.states().next().unwrap().id();
    power::darken(&mut world.state, LitBy::Input);
    power::shut(&mut world.state, output);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(!is_on(&world), "the panel below a closed lid stays off");
}
