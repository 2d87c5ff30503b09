//! Keys that go to the input method, and those that it types.

use upbeat::input::KeyboardId;

use super::{Desk, grab, pass, told};
use crate::fixture::content::BLUE;
use crate::fixture::{Event, KEY_A, KEY_F, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_TAB, World};
use crate::lock::Locker;
use crate::virtual_devices::{give_keymap, keymap, strokes, virtual_keyboard};

fn heard(world: &mut World, client: crate::fixture::ClientIndex) -> Vec<(u32, bool)> {
    pass(world);
    strokes(world.client(client).take_events())
}

fn keymaps(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Keymap(..))).count()
}

#[test]
fn keys_go_to_the_input_method_while_a_field_is_typed_into_and_to_nobody_else() {
    let mut desk = Desk::new();
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    assert_eq!(desk.typist(), ["keymap", "repeat 25 400", "modifiers 0"]);
    desk.world.key(KEY_LEFT_SHIFT, true);
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    desk.world.key(KEY_LEFT_SHIFT, false);
    assert_eq!(desk.typist(), ["key 42 down", "modifiers 1", "key 30 down", "key 30 up", "key 42 up", "modifiers 0"]);
    assert!(heard(&mut desk.world, desk.writer).is_empty());
    desk.field.disable();
    desk.field.commit();
    desk.typist();
    desk.world.key(KEY_A, true);
    assert_eq!(heard(&mut desk.world, desk.writer), [(KEY_A, true)]);
    desk.enable();
    desk.world.key(KEY_A, false);
    assert_eq!(heard(&mut desk.world, desk.writer), [(KEY_A, false)], "who has seen it go down sees it come up");
    assert!(desk.typist().is_empty());
}

#[test]
fn shortcuts_stay_ours() {
    let mut desk = Desk::new();
    desk.world.open("other", 200, 100);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    desk.world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    assert_eq!(desk.world.focused().as_deref(), Some("letter"));
}

#[test]
fn what_the_input_method_types_reaches_the_client_and_not_its_own_grab() {
    let mut desk = Desk::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    desk.typist();
    // With the session's keymap it hands keys on: nobody is sent another keymap for that.
    give_keymap(&keyboard, &keymap("us"));
    desk.world.settle();
    desk.world.client(desk.writer).take_events();
    desk.world.key(KEY_LEFT_SHIFT, true);
    desk.world.key(KEY_A, true);
    keyboard.modifiers(1, 0, 0, 0);
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    pass(&mut desk.world);
    desk.world.key(KEY_A, false);
    pass(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert_eq!(keymaps(&events), 0, "{events:?}");
    assert!(events.iter().any(|event| matches!(event, Event::Modifiers { depressed: 1 })), "{events:?}");
    assert_eq!(strokes(events), [(KEY_A, true), (KEY_A, false)]);
    assert_eq!(desk.typist(), ["key 42 down", "modifiers 1", "key 30 down", "key 30 up"]);
    // With one of its own they are keys like those of any keyboard, but for the grab.
    give_keymap(&keyboard, &keymap("fr"));
    keyboard.key(0, KEY_F, 1);
    keyboard.key(0, KEY_F, 0);
    pass(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert_eq!(keymaps(&events), 1, "{events:?}");
    assert_eq!(strokes(events), [(KEY_F, true), (KEY_F, false)]);
    let heard = desk.typist();
    assert!(!heard.iter().any(|words| words.starts_with("key ")), "{heard:?}");
}

#[test]
fn keys_of_other_virtual_keyboards_are_composed_too() {
    let mut desk = Desk::new();
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    let other = desk.world.connect();
    let keyboard = virtual_keyboard(&mut desk.world, other);
    give_keymap(&keyboard, &keymap("fr"));
    desk.typist();
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    let heard = desk.typist();
    assert_eq!(heard, ["key 30 down", "key 30 up"]);
}

#[test]
fn nobody_holds_the_keyboard_after_it_died() {
    let mut desk = Desk::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    give_keymap(&keyboard, &keymap("us"));
    desk.typist();
    desk.world.key(KEY_LEFT_SHIFT, true);
    desk.world.key(KEY_A, true);
    keyboard.key(0, KEY_A, 1);
    pass(&mut desk.world);
    assert_eq!(heard(&mut desk.world, desk.writer), [(KEY_A, true)]);
    desk.world.kill(desk.typist);
    pass(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert!(events.iter().any(|event| matches!(event, Event::Modifiers { depressed: 1 })), "{events:?}");
    assert_eq!(strokes(events), [(KEY_A, false)], "what it held is released");
    desk.world.key(KEY_A, false);
    desk.world.key(KEY_LEFT_SHIFT, false);
    pass(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert!(events.iter().any(|event| matches!(event, Event::Modifiers { depressed: 0 })), "{events:?}");
    assert!(strokes(events).is_empty(), "who was not told of the press is not told of the release");
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    assert_eq!(heard(&mut desk.world, desk.writer), [(KEY_A, true), (KEY_A, false)]);
}

#[test]
fn a_grab_that_is_given_back_releases_what_was_made_of_its_keys() {
    let mut desk = Desk::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let first = grab(&mut desk.world, desk.typist, &desk.method);
    give_keymap(&keyboard, &keymap("us"));
    pass(&mut desk.world);
    desk.world.key(KEY_A, true);
    keyboard.key(0, KEY_A, 1);
    pass(&mut desk.world);
    desk.typist();
    // A new one before the old one goes: as fcitx5 does.
    let second = grab(&mut desk.world, desk.typist, &desk.method);
    first.release();
    pass(&mut desk.world);
    desk.world.key(KEY_F, true);
    assert_eq!(desk.typist(), ["keymap", "repeat 25 400", "modifiers 0", "key 33 down"]);
    assert_eq!(heard(&mut desk.world, desk.writer), [(KEY_A, true)]);
    second.release();
    assert_eq!(heard(&mut desk.world, desk.writer), [(KEY_A, false)]);
    keyboard.key(0, KEY_A, 0);
    desk.world.key(KEY_A, false);
    desk.world.key(KEY_F, false);
    assert!(heard(&mut desk.world, desk.writer).is_empty());
}

#[test]
fn what_is_typed_under_a_lock_is_the_lockers() {
    let mut desk = Desk::new();
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    desk.typist();
    let locker = Locker::lock(&mut desk.world, BLUE);
    let entry = super::field(&mut desk.world, locker.client, "");
    entry.enable();
    entry.commit();
    told(&mut desk.world, locker.client);
    assert_eq!(desk.typist(), ["deactivate", "done", "activate", "done"], "a keyboard on the screen comes up");
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    assert_eq!(heard(&mut desk.world, locker.client), [(KEY_A, true), (KEY_A, false)]);
    assert!(desk.typist().is_empty());
}

#[test]
fn without_an_input_method_a_key_takes_the_way_it_took() {
    let mut world = World::lit();
    let (writer, _) = world.open("letter", 200, 100);
    let field = super::field(&mut world, writer, "");
    field.enable();
    field.commit();
    pass(&mut world);
    world.client(writer).take_events();
    let time = world.now();
    // Not carried: what is sent is sent with the key itself.
    let key = upbeat::input::InputEvent::Key { time, keyboard: KeyboardId::Session, key: KEY_A, pressed: true };
    upbeat::input::handle(&mut world.state, key);
    world.flush();
    world.client(writer).receive();
    assert_eq!(strokes(world.client(writer).take_events()), [(KEY_A, true)]);
}
