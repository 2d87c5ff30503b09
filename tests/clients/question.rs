//! The dialog that asks whether to end the session: answers by key, button and finger.

use upbeat::input::InputEvent;
use upbeat::shell::question::{self, Unseen};

use crate::fixture::content::BLUE;
use crate::fixture::{
    BUTTON_LEFT, Event, KEY_A, KEY_ENTER, KEY_ESCAPE, KEY_LEFT_CTRL, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_Q, KEY_RIGHT,
    OUTPUT, World,
};

use crate::lock::Locker;

/// Centres of its buttons.
const END: (f64, f64) = (OUTPUT.0 as f64 / 2.0 - 100.0, OUTPUT.1 as f64 / 2.0 + 44.0);
const STAY: (f64, f64) = (OUTPUT.0 as f64 / 2.0 + 100.0, OUTPUT.1 as f64 / 2.0 + 44.0);

fn asked() -> World {
    let mut world = World::lit();
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    world.rest();
    assert!(!world.state.session.is_ending() && is_asked(&world));
    world
}

fn is_asked(world: &World) -> bool {
    world.state.shell.overlays().question().shown.is_on()
}

fn press(world: &mut World, key: u32) {
    world.key(key, true);
    world.key(key, false);
}

#[test]
fn keys_answer_it_and_reach_nobody_meanwhile() {
    let mut world = World::lit();
    let (client, _window) = world.open("a", 400, 300);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    world.client(client).take_events();
    press(&mut world, KEY_A);
    let is_told = world.client(client).take_events().iter().any(|event| matches!(event, Event::Key { key: KEY_A, .. }));
    assert!(!is_told && is_asked(&world));
    press(&mut world, KEY_ESCAPE);
    assert!(!is_asked(&world) && !world.state.session.is_ending());
    press(&mut world, KEY_A);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, Event::Key { key: KEY_A, .. })));

    let mut world = asked();
    press(&mut world, KEY_RIGHT);
    press(&mut world, KEY_ENTER);
    assert!(!is_asked(&world) && !world.state.session.is_ending(), "the chosen answer closes the dialog");
    let mut world = asked();
    press(&mut world, KEY_ENTER);
    assert!(world.state.session.is_ending());
}

#[test]
fn a_pointer_and_a_finger_answer_it() {
    for (at, ends) in [(END, true), (STAY, false), ((5.0, 5.0), false)] {
        let mut world = asked();
        world.point(at.0, at.1);
        world.button(BUTTON_LEFT, true);
        assert_eq!((world.state.session.is_ending(), is_asked(&world)), (ends, false));
        let mut world = asked();
        let time = world.now();
        world.input(InputEvent::TouchDown { time, slot: 0, position: at.into() });
        assert_eq!((world.state.session.is_ending(), is_asked(&world)), (ends, false));
    }
}

#[test]
fn it_is_seen_and_goes_without_a_trace() {
    let mut world = World::lit();
    world.rest();
    let before = world.picture().pixels.clone();
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    world.rest();
    assert_ne!(
        world.pixel(END.0 as i32 - 60, END.1 as i32),
        world.pixel(STAY.0 as i32 - 60, STAY.1 as i32),
        "an answer is chosen"
    );
    press(&mut world, KEY_ESCAPE);
    world.rest();
    assert!(world.picture().pixels == before);
}

#[test]
fn no_shortcut_that_others_have_for_a_window_ends_the_session() {
    let mut world = World::lit();
    let (client, _window) = world.open("a", 400, 300);
    world.client(client).take_events();
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_Q);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, Event::Close)));
    assert!(!is_asked(&world) && !world.state.session.is_ending());
}

#[test]
fn one_that_nobody_sees_any_more_ends_nothing() {
    let mut world = asked();
    world.unplug("TEST-1");
    press(&mut world, KEY_ENTER);
    assert!(!world.state.session.is_ending() && !is_asked(&world));
}

#[test]
fn session_that_cannot_ask_is_not_ended_by_a_shortcut() {
    let mut world = World::lit();
    world.unplug("TEST-1");
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    assert!(!world.state.session.is_ending() && !is_asked(&world), "no output");
    assert_eq!(question::place_to_ask(&world.state), Err(Unseen::NoOutput));

    let mut world = World::lit();
    let end = "Mod+Ctrl+Q".parse().unwrap();
    world.state.bindings.when_locked.insert(end);
    let _locker = Locker::lock(&mut world, BLUE);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], KEY_Q);
    assert!(!world.state.session.is_ending() && !is_asked(&world), "locked");
    assert_eq!(question::place_to_ask(&world.state), Err(Unseen::Locked));
}
