//! Keyboard, pointer and touch input while the session is locked.

use super::{Locker, do_everything, input_kinds, middle, with_a_window};
use crate::fixture::content::{BLUE, GREEN};
use crate::fixture::{BUTTON_LEFT, KEY_ENTER, KEY_F1, KEY_LEFT_ALT, KEY_LEFT_SUPER, KEY_O, KEY_TAB, OUTPUT};

#[test]
fn input_while_locked_reaches_the_locker_only() {
    let (mut world, client, _) = with_a_window();
    do_everything(&mut world);
    let all = ["button", "key", "pointer", "scroll", "touch"];
    assert_eq!(input_kinds(&mut world, client), all);
    let locker = Locker::lock(&mut world, BLUE);
    world.client(client).take_events();
    world.client(locker.client).take_events();
    do_everything(&mut world);
    assert_eq!(input_kinds(&mut world, locker.client), all);
    assert_eq!(input_kinds(&mut world, client), Vec::<&str>::new());
    assert_eq!(world.focused().as_deref(), Some("a"), "the window that gets the focus after unlocking");
    locker.unlock(&mut world);
    world.client(client).take_events();
    do_everything(&mut world);
    assert_eq!(input_kinds(&mut world, client), all);
}

#[test]
fn keys_and_buttons_held_at_locking_are_released_and_their_real_release_is_dropped() {
    let (mut world, client, window) = with_a_window();
    world.point(f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    window.toplevel._move(&world.client(client).globals().seat, serial);
    world.settle();
    assert!(world.state.shell.drag().is_some());
    let before = world.window("a").rect();
    let locker = Locker::lock(&mut world, BLUE);
    assert!(world.state.shell.drag().is_none());
    world.client(locker.client).take_events();
    world.point(10.0, 10.0);
    world.button(BUTTON_LEFT, false);
    assert_eq!(input_kinds(&mut world, locker.client), ["pointer"]);
    assert_eq!(world.window("a").rect(), before);
    // The serial of a press before the lock starts no move now.
    window.toplevel._move(&world.client(client).globals().seat, serial);
    world.settle();
    assert!(world.state.shell.drag().is_none());
}

#[test]
fn only_shortcuts_marked_for_the_lock_work_while_locked() {
    let (mut world, client, _) = with_a_window();
    world.open_in(client, "b", 200, 100);
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    let locker = Locker::lock(&mut world, BLUE);
    assert!(!world.state.shell.overlays().take_input(), "the overview is gone");
    for (held, key) in [(KEY_LEFT_SUPER, KEY_O), (KEY_LEFT_SUPER, KEY_F1), (KEY_LEFT_ALT, KEY_TAB)] {
        world.client(locker.client).take_events();
        world.chord(&[held], key);
        assert_eq!(input_kinds(&mut world, locker.client), ["key"]);
    }
    assert!(!world.state.shell.overlays().take_input());
    assert_eq!(world.focused().as_deref(), Some("b"));
    let switch = world.state.bindings.keys.keys().find(|chord| chord.to_string() == "Alt+Tab").copied().unwrap();
    world.state.bindings.when_locked.insert(switch);
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    assert_eq!(world.focused().as_deref(), Some("a"));
    world.client(client).take_events();
    world.key(KEY_ENTER, true);
    assert_eq!(input_kinds(&mut world, client), Vec::<&str>::new(), "the keyboard stays with the locker");
}

#[test]
fn no_client_takes_keyboard_or_pointer_from_the_locker() {
    let (mut world, client, window) = with_a_window();
    world.click(f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    let serial = world.client(client).press_serial();
    let locker = Locker::lock(&mut world, BLUE);
    // A menu tries to grab with the serial of a press before the lock.
    let positioner = world.client(client).positioner(0, 0, 50, 50);
    let popup = world.client(client).popup(&window.xdg, &positioner);
    popup.popup.grab(&world.client(client).globals().seat, serial);
    popup.surface.commit();
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&popup.surface, 50, 50);
    // Another window opens and becomes the focused window.
    world.open_in(client, "b", 100, 100);
    world.client(client).take_events();
    world.client(locker.client).take_events();
    do_everything(&mut world);
    assert_eq!(input_kinds(&mut world, client), Vec::<&str>::new());
    assert_eq!(input_kinds(&mut world, locker.client).len(), 5);
    // Ordinary windows of the locker are not part of its lock.
    world.open_filled("of the locker", (400, 300), GREEN);
    world.open_in(locker.client, "own", 400, 300);
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
}
