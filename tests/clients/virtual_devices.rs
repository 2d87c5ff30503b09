//! Virtual keyboard, virtual pointer and screen copy.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use crate::fixture::handlers::id;
use crate::fixture::{BUTTON_LEFT, ClientIndex, Event, KEY_A, KEY_F4, OUTPUT, World};
use smithay::input::keyboard::xkb;
use wayland_client::protocol::wl_pointer::{Axis, AxisSource, ButtonState};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_v1::{self, ZwpVirtualKeyboardV1};

const XKB_V1: u32 = 1;

fn keymap(layout: &str) -> String {
    let context = xkb::Context::new(xkb::CONTEXT_NO_FLAGS);
    xkb::Keymap::new_from_names(&context, "", "", layout, "", None, xkb::KEYMAP_COMPILE_NO_FLAGS)
        .unwrap()
        .get_as_string(xkb::KEYMAP_FORMAT_TEXT_V1)
}

fn virtual_keyboard(world: &mut World, client: ClientIndex) -> ZwpVirtualKeyboardV1 {
    let client = world.client(client);
    let seat = client.globals().seat.clone();
    client.globals().virtual_keyboards.create_virtual_keyboard(&seat, &client.handle(), ())
}

fn give_keymap(keyboard: &ZwpVirtualKeyboardV1, keymap: &str) {
    let fd = rustix::fs::memfd_create("keymap", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    let mut file = File::from(fd);
    file.write_all(keymap.as_bytes()).unwrap();
    file.write_all(&[0]).unwrap();
    keyboard.keymap(XKB_V1, file.as_fd(), keymap.len() as u32 + 1);
}

#[test]
fn a_virtual_keyboard_types_into_the_focused_window_with_its_own_keymap() {
    let mut world = World::new();
    let (a, _) = world.open("a", 200, 100);
    let typist = world.connect();
    let keyboard = virtual_keyboard(&mut world, typist);
    give_keymap(&keyboard, &keymap("fr"));
    world.settle();
    world.client(a).take_events();
    keyboard.key(0, KEY_A, 1);
    keyboard.modifiers(1, 0, 0, 0);
    keyboard.key(0, KEY_A, 0);
    world.settle();
    let events = world.client(a).take_events();
    let keys: Vec<(u32, bool)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Key { key, pressed, .. } => Some((*key, *pressed)),
            _ => None,
        })
        .collect();
    assert_eq!(keys, [(KEY_A, true), (KEY_A, false)]);
    assert!(events.iter().any(|event| matches!(event, Event::Modifiers { depressed: 1 })), "{events:?}");

    // A real key brings the session's keymap back before it is delivered.
    world.key(KEY_A, true);
    let events = world.client(a).take_events();
    let keymap_at = events.iter().position(|event| matches!(event, Event::Keymap(..)));
    let key_at = events.iter().position(|event| matches!(event, Event::Key { .. }));
    assert!(keymap_at.is_some() && keymap_at < key_at, "{events:?}");
}

#[test]
fn clients_see_the_keymap_of_the_virtual_keyboard_itself() {
    let mut world = World::new();
    let (a, _) = world.open("a", 200, 100);
    let typist = world.connect();
    let keyboard = virtual_keyboard(&mut world, typist);
    world.client(a).take_events();
    let french = keymap("fr");
    give_keymap(&keyboard, &french);
    world.settle();
    let sent = world.client(a).take_events().into_iter().find_map(|event| match event {
        Event::Keymap(fd, size) => Some((fd, size)),
        _ => None,
    });
    let (fd, size) = sent.expect("no keymap was sent");
    let mut text = String::new();
    File::from(fd).take(u64::from(size)).read_to_string(&mut text).unwrap();
    assert_eq!(text.trim_end_matches('\0'), french);
}

#[test]
fn shortcuts_work_from_a_virtual_keyboard_and_its_keys_are_released_when_it_goes() {
    let mut world = World::new();
    let (a, _) = world.open("a", 200, 100);
    let typist = world.connect();
    let keyboard = virtual_keyboard(&mut world, typist);
    give_keymap(&keyboard, &keymap("us"));
    const MOD_ALT: u32 = 1 << 3;
    keyboard.modifiers(MOD_ALT, 0, 0, 0);
    keyboard.key(0, KEY_F4, 1);
    world.settle();
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, Event::Close)));
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
            .any(|event| matches!(event, Event::Key { key: KEY_A, pressed: false, .. }))
    );
}

#[test]
fn a_virtual_key_without_a_keymap_is_an_error() {
    let mut world = World::new();
    let typist = world.connect();
    let keyboard = virtual_keyboard(&mut world, typist);
    give_keymap(&keyboard, "this is no keymap");
    keyboard.key(0, KEY_A, 1);
    world.settle();
    let code = zwp_virtual_keyboard_v1::Error::NoKeymap as u32;
    assert_eq!(world.client(typist).error, Some(("zwp_virtual_keyboard_v1".to_owned(), code)));
}

#[test]
fn a_virtual_pointer_points_clicks_and_scrolls() {
    let mut world = World::new();
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
    assert!(events.iter().any(|event| matches!(event, Event::PointerEnter { surface: on, x: 10.0, y: 20.0 }
        if *on == surface)));
    assert!(events.iter().any(|event| matches!(event, Event::PointerMotion { x: 15.0, y: 20.0 })));
    assert!(events.iter().any(|event| matches!(event, Event::Button { button: BUTTON_LEFT, pressed: true, .. })));
    assert!(events.iter().any(|event| matches!(event, Event::Scroll { vertical: 15.0, v120: 120 })), "{events:?}");

    world.kill(mouse);
    let events = world.client(a).take_events();
    assert!(
        events.iter().any(|event| matches!(event, Event::Button { button: BUTTON_LEFT, pressed: false, .. })),
        "a button of a device that is gone is not held"
    );
}

#[test]
fn a_capture_announces_its_buffer_and_waits_for_the_output() {
    let mut world = World::new();
    let camera = world.connect();
    let frame = {
        let client = world.client(camera);
        let output = client.bind_output();
        client.globals().screencopy.capture_output_region(1, &output, 1200, 700, 400, 400, &client.handle(), ())
    };
    world.settle();
    let events = world.client(camera).take_events();
    assert!(
        events.iter().any(|event| matches!(event, Event::CaptureBuffer { width: 80, height: 20, stride: 320 })),
        "cut to the output: {events:?}"
    );
    let buffer = world.client(camera).buffer(80, 20);
    frame.copy(&buffer);
    world.settle();
    assert_eq!(world.client(camera).take_events().len(), 0, "nothing was presented yet");
    world.unplug("TEST-1");
    assert!(
        world.client(camera).take_events().iter().any(|event| matches!(event, Event::CaptureFailed)),
        "a request that nobody serves fails instead of hanging its client"
    );
}
