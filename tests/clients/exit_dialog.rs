//! The dialog that asks whether to end the session: answers by key, button and finger.

use upbeat::input::InputEvent;
use upbeat::shell::end_session_question::{self, CannotAsk};

use crate::fixture::content::BLUE;
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, KEY_A, KEY_ENTER, KEY_ESCAPE, KEY_LEFT_CTRL, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_Q,
    KEY_RIGHT, OUTPUT, TestWorld,
};

use crate::lock::Locker;

/// Centres of its buttons.
const END: (f64, f64) = (OUTPUT.0 as f64 / 2.0 - 100.0, OUTPUT.1 as f64 / 2.0 + 44.0);
const STAY: (f64, f64) = (OUTPUT.0 as f64 / 2.0 + 100.0, OUTPUT.1 as f64 / 2.0 + 44.0);

fn world_with_exit_dialog() -> TestWorld {
    let mut world = TestWorld::rendered();
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    world.run_until_idle();
    assert!(!world.state.session.is_ending() && is_asked(&world));
    world
}

fn is_asked(world: &TestWorld) -> bool {
    world.state.shell.overlays().question().shown.is_on()
}

fn press(world: &mut TestWorld, key: u32) {
    world.key(key, true);
    world.key(key, false);
}

#[test]
fn exit_dialog_is_answered_by_keys_that_reach_no_client() {
    let mut world = TestWorld::rendered();
    let (client, _window) = world.open("a", 400, 300);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    world.client(client).take_events();
    press(&mut world, KEY_A);
    let is_told =
        world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { key: KEY_A, .. }));
    assert!(!is_told && is_asked(&world));
    press(&mut world, KEY_ESCAPE);
    assert!(!is_asked(&world) && !world.state.session.is_ending());
    press(&mut world, KEY_A);
    assert!(
        world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { key: KEY_A, .. }))
    );

    let mut world = world_with_exit_dialog();
    press(&mut world, KEY_RIGHT);
    press(&mut world, KEY_ENTER);
    assert!(!is_asked(&world) && !world.state.session.is_ending(), "the chosen answer closes the dialog");
    let mut world = world_with_exit_dialog();
    press(&mut world, KEY_ENTER);
    assert!(world.state.session.is_ending());
}

#[test]
fn exit_dialog_is_answered_by_pointer_and_touch() {
    for (at, ends) in [(END, true), (STAY, false), ((5.0, 5.0), false)] {
        let mut world = world_with_exit_dialog();
        world.point(at.0, at.1);
        world.button(BUTTON_LEFT, true);
        assert_eq!((world.state.session.is_ending(), is_asked(&world)), (ends, false));
        let mut world = world_with_exit_dialog();
        let time = world.now();
        world.input(InputEvent::TouchDown { time, slot: 0, position: at.into() });
        assert_eq!((world.state.session.is_ending(), is_asked(&world)), (ends, false));
    }
}

#[test]
fn exit_dialog_is_shown_and_leaves_no_trace() {
    let mut world = TestWorld::rendered();
    world.run_until_idle();
    let before = world.picture().pixels.clone();
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    world.run_until_idle();
    assert_ne!(
        world.pixel(END.0 as i32 - 60, END.1 as i32),
        world.pixel(STAY.0 as i32 - 60, STAY.1 as i32),
        "an answer is chosen"
    );
    press(&mut world, KEY_ESCAPE);
    world.run_until_idle();
    assert!(world.picture().pixels == before);
}

#[test]
fn common_window_shortcuts_do_not_end_the_session() {
    let mut world = TestWorld::rendered();
    let (client, _window) = world.open("a", 400, 300);
    world.client(client).take_events();
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_Q);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Close)));
    assert!(!is_asked(&world) && !world.state.session.is_ending());
}

#[test]
fn hidden_exit_dialog_ends_nothing() {
    let mut world = world_with_exit_dialog();
    world.unplug("TEST-1");
    press(&mut world, KEY_ENTER);
    assert!(!world.state.session.is_ending() && !is_asked(&world));
}

#[test]
fn session_that_cannot_show_the_exit_dialog_is_not_ended_by_a_shortcut() {
    let mut world = TestWorld::rendered();
    world.unplug("TEST-1");
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    assert!(!world.state.session.is_ending() && !is_asked(&world), "no output");
    assert_eq!(end_session_question::place_to_ask(&world.state), Err(CannotAsk::NoOutput));

    let mut world = TestWorld::rendered();
    let end = "Mod+Ctrl+Q".parse().unwrap();
    world.state.bindings.when_locked.insert(end);
    let _locker = Locker::lock(&mut world, BLUE);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    assert!(!world.state.session.is_ending() && !is_asked(&world), "locked");
    assert_eq!(end_session_question::place_to_ask(&world.state), Err(CannotAsk::Locked));
}
