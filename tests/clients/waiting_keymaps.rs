//! Keymaps of virtual keyboards that wait to be compiled, and keymaps that cannot be read.

use std::fs::File;
use std::os::fd::AsFd;

use crate::fixture::KEY_A;
use crate::virtual_devices::{XKB_V1, give_keymap, keymap, strokes, typed, with_typist};

#[test]
fn of_keymaps_that_wait_the_newest_counts_that_is_one() {
    let (mut world, a, typist, keyboard) = with_typist();
    let (french, german) = (keymap("fr"), keymap("de"));
    world.client(a).take_events();
    // This keymap is being compiled while the following requests arrive.
    give_keymap(&keyboard, &german);
    world.client(typist).send();
    world.carry_once();
    give_keymap(&keyboard, &german);
    give_keymap(&keyboard, &french);
    (0..3).for_each(|_| give_keymap(&keyboard, "xkb_keymap { nonsense };"));
    keyboard.key(0, KEY_A, 1);
    world.settle();
    let heard = typed(world.client(a).take_events(), &[&german, &french]);
    assert_eq!(heard.last(), Some(&format!("key {KEY_A}")));
    assert_eq!(heard.iter().rev().nth(1).map(String::as_str), Some("keymap 1"), "{heard:?}");
}

#[test]
fn a_keymap_that_nobody_may_read_costs_its_keys_and_not_its_client() {
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
    assert!(!world.client(typist).is_gone(), "{}", world.client(typist).said());
    give_keymap(&keyboard, &french);
    keyboard.key(0, KEY_A, 1);
    world.settle();
    assert_eq!(typed(world.client(a).take_events(), &[&french]), ["keymap 0", &format!("key {KEY_A}")]);
}
