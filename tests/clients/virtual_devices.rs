//! Virtual keyboard, virtual pointer and screen copy.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use crate::fixture::dispatch::id;
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_A, KEY_F4, OUTPUT, TestWorld};
use smithay::input::keyboard::xkb;
use upbeat::guard::Kind;
use wayland_client::protocol::wl_pointer::{Axis, AxisSource, ButtonState};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_v1::{self, ZwpVirtualKeyboardV1};

pub const XKB_V1: u32 = 1;

pub fn keymap(layout: &str) -> String {
    let context = xkb::Context::new(xkb::CONTEXT_NO_FLAGS);
    xkb::Keymap::new_from_names(&context, "", "", layout, "", None, xkb::KEYMAP_COMPILE_NO_FLAGS)
        .unwrap()
        .get_as_string(xkb::KEYMAP_FORMAT_TEXT_V1)
}

pub fn virtual_keyboard(world: &mut TestWorld, client: ClientIndex) -> ZwpVirtualKeyboardV1 {
    let client = world.client(client);
    let seat = client.globals().seat.clone();
    client.globals().virtual_keyboards.create_virtual_keyboard(&seat, &client.handle(), ())
}

/// A world with a window of a first client, and a second client with a virtual keyboard.
pub fn with_typist() -> (TestWorld, ClientIndex, ClientIndex, ZwpVirtualKeyboardV1) {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    let typist = world.connect();
    let keyboard = virtual_keyboard(&mut world, typist);
    (world, a, typist, keyboard)
}

pub fn give_keymap(keyboard: &ZwpVirtualKeyboardV1, keymap: &str) {
    let fd = rustix::fs::memfd_create("keymap", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    let mut file = File::from(fd);
    file.write_all(keymap.as_bytes()).unwrap();
    file.write_all(&[0]).unwrap();
    keyboard.keymap(XKB_V1, file.as_fd(), keymap.len() as u32 + 1);
}

/// Keys that were pressed (`true`) and released.
pub fn strokes(events: Vec<ClientEvent>) -> Vec<(u32, bool)> {
    let stroke = |event| match event {
        ClientEvent::Key { key, pressed, .. } => Some((key, pressed)),
        _ => None,
    };
    events.into_iter().filter_map(stroke).collect()
}

#[test]
fn a_virtual_keyboard_types_into_the_focused_window_with_its_own_keymap() {
    let (mut world, a, _typist, keyboard) = with_typist();
    give_keymap(&keyboard, &keymap("fr"));
    world.settle();
    world.client(a).take_events();
    keyboard.key(0, KEY_A, 1);
    keyboard.modifiers(1, 0, 0, 0);
    keyboard.key(0, KEY_A, 0);
    world.settle();
    let events = world.client(a).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Modifiers { depressed: 1 })), "{events:?}");
    assert_eq!(strokes(events), [(KEY_A, true), (KEY_A, false)]);

    // The session's keymap is sent again before a real key.
    world.key(KEY_A, true);
    let events = world.client(a).take_events();
    let keymap_at = events.iter().position(|event| matches!(event, ClientEvent::Keymap(..)));
    let key_at = events.iter().position(|event| matches!(event, ClientEvent::Key { .. }));
    assert!(keymap_at.is_some() && keymap_at < key_at, "{events:?}");
}

#[test]
fn clients_receive_the_virtual_keyboards_keymap() {
    let (mut world, a, _typist, keyboard) = with_typist();
    world.client(a).take_events();
    let french = keymap("fr");
    give_keymap(&keyboard, &french);
    world.settle();
    let sent = world.client(a).take_events().into_iter().find_map(|event| match event {
        ClientEvent::Keymap(fd, size) => Some((fd, size)),
        _ => None,
    });
    let (fd, size) = sent.expect("no keymap was sent");
    let mut text = String::new();
    File::from(fd).take(u64::from(size)).read_to_string(&mut text).unwrap();
    assert_eq!(text.trim_end_matches('\0'), french);
}

#[test]
fn shortcuts_work_from_a_virtual_keyboard_and_its_keys_are_released_when_it_goes() {
    let (mut world, a, typist, keyboard) = with_typist();
    give_keymap(&keyboard, &keymap("us"));
    const MOD_ALT: u32 = 1 << 3;
    keyboard.modifiers(MOD_ALT, 0, 0, 0);
    keyboard.key(0, KEY_F4, 1);
    world.settle();
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::Close)));
    keyboard.modifiers(0, 0, 0, 0);
    keyboard.key(0, KEY_A, 1);
    world.settle();
    world.client(a).take_events();
    world.kill(typist);
    assert!(
        world
            .client(a)
            .take_events()
            .iter()
            .any(|event| matches!(event, ClientEvent::Key { key: KEY_A, pressed: false, .. }))
    );
}

#[test]
fn a_virtual_key_without_a_keymap_is_an_error() {
    let mut world = TestWorld::new();
    let typist = world.connect();
    let keyboard = virtual_keyboard(&mut world, typist);
    give_keymap(&keyboard, "this is no keymap");
    keyboard.key(0, KEY_A, 1);
    world.settle();
    let code = zwp_virtual_keyboard_v1::Error::NoKeymap as u32;
    assert_eq!(world.client(typist).error, Some(("zwp_virtual_keyboard_v1".to_owned(), code)));
}

/// Keymap and key press events, as words; a keymap is named by its index in `keymaps`.
pub fn keymaps_and_presses(events: Vec<ClientEvent>, keymaps: &[&str]) -> Vec<String> {
    let word = |event| match event {
        ClientEvent::Keymap(fd, size) => {
            // Read at an offset, because all descriptors share one file and its position.
            let mut text = vec![0; size as usize];
            File::from(fd).read_exact_at(&mut text, 0).unwrap();
            let text = String::from_utf8(text).unwrap();
            let number = keymaps.iter().position(|keymap| *keymap == text.trim_end_matches('\0'));
            Some(number.map_or("another".to_owned(), |number| format!("keymap {number}")))
        }
        ClientEvent::Key { key, pressed: true, .. } => Some(format!("key {key}")),
        _ => None,
    };
    events.into_iter().filter_map(word).collect()
}

#[test]
fn virtual_keys_wait_for_their_keymap_compiled_on_another_thread() {
    let (mut world, a, typist, keyboard) = with_typist();
    let (french, german) = (keymap("fr"), keymap("de"));
    world.client(a).take_events();
    give_keymap(&keyboard, &french);
    for key in 30..50 {
        keyboard.key(0, key, 1);
        keyboard.key(0, key, 0);
    }
    give_keymap(&keyboard, &german);
    keyboard.key(0, 50, 1);
    keyboard.key(0, 50, 0);
    world.client(typist).send();
    world.deliver_once();
    world.client(a).receive();
    // The keymap is compiled on another thread.
    assert!(world.state.protocols.virtual_keyboards_wait());
    assert_eq!(keymaps_and_presses(world.client(a).take_events(), &[]), [""; 0]);
    world.settle();
    let mut expected = vec!["keymap 0".to_owned()];
    expected.extend((30..50).map(|key| format!("key {key}")));
    expected.extend(["keymap 1".to_owned(), "key 50".to_owned()]);
    assert_eq!(keymaps_and_presses(world.client(a).take_events(), &[&french, &german]), expected);
}

#[test]
fn keymap_in_a_disk_file_is_read_and_in_a_pipe_is_refused() {
    let (mut world, a, typist, keyboard) = with_typist();
    let french = keymap("fr");
    world.client(a).take_events();
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(french.as_bytes()).unwrap();
    let (reader, _writer) = rustix::pipe::pipe().unwrap();
    keyboard.keymap(XKB_V1, file.as_file().as_fd(), french.len() as u32);
    keyboard.key(0, KEY_A, 1);
    keyboard.keymap(XKB_V1, reader.as_fd(), 1_000);
    keyboard.key(0, KEY_A, 0);
    world.settle();
    assert_eq!(keymaps_and_presses(world.client(a).take_events(), &[&french]), ["keymap 0", &format!("key {KEY_A}")]);
    assert!(!world.client(typist).is_disconnected(), "it has a keymap");
}

#[test]
fn newest_of_many_keymaps_counts_and_invalid_keymaps_are_ignored() {
    let (mut world, a, typist, keyboard) = with_typist();
    let (french, german) = (keymap("fr"), keymap("de"));
    world.client(a).take_events();
    for _ in 0..300 {
        give_keymap(&keyboard, &french);
        world.client(typist).send();
        world.deliver_once();
    }
    give_keymap(&keyboard, &german);
    world.settle();
    let heard = keymaps_and_presses(world.client(a).take_events(), &[&french, &german]);
    assert!(heard.len() <= 3 && heard.last().is_some_and(|last| last == "keymap 1"), "{heard:?}");
    give_keymap(&keyboard, &french);
    give_keymap(&keyboard, "xkb_keymap { nonsense };");
    keyboard.key(0, KEY_A, 1);
    world.settle();
    assert_eq!(
        keymaps_and_presses(world.client(a).take_events(), &[&french, &german]),
        ["keymap 0", &format!("key {KEY_A}")]
    );
    assert!(!world.client(typist).is_disconnected());
}

#[test]
fn refused_keymap_does_not_replace_a_waiting_keymap() {
    const HUGE: u32 = 2 << 20;
    const NO_KEYMAP: u32 = 0;
    let (mut world, a, _typist, keyboard) = with_typist();
    let (french, german) = (keymap("fr"), keymap("de"));
    world.client(a).take_events();
    let file = tempfile::tempfile().unwrap();
    for (format, size) in [(XKB_V1, HUGE), (NO_KEYMAP, 10)] {
        give_keymap(&keyboard, &german);
        give_keymap(&keyboard, &french);
        keyboard.keymap(format, file.as_fd(), size);
        keyboard.key(0, KEY_A, 1);
        keyboard.key(0, KEY_A, 0);
        world.settle();
        let heard = keymaps_and_presses(world.client(a).take_events(), &[&german, &french]);
        assert_eq!(heard.last(), Some(&format!("key {KEY_A}")));
        assert_eq!(heard.iter().rev().nth(1).map(String::as_str), Some("keymap 1"), "{heard:?}");
        // Another keymap is in force when the next round begins.
        give_keymap(&keyboard, &german);
        world.settle();
        world.client(a).take_events();
    }
}

#[test]
fn alternating_virtual_keyboards_change_the_keymap_rarely_and_lose_no_key() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    let typist = world.connect();
    let keyboards = ["fr", "de"].map(|layout| {
        let keyboard = virtual_keyboard(&mut world, typist);
        give_keymap(&keyboard, &keymap(layout));
        keyboard
    });
    world.settle();
    world.client(a).take_events();
    let start = std::time::Instant::now();
    let keys: Vec<u32> = (20..50).collect();
    for key in &keys {
        let keyboard = &keyboards[*key as usize % 2];
        keyboard.key(0, *key, 1);
        keyboard.key(0, *key, 0);
        world.client(typist).send();
        world.deliver_once();
    }
    world.settle();
    let words = keymaps_and_presses(world.client(a).take_events(), &[]);
    let changes = words.iter().filter(|word| *word == "another").count();
    let most = start.elapsed().as_millis() / 20 + 1;
    assert!(changes as u128 <= most, "{changes} of {most}");
    let mut heard: Vec<_> = words.into_iter().filter(|word| word != "another").collect();
    heard.sort();
    assert_eq!(heard, keys.iter().map(|key| format!("key {key}")).collect::<Vec<_>>());
}

#[test]
fn keys_of_a_client_that_dies_during_keymap_compilation_arrive() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    world.client(a).take_events();
    let french = keymap("fr");
    for number in 0..20 {
        let typist = world.connect();
        let keyboard = virtual_keyboard(&mut world, typist);
        // Each keymap differs, so that each is compiled.
        give_keymap(&keyboard, &format!("{french} // {number}"));
        keyboard.key(0, KEY_A, 1);
        world.client(typist).send();
        world.deliver_once();
        world.kill(typist);
        // A turn destroys a limited number of objects.
        world.turn();
        assert!(!world.state.protocols.virtual_keyboards_wait());
        // The key that the dead client held is released.
        assert_eq!(strokes(world.client(a).take_events()), [(KEY_A, true), (KEY_A, false)], "{number}");
    }
    world.key(KEY_A, true);
    assert_eq!(strokes(world.client(a).take_events()), [(KEY_A, true)]);
}

#[test]
fn keys_before_an_immediate_disconnect_arrive() {
    let (mut world, a, typist, keyboard) = with_typist();
    let french = keymap("fr");
    give_keymap(&keyboard, &french);
    world.client(typist).send();
    world.deliver_once();
    world.client(a).take_events();
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    // An invalid keymap: it is never in force.
    give_keymap(&keyboard, "none");
    keyboard.destroy();
    world.client(typist).send();
    // The session reads now, because it reads nothing from a client that is gone.
    world.deliver_once();
    world.kill(typist);
    assert_eq!(strokes(world.client(a).take_events()), [(KEY_A, true), (KEY_A, false)]);
    assert!(!world.state.protocols.virtual_keyboards_wait());
}

#[test]
fn keys_without_a_valid_keymap_before_a_disconnect_are_dropped() {
    let (mut world, a, typist, keyboard) = with_typist();
    world.client(a).take_events();
    give_keymap(&keyboard, "this is no keymap");
    keyboard.key(0, KEY_A, 1);
    keyboard.destroy();
    world.client(typist).send();
    // The session reads now, because it reads nothing from a client that is gone.
    world.deliver_once();
    world.kill(typist);
    assert_eq!(strokes(world.client(a).take_events()), []);
    assert!(!world.state.protocols.virtual_keyboards_wait());
}

#[test]
fn too_many_waiting_keymaps_end_their_client_only() {
    let (mut world, a, typist, keyboard) = with_typist();
    let french = keymap("fr");
    // Each keymap differs, so that compiling each takes milliseconds; all of them are sent within a few.
    for number in 0..=2 * Kind::WaitingKeymaps.most() {
        give_keymap(&keyboard, &format!("{french} // {number}"));
        keyboard.key(0, KEY_A, number % 2);
        world.client(typist).send();
        world.deliver_once();
        world.client(typist).receive();
        if world.client(typist).is_disconnected() {
            break;
        }
    }
    world.settle();
    assert!(
        world.client(typist).error_message().contains("more than 256 keymaps that wait"),
        "{}",
        world.client(typist).error_message()
    );
    assert!(!world.state.protocols.virtual_keyboards_wait());
    assert!(!world.client(a).is_disconnected());
}

#[test]
fn late_keyboard_receives_the_keymap_in_force_and_modifiers() {
    let (mut world, a, _typist, keyboard) = with_typist();
    let french = keymap("fr");
    give_keymap(&keyboard, &french);
    keyboard.modifiers(1, 0, 0, 0);
    world.settle();
    world.client(a).take_events();
    let client = world.client(a);
    client.globals().seat.get_keyboard(&client.handle(), ());
    world.settle();
    let events = world.client(a).take_events();
    assert!(matches!(events.last(), Some(ClientEvent::Modifiers { depressed: 1 })), "{events:?}");
    assert_eq!(keymaps_and_presses(events, &[&french]), ["another", "keymap 0"]);
    // The session's keymap is in force again with its next key.
    world.key(KEY_A, true);
    let heard = keymaps_and_presses(world.client(a).take_events(), &[&french]);
    let key = format!("key {KEY_A}");
    assert_eq!(heard, ["another", "another", &key, &key]);
}

#[test]
fn locked_modifiers_of_the_session_keyboard_survive_virtual_keys() {
    const KEY_CAPSLOCK: u32 = 58;
    const LOCK: u32 = 2;
    let (mut world, a, _typist, keyboard) = with_typist();
    world.key(KEY_CAPSLOCK, true);
    world.key(KEY_CAPSLOCK, false);
    world.client(a).take_events();
    give_keymap(&keyboard, &keymap("fr"));
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    world.settle();
    let handle = world.state.input.keyboard().cloned().unwrap();
    assert!(!handle.modifier_state().caps_lock, "another keyboard");
    world.key(KEY_A, true);
    assert!(handle.modifier_state().caps_lock);
    assert_eq!(handle.modifier_state().serialized.locked, LOCK);
}

/// Locked modifiers and effective layout of the session's keyboard: after the keys of `act`, a key of a virtual
/// keyboard and then the keys of `after`.
fn after_a_virtual_key(options: &str, act: &[(u32, bool)], after: &[(u32, bool)]) -> (u32, u32) {
    let mut world = TestWorld::new();
    let keys =
        upbeat::config::KeyboardOptions { layout: "us,ru".into(), options: options.into(), ..Default::default() };
    upbeat::input::keyboard::configure(&mut world.state, &keys).unwrap();
    let _a = world.open("a", 200, 100);
    let typist = world.connect();
    let keyboard = virtual_keyboard(&mut world, typist);
    give_keymap(&keyboard, &keymap("fr"));
    world.settle();
    act.iter().for_each(|(key, pressed)| world.key(*key, *pressed));
    keyboard.key(0, KEY_A, 1);
    keyboard.key(0, KEY_A, 0);
    world.settle();
    after.iter().for_each(|(key, pressed)| world.key(*key, *pressed));
    let held = world.state.input.keyboard().cloned().unwrap().modifier_state().serialized;
    (held.locked, held.layout_effective)
}

#[test]
fn modifier_and_layout_state_of_the_session_keyboard_is_unchanged_by_a_virtual_key() {
    const RIGHT_ALT: u32 = 100;
    const SHIFT: u32 = 42;
    const CAPSLOCK: u32 = 58;
    const MENU: u32 = 127;
    const LSGT: u32 = 86;
    // A layout that a held key selects ends with that key.
    let held = [(RIGHT_ALT, true), (KEY_A, true), (KEY_A, false)];
    assert_eq!(after_a_virtual_key("grp:switch", &held, &[(SHIFT, true)]), (0, 1));
    assert_eq!(after_a_virtual_key("grp:switch", &held, &[(SHIFT, true), (RIGHT_ALT, false)]), (0, 0));
    // A locked layout stays.
    let chosen = [(MENU, true), (MENU, false)];
    assert_eq!(after_a_virtual_key("grp:menu_toggle", &chosen, &[(SHIFT, true)]), (0, 1));
    // The lock key is held in the meantime: its release unlocks nothing.
    let locks = [(CAPSLOCK, true)];
    assert_eq!(after_a_virtual_key("", &locks, &[(CAPSLOCK, false), (SHIFT, true)]), (2, 0));
    // Modifiers without a flag of their own are locked too.
    let locked = [(LSGT, true), (RIGHT_ALT, true), (RIGHT_ALT, false), (LSGT, false)];
    let options = "lv5:lsgt_switch_lock,lv5:ralt_switch_lock";
    let (locked, _) = after_a_virtual_key(options, &locked, &[(SHIFT, true)]);
    assert_ne!(locked, 0);
}

#[test]
fn a_virtual_pointer_points_clicks_and_scrolls() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc;
    let mouse = world.connect();
    let pointer = {
        let client = world.client(mouse);
        client.globals().virtual_pointers.create_virtual_pointer(None, &client.handle(), ())
    };
    world.client(a).take_events();
    pointer.motion_absolute(0, corner.x as u32 + 10, corner.y as u32 + 20, OUTPUT.0 as u32, OUTPUT.1 as u32);
    pointer.frame();
    pointer.motion(0, 5.0, 0.0);
    pointer.frame();
    pointer.button(0, BUTTON_LEFT, ButtonState::Pressed);
    pointer.frame();
    pointer.axis_source(AxisSource::Wheel);
    pointer.axis_discrete(0, Axis::VerticalScroll, 15.0, 1);
    pointer.frame();
    world.settle();
    let events = world.client(a).take_events();
    let surface = id(&window.surface);
    assert!(events.iter().any(|event| matches!(event, ClientEvent::PointerEnter { surface: on, x: 10.0, y: 20.0 }
        if *on == surface)));
    assert!(events.iter().any(|event| matches!(event, ClientEvent::PointerMotion { x: 15.0, y: 20.0 })));
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Button { button: BUTTON_LEFT, pressed: true, .. })));
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::Scroll { vertical: 15.0, v120: 120 })),
        "{events:?}"
    );

    world.kill(mouse);
    let events = world.client(a).take_events();
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::Button { button: BUTTON_LEFT, pressed: false, .. })),
        "a button of a device that is gone is not held"
    );
}

#[test]
fn zero_axis_of_a_virtual_pointer_is_axis_stop() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 5.0);
    let mouse = world.connect();
    let client = world.client(mouse);
    let pointer = client.globals().virtual_pointers.create_virtual_pointer(None, &client.handle(), ());
    let mut scroll = |source: Option<AxisSource>, value: f64| {
        source.into_iter().for_each(|source| pointer.axis_source(source));
        pointer.axis(0, Axis::VerticalScroll, value);
        pointer.frame();
        world.settle();
        let events = world.client(a).take_events();
        let is_scroll = |event: &&ClientEvent| matches!(event, ClientEvent::Scroll { .. });
        let is_stop = |event: &&ClientEvent| matches!(event, ClientEvent::ScrollStopped);
        (events.iter().filter(is_scroll).count(), events.iter().filter(is_stop).count())
    };
    for source in [None, Some(AxisSource::Finger), Some(AxisSource::Continuous)] {
        assert_eq!(scroll(source, 3.0), (1, 0), "{source:?}");
        assert_eq!(scroll(source, 0.0), (0, 1), "{source:?}");
    }
    assert_eq!(scroll(Some(AxisSource::Wheel), 0.0), (0, 0), "a wheel has no end");
}

#[test]
fn screencopy_announces_its_buffer_and_waits_for_the_output() {
    let mut world = TestWorld::new();
    let camera = world.connect();
    let frame = {
        let client = world.client(camera);
        let output = client.bind_output();
        client.globals().screencopy.capture_output_region(1, &output, 1200, 700, 400, 400, &client.handle(), ())
    };
    world.settle();
    let events = world.client(camera).take_events();
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::CaptureBuffer { width: 80, height: 20, stride: 320 })),
        "cut to the output: {events:?}"
    );
    let buffer = world.client(camera).buffer(80, 20);
    frame.copy(&buffer);
    world.settle();
    assert_eq!(world.client(camera).take_events().len(), 0, "nothing was presented yet");
    world.unplug("TEST-1");
    assert!(
        world.client(camera).take_events().iter().any(|event| matches!(event, ClientEvent::CaptureFailed)),
        "a capture fails with its output, or its client would wait for ever"
    );
}
