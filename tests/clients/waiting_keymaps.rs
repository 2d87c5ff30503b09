//! Keymaps of virtual keyboards that wait to be compiled, and keymaps that cannot be read.

use std::fs::File;
use std::os::fd::AsFd;

use crate::fixture::KEY_A;
use crate::virtual_devices::{XKB_V1, give_keymap, keymap, keymaps_and_presses, strokes, with_typist};

#[test]
fn newest_valid_waiting_keymap_counts() {
    let (mut world, a, typist, keyboard) = with_typist();
    let (french, german) = (keymap("fr"), keymap("de"));
    world.client(a).take_events();
    // This keymap is being compiled while the following requests arrive.
    give_keymap(&keyboard, &german);
    world.client(typist).send();
    world.deliver_once();
    give_keymap(&keyboard, &german);
    give_keymap(&keyboard, &french);
    (0..3).for_each(|_| give_keymap(&keyboard, "xkb_keymap { nonsense };"));
    keyboard.key(0, KEY_A, 1);
    world.settle();
    let heard = keymaps_and_presses(world.client(a).take_events(), &[&german, &french]);
    assert_eq!(heard.last(), Some(&format!("key {KEY_A}")));
    assert_eq!(heard.iter().rev().nth(1).map(String::as_str), Some("keymap 1"), "{heard:?}");
}

#[test]
fn unreadable_keymap_drops_its_keys_and_keeps_its_client() {
    let (mut world, a, typist, keyboard) = with_typist();
    let french = keymap("fr");
    world.client(a).take_events();
    // The kernel creates this content on each read, and some such files never answer: they are not read.
    let question = File::open("/proc/self/status").unwrap();
    keyboard.keymap(XKB_V1, question.as_fd(), 100);
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    world.settle();
    assert_eq!(strokes(world.client(a).take_events()), []);
    assert!(!world.client(typist).is_disconnected(), "{}", world.client(typist).error_message());
    give_keymap(&keyboard, &french);
    keyboard.key(0, KEY_A, 1);
    world.settle();
    assert_eq!(keymaps_and_presses(world.client(a).take_events(), &[&french]), ["keymap 0", &format!("key {KEY_A}")]);
}
