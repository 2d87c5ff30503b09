//! Keys that a keyboard grab sends to the input method, and keys that the input method types.

use upbeat::input::KeyboardId;
use upbeat_timing::time::Span;

use super::{InputMethodStage, grab, run_turn, text_events};
use crate::fixture::content::BLUE;
use crate::fixture::{ClientEvent, KEY_A, KEY_F, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_TAB, TestWorld};
use crate::lock::Locker;
use crate::virtual_devices::{give_keymap, keymap, keymaps_and_presses, strokes, virtual_keyboard};

fn key_strokes(world: &mut TestWorld, client: crate::fixture::ClientIndex) -> Vec<(u32, bool)> {
    run_turn(world);
    strokes(world.client(client).take_events())
}

fn keymaps(events: &[ClientEvent]) -> usize {
    events.iter().filter(|event| matches!(event, ClientEvent::Keymap(..))).count()
}

#[test]
fn keyboard_grab_gets_all_keys_while_a_field_is_enabled() {
    let mut desk = InputMethodStage::new();
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    assert_eq!(desk.typist(), ["keymap", "repeat 25 400", "modifiers 0"]);
    desk.world.key(KEY_LEFT_SHIFT, true);
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    desk.world.key(KEY_LEFT_SHIFT, false);
    assert_eq!(desk.typist(), ["key 42 down", "modifiers 1", "key 30 down", "key 30 up", "key 42 up", "modifiers 0"]);
    assert!(key_strokes(&mut desk.world, desk.writer).is_empty());
    desk.field.disable();
    desk.field.commit();
    desk.typist();
    desk.world.key(KEY_A, true);
    assert_eq!(key_strokes(&mut desk.world, desk.writer), [(KEY_A, true)]);
    desk.enable();
    desk.world.key(KEY_A, false);
    assert_eq!(
        key_strokes(&mut desk.world, desk.writer),
        [(KEY_A, false)],
        "the client that got the press gets the release"
    );
    assert!(desk.typist().is_empty());
}

#[test]
fn shortcuts_are_not_sent_to_a_keyboard_grab() {
    let mut desk = InputMethodStage::new();
    desk.world.open("other", 200, 100);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    desk.world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    assert_eq!(desk.world.focused().as_deref(), Some("letter"));
}

#[test]
fn keys_of_the_input_method_reach_the_client_and_not_its_grab() {
    let mut desk = InputMethodStage::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    desk.typist();
    // With the session's keymap it forwards keys: no client receives another keymap for that.
    give_keymap(&keyboard, &keymap("us"));
    desk.world.settle();
    desk.world.client(desk.writer).take_events();
    desk.world.key(KEY_LEFT_SHIFT, true);
    desk.world.key(KEY_A, true);
    keyboard.modifiers(1, 0, 0, 0);
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    run_turn(&mut desk.world);
    desk.world.key(KEY_A, false);
    run_turn(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert_eq!(keymaps(&events), 0, "{events:?}");
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Modifiers { depressed: 1 })), "{events:?}");
    assert_eq!(strokes(events), [(KEY_A, true), (KEY_A, false)]);
    assert_eq!(desk.typist(), ["key 42 down", "modifiers 1", "key 30 down", "key 30 up"]);
    // With a keymap of its own, its keys are like the keys of any keyboard, except that the grab does not get them.
    give_keymap(&keyboard, &keymap("fr"));
    keyboard.key(0, KEY_F, 1);
    keyboard.key(0, KEY_F, 0);
    run_turn(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert_eq!(keymaps(&events), 1, "{events:?}");
    assert_eq!(strokes(events), [(KEY_F, true), (KEY_F, false)]);
    let heard = desk.typist();
    assert!(!heard.iter().any(|words| words.starts_with("key ")), "{heard:?}");
}

#[test]
fn keys_of_other_virtual_keyboards_are_composed_too() {
    let mut desk = InputMethodStage::new();
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
fn keyboard_grab_ends_with_its_client() {
    let mut desk = InputMethodStage::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    give_keymap(&keyboard, &keymap("us"));
    desk.typist();
    desk.world.key(KEY_LEFT_SHIFT, true);
    desk.world.key(KEY_A, true);
    keyboard.key(0, KEY_A, 1);
    run_turn(&mut desk.world);
    assert_eq!(key_strokes(&mut desk.world, desk.writer), [(KEY_A, true)]);
    desk.world.kill(desk.typist);
    run_turn(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Modifiers { depressed: 1 })), "{events:?}");
    assert_eq!(strokes(events), [(KEY_A, false)], "its held keys are released");
    desk.world.key(KEY_A, false);
    desk.world.key(KEY_LEFT_SHIFT, false);
    run_turn(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Modifiers { depressed: 0 })), "{events:?}");
    assert!(strokes(events).is_empty(), "no release without a press");
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    assert_eq!(key_strokes(&mut desk.world, desk.writer), [(KEY_A, true), (KEY_A, false)]);
}

#[test]
fn released_grab_releases_the_keys_made_from_its_keys() {
    let mut desk = InputMethodStage::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let first = grab(&mut desk.world, desk.typist, &desk.method);
    give_keymap(&keyboard, &keymap("us"));
    run_turn(&mut desk.world);
    desk.world.key(KEY_A, true);
    keyboard.key(0, KEY_A, 1);
    run_turn(&mut desk.world);
    desk.typist();
    // The second grab is created before the first is destroyed, as fcitx5 does.
    let second = grab(&mut desk.world, desk.typist, &desk.method);
    first.release();
    run_turn(&mut desk.world);
    desk.world.key(KEY_F, true);
    assert_eq!(desk.typist(), ["keymap", "repeat 25 400", "modifiers 0", "key 33 down"]);
    assert_eq!(key_strokes(&mut desk.world, desk.writer), [(KEY_A, true)]);
    second.release();
    assert_eq!(key_strokes(&mut desk.world, desk.writer), [(KEY_A, false)]);
    keyboard.key(0, KEY_A, 0);
    desk.world.key(KEY_A, false);
    desk.world.key(KEY_F, false);
    assert!(key_strokes(&mut desk.world, desk.writer).is_empty());
}

#[test]
fn keys_while_locked_reach_the_locker() {
    let mut desk = InputMethodStage::new();
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    desk.typist();
    let locker = Locker::lock(&mut desk.world, BLUE);
    let entry = super::field(&mut desk.world, locker.client, "");
    entry.enable();
    entry.commit();
    text_events(&mut desk.world, locker.client);
    assert_eq!(desk.typist(), ["deactivate", "done", "activate", "done"], "a keyboard on the screen comes up");
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    assert_eq!(key_strokes(&mut desk.world, locker.client), [(KEY_A, true), (KEY_A, false)]);
    assert!(desk.typist().is_empty());
}

#[test]
fn keys_go_to_the_client_without_an_input_method() {
    let mut world = TestWorld::rendered();
    let (writer, _) = world.open("letter", 200, 100);
    let field = super::field(&mut world, writer, "");
    field.enable();
    field.commit();
    run_turn(&mut world);
    world.client(writer).take_events();
    let time = world.now();
    // Without the world's `key`, because the events must be sent with the key itself.
    let key = upbeat::input::InputEvent::Key { time, keyboard: KeyboardId::Session, key: KEY_A, pressed: true };
    upbeat::input::handle(&mut world.state, key);
    world.flush();
    world.client(writer).receive();
    assert_eq!(strokes(world.client(writer).take_events()), [(KEY_A, true)]);
}

/// Number of keymaps that the client received, and that the grab of the input method received.
fn keymap_counts(desk: &mut InputMethodStage) -> [usize; 2] {
    let grabs = desk.typist().iter().filter(|words| *words == "keymap").count();
    [keymaps(&desk.world.client(desk.writer).take_events()), grabs]
}

#[test]
fn input_method_with_its_own_keymap_does_not_alternate_keymaps() {
    let mut desk = InputMethodStage::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    give_keymap(&keyboard, &keymap("fr"));
    keymap_counts(&mut desk);
    let mut typed = Vec::new();
    let mut modifiers = Vec::new();
    for key in [KEY_A, KEY_F, KEY_A, KEY_F, KEY_A] {
        desk.world.key(KEY_LEFT_SHIFT, true);
        // Modifiers are set once for all following keys, as input methods do.
        keyboard.modifiers(1, 0, 0, 0);
        desk.world.key(key, true);
        give_keymap(&keyboard, &keymap("fr"));
        keyboard.key(0, key, 1);
        keyboard.key(0, key, 0);
        desk.world.key(key, false);
        desk.world.key(KEY_LEFT_SHIFT, false);
        keyboard.modifiers(0, 0, 0, 0);
        run_turn(&mut desk.world);
        let events = desk.world.client(desk.writer).take_events();
        assert_eq!(keymaps(&events), 0, "{events:?}");
        let held = |event: &ClientEvent| {
            if let ClientEvent::Modifiers { depressed } = event { Some(*depressed) } else { None }
        };
        let before: Vec<u32> =
            events.iter().take_while(|event| !matches!(event, ClientEvent::Key { .. })).filter_map(held).collect();
        modifiers.push(before.last().copied());
        modifiers.push(events.iter().rev().find_map(held));
        typed.extend(strokes(events));
        assert_eq!(keymap_counts(&mut desk), [0, 0]);
    }
    let both = |key| [(key, true), (key, false)];
    assert_eq!(typed, [KEY_A, KEY_F, KEY_A, KEY_F, KEY_A].map(both).concat());
    assert_eq!(modifiers, [Some(1), Some(0)].repeat(5), "its modifiers stay while the other keyboard is used");
}

#[test]
fn newly_focused_client_receives_the_input_methods_keymap() {
    let mut desk = InputMethodStage::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    give_keymap(&keyboard, &keymap("fr"));
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    run_turn(&mut desk.world);
    desk.world.client(desk.writer).take_events();
    // A key of the session's keyboard reaches the input method only.
    desk.world.key(KEY_LEFT_SHIFT, true);
    assert_eq!(keymap_counts(&mut desk), [0, 1], "the grab has keys of another keyboard than last");
    desk.field.disable();
    desk.field.commit();
    run_turn(&mut desk.world);
    desk.world.key(KEY_A, true);
    run_turn(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    let held =
        |event: &ClientEvent| if let ClientEvent::Modifiers { depressed } = event { Some(*depressed) } else { None };
    assert_eq!(events.iter().rev().find_map(held), Some(1), "Shift is still down");
    assert_eq!(keymaps_and_presses(events, &[keymap("us").as_str()]), ["keymap 0", "key 30"]);
}

#[test]
fn hanging_input_method_loses_the_grab_until_it_reads_again() {
    let mut desk = InputMethodStage::new();
    let keyboard = virtual_keyboard(&mut desk.world, desk.typist);
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    give_keymap(&keyboard, &keymap("us"));
    desk.typist();
    desk.world.key(KEY_F, true);
    keyboard.key(0, KEY_F, 1);
    desk.method.set_preedit_string("f".to_owned(), 0, 1);
    desk.method.commit(1);
    run_turn(&mut desk.world);
    assert_eq!(key_strokes(&mut desk.world, desk.writer), [(KEY_F, true)]);
    desk.typist();
    desk.world.client(desk.typist).is_stalled = true;
    for _ in 0..2 {
        desk.world.key(KEY_A, true);
        desk.world.key(KEY_A, false);
        desk.world.run_for(Span::from_millis(900), &mut |_| None);
    }
    assert!(key_strokes(&mut desk.world, desk.writer).is_empty(), "it may be slow");
    desk.world.run_for(Span::from_millis(300), &mut |_| None);
    desk.world.key(KEY_A, true);
    run_turn(&mut desk.world);
    let events = desk.world.client(desk.writer).take_events();
    let told = |event: &&ClientEvent| matches!(event, ClientEvent::InWords(words) if words.starts_with("done"));
    assert_eq!(events.iter().filter(told).count(), 1, "the preedit is cleared: {events:?}");
    assert_eq!(strokes(events), [(KEY_A, true), (KEY_F, false)], "its held keys are released");
    desk.world.key(KEY_F, false);
    desk.world.key(KEY_A, false);
    assert_eq!(key_strokes(&mut desk.world, desk.writer), [(KEY_A, false)]);
    desk.world.client(desk.typist).is_stalled = false;
    desk.typist();
    desk.world.key(KEY_A, true);
    assert_eq!(desk.typist(), ["key 30 down"]);
    assert!(key_strokes(&mut desk.world, desk.writer).is_empty());
}

#[test]
fn slow_input_method_keeps_the_grab() {
    let mut desk = InputMethodStage::new();
    let _grab = grab(&mut desk.world, desk.typist, &desk.method);
    desk.typist();
    for _ in 0..4 {
        desk.world.key(KEY_A, true);
        desk.world.key(KEY_A, false);
        // The input method reads the keys and forwards none.
        assert_eq!(desk.typist(), ["key 30 down", "key 30 up"]);
        desk.world.run_for(Span::from_millis(1500), &mut |_| None);
    }
    assert!(key_strokes(&mut desk.world, desk.writer).is_empty());
}
