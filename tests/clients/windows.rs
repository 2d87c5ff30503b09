//! Windows: mapping, moving, resizing, maximising, fullscreen, closing.

use upbeat::input::InputEvent;

use crate::fixture::content::RED;
use crate::fixture::{
    BUTTON_LEFT, BUTTON_RIGHT, ClientEvent, ClientIndex, KEY_F, KEY_LEFT_SUPER, KEY_UP, OUTPUT, TestWorld,
};
use wayland_protocols::xdg::shell::client::xdg_toplevel::{ResizeEdge, State};
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_shell_v1::Layer;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

fn rect(world: &TestWorld, title: &str) -> (i32, i32, i32, i32) {
    let rect = world.window(title).rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

#[test]
fn a_window_is_configured_first_and_appears_with_its_content() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let window = world.client(client).toplevel("a");
    world.settle();
    assert!(
        world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::ToplevelConfigure { .. }))
    );
    assert!(world.stack().is_empty(), "configured, but there is nothing to see yet");
    drop(window);

    let (_, _window) = world.open("b", 400, 300);
    assert_eq!(rect(&world, "b"), ((OUTPUT.0 - 400) / 2, (OUTPUT.1 - 300) / 2, 400, 300));
    assert_eq!(world.focused().as_deref(), Some("b"));
}

#[test]
fn window_geometry_without_shadow_is_placed() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    window.xdg.set_window_geometry(20, 10, 360, 280);
    world.client(client).commit_buffer(&window.surface, 400, 300);
    world.settle();
    let placed = world.window("a");
    assert_eq!(placed.geometry().size, (360, 280).into());
    assert_eq!(placed.origin() + placed.geometry().loc, placed.rect().loc);
}

#[test]
fn a_moved_window_is_where_the_pointer_is_at_the_latch() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let (x, y, ..) = rect(&world, "a");
    world.point(f64::from(x) + 10.0, f64::from(y) + 10.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    window.toplevel._move(&seat, serial);
    world.settle();
    assert!(
        world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::PointerLeave)),
        "a client does not see the pointer that drags it"
    );

    world.point(f64::from(x) + 110.0, f64::from(y) - 20.0);
    world.point(f64::from(x) + 60.0, f64::from(y) + 40.0);
    world.latch();
    assert_eq!(rect(&world, "a"), (x + 50, y + 30, 400, 300), "the last position counts, not the way there");

    world.button(BUTTON_LEFT, false);
    world.point(5.0, 5.0);
    world.latch();
    assert_eq!(rect(&world, "a"), (x + 50, y + 30, 400, 300), "let go");
}

#[test]
fn client_cannot_move_its_window_without_a_press_serial() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    world.click(640.0, 360.0);
    let seat = world.client(client).globals().seat.clone();
    let serial = world.client(client).press_serial();
    window.toplevel._move(&seat, serial);
    window.toplevel._move(&seat, 4_000_000_000);
    world.settle();
    let before = rect(&world, "a");
    world.point(100.0, 100.0);
    world.latch();
    assert_eq!(rect(&world, "a"), before);
}

#[test]
fn resized_window_follows_the_pointer_with_a_slow_client() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    world.client(client).ack_newest_configure();
    let (x, y, ..) = rect(&world, "a");
    world.point(f64::from(x) + 1.0, f64::from(y) + 1.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    window.toplevel.resize(&seat, serial, ResizeEdge::TopLeft);
    world.settle();

    // Two motions and no answer yet: the window is stretched, and its bottom right corner stays.
    world.point(f64::from(x) - 49.0, f64::from(y) + 1.0);
    world.point(f64::from(x) - 99.0, f64::from(y) - 19.0);
    world.latch();
    assert_eq!(rect(&world, "a"), (x - 100, y - 20, 500, 320));
    assert!(world.window("a").is_stretched());
    let asked = world.client(client).ack_newest_configure();
    assert_eq!(asked, Some((450, 300)), "one configure at a time");

    // After the answer comes a configure with the newest size.
    world.client(client).commit_buffer(&window.surface, 450, 300);
    world.settle();
    assert_eq!(rect(&world, "a"), (x - 100, y - 20, 500, 320), "an old answer does not move the window");
    assert_eq!(world.client(client).ack_newest_configure(), Some((500, 320)));
    world.client(client).commit_buffer(&window.surface, 500, 320);
    world.settle();
    assert!(!world.window("a").is_stretched());

    world.button(BUTTON_LEFT, false);
    world.client(client).ack_newest_configure();
    // The client chooses a smaller size, as a terminal does that counts in characters.
    world.client(client).commit_buffer(&window.surface, 496, 310);
    world.settle();
    assert_eq!(rect(&world, "a"), (x - 96, y - 10, 496, 310), "the corner that was not held has not moved");
}

#[test]
fn modifier_and_button_move_and_resize_any_window() {
    let mut world = TestWorld::new();
    let (client, _window) = world.open("a", 400, 300);
    let (x, y, ..) = rect(&world, "a");
    world.key(KEY_LEFT_SUPER, true);
    world.point(f64::from(x) + 390.0, f64::from(y) + 290.0);
    world.client(client).take_events();
    world.button(BUTTON_RIGHT, true);
    world.point(f64::from(x) + 400.0, f64::from(y) + 310.0);
    world.latch();
    assert_eq!(rect(&world, "a"), (x, y, 410, 320));
    world.button(BUTTON_RIGHT, false);
    let events = world.client(client).take_events();
    assert!(
        !events.iter().any(|event| matches!(event, ClientEvent::Button { .. })),
        "neither press nor release is its own"
    );
}

#[test]
fn a_client_that_dies_in_the_middle_of_a_resize_leaves_the_pointer_free() {
    let mut world = TestWorld::new();
    let (_, _other) = world.open("other", 600, 500);
    let (client, window) = world.open("a", 300, 200);
    let (x, y, ..) = rect(&world, "a");
    world.point(f64::from(x) + 5.0, f64::from(y) + 5.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    window.toplevel.resize(&seat, serial, ResizeEdge::BottomRight);
    world.settle();
    world.kill(client);
    assert!(world.state.shell.drag().is_none());
    world.point(400.0, 300.0);
    world.button(BUTTON_LEFT, false);
    world.latch();
    assert_eq!(world.stack(), ["other"]);
    assert_eq!(world.focused().as_deref(), Some("other"));
}

#[test]
fn maximised_state_takes_effect_with_the_acknowledging_commit() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let floating = rect(&world, "a");
    world.client(client).ack_newest_configure();
    window.toplevel.set_maximized();
    world.settle();
    assert_eq!(rect(&world, "a"), floating, "configured, not acknowledged");
    assert_eq!(world.client(client).ack_newest_configure(), Some(OUTPUT));
    world.settle();
    assert_eq!(rect(&world, "a"), floating, "acknowledged, not committed");
    world.client(client).commit_buffer(&window.surface, OUTPUT.0, OUTPUT.1);
    world.settle();
    assert_eq!(rect(&world, "a"), (0, 0, OUTPUT.0, OUTPUT.1));

    window.toplevel.unset_maximized();
    world.settle();
    assert_eq!(world.client(client).ack_newest_configure(), Some((400, 300)));
    world.client(client).commit_buffer(&window.surface, 400, 300);
    world.settle();
    assert_eq!(rect(&world, "a"), floating);
}

#[test]
fn window_that_is_fullscreen_before_it_was_small_again_keeps_its_floating_rectangle() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let floating = rect(&world, "a");
    let answer = |world: &mut TestWorld, (width, height)| {
        world.settle();
        assert_eq!(world.client(client).ack_newest_configure(), Some((width, height)));
        world.client(client).commit_buffer(&window.surface, width, height);
        world.settle();
    };
    world.client(client).ack_newest_configure();
    window.toplevel.set_maximized();
    answer(&mut world, OUTPUT);
    // The client does not draw between the two requests.
    window.toplevel.unset_maximized();
    world.settle();
    window.toplevel.set_fullscreen(None);
    answer(&mut world, OUTPUT);
    window.toplevel.unset_fullscreen();
    answer(&mut world, (400, 300));
    assert_eq!(rect(&world, "a"), floating);
}

#[test]
fn shortcuts_maximise_fullscreen_and_restore_a_window_of_any_content() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let floating = rect(&world, "a");
    for (key, size) in [(KEY_UP, OUTPUT), (KEY_F, OUTPUT)] {
        for wanted in [size, (400, 300)] {
            world.client(client).ack_newest_configure();
            world.chord(&[KEY_LEFT_SUPER], key);
            world.settle();
            assert_eq!(world.client(client).ack_newest_configure(), Some(wanted));
            world.client(client).commit_buffer(&window.surface, wanted.0, wanted.1);
            world.settle();
        }
        assert_eq!(rect(&world, "a"), floating);
    }
    // A shortcut without a focused window has no effect.
    let mut world = TestWorld::new();
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
}

#[test]
fn fullscreen_centres_smaller_content_and_restores_the_former_state() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    window.toplevel.set_fullscreen(None);
    world.settle();
    let events = world.client(client).take_events();
    let fullscreen = events.iter().any(|event| match event {
        ClientEvent::ToplevelConfigure { states, .. } => states.contains(&(State::Fullscreen as u32)),
        _ => false,
    });
    assert!(fullscreen);
    world.client(client).data.events = events;
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&window.surface, 640, 360);
    world.settle();
    assert_eq!(rect(&world, "a"), (320, 180, 640, 360));
    assert!(world.window("a").is_fullscreen());

    window.toplevel.unset_fullscreen();
    world.settle();
    assert_eq!(world.client(client).ack_newest_configure(), Some((400, 300)));
    world.client(client).commit_buffer(&window.surface, 400, 300);
    world.settle();
    assert!(!world.window("a").is_fullscreen());
}

#[test]
fn unmapped_window_can_be_mapped_again_after_a_configure() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    assert!(world.stack().is_empty());
    assert_eq!(world.focused(), None);
    world.client(client).take_events();
    window.surface.commit();
    world.settle();
    assert!(world.client(client).ack_newest_configure().is_some());
    world.client(client).commit_buffer(&window.surface, 200, 100);
    world.settle();
    assert_eq!(world.stack(), ["a"]);
}

/// Newest `configure_bounds` of `client` since the last call; drops all other events.
fn bounds(world: &mut TestWorld, client: ClientIndex) -> Option<(i32, i32)> {
    let bounds =
        |event| if let ClientEvent::ToplevelBounds(width, height) = event { Some((width, height)) } else { None };
    world.client(client).take_events().into_iter().filter_map(bounds).next_back()
}

#[test]
fn configure_bounds_match_the_output_of_the_new_window() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.set_size("TEST-2", (640, 480));
    world.point(f64::from(OUTPUT.0) + 100.0, 100.0);
    let client = world.connect();
    let window = world.client(client).toplevel("a");
    world.settle();
    assert_eq!(bounds(&mut world, client), Some((640, 480)));
    drop(window);
    world.point(100.0, 100.0);
    let client = world.connect();
    let _window = world.client(client).toplevel("b");
    world.settle();
    assert_eq!(bounds(&mut world, client), Some(OUTPUT));
}

#[test]
fn window_moved_to_another_output_receives_its_bounds() {
    const SECOND: (i32, i32) = (640, 480);
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.set_size("TEST-2", SECOND);
    world.point(100.0, 100.0);
    let (client, _window) = world.open("a", 200, 100);
    bounds(&mut world, client);
    world.move_window("a", (OUTPUT.0 + 50, 50));
    world.settle();
    assert_eq!(bounds(&mut world, client), Some(SECOND), "it was put there");
    world.move_window("a", (OUTPUT.0 + 60, 50));
    world.settle();
    assert_eq!(bounds(&mut world, client), None, "it knows");
    world.set_size("TEST-2", (800, 600));
    world.settle();
    assert_eq!(bounds(&mut world, client), Some((800, 600)), "its output has another mode");
    let panel = world.connect();
    world.point(f64::from(OUTPUT.0) + 100.0, 100.0);
    let _bar = world.map_layer(panel, Layer::Top, RED, |layer| {
        layer.set_size(800, 20);
        layer.set_anchor(Anchor::Top);
        layer.set_exclusive_zone(20);
    });
    world.settle();
    assert_eq!(bounds(&mut world, client), Some((800, 580)), "a bar takes some of it");
    world.unplug("TEST-2");
    world.settle();
    assert_eq!(bounds(&mut world, client), Some(OUTPUT), "its output was unplugged");
}

#[test]
fn moved_window_follows_from_the_press_with_a_late_request() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let (x, y, ..) = rect(&world, "a");
    world.point(f64::from(x) + 10.0, f64::from(y) + 10.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    // The pointer has moved on before the request arrives.
    world.point(f64::from(x) + 40.0, f64::from(y) + 18.0);
    window.toplevel._move(&seat, serial);
    world.settle();
    world.latch();
    assert_eq!(rect(&world, "a"), (x + 30, y + 8, 400, 300));
    world.point(f64::from(x) + 60.0, f64::from(y) + 40.0);
    world.latch();
    assert_eq!(rect(&world, "a"), (x + 50, y + 30, 400, 300));
}

#[test]
fn resized_window_follows_from_the_press_with_a_late_request() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let (x, y, ..) = rect(&world, "a");
    world.point(f64::from(x) + 399.0, f64::from(y) + 299.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    world.point(f64::from(x) + 419.0, f64::from(y) + 309.0);
    window.toplevel.resize(&seat, serial, ResizeEdge::BottomRight);
    world.settle();
    world.latch();
    assert_eq!(rect(&world, "a"), (x, y, 420, 310));
}

#[test]
fn window_moved_by_touch_follows_from_the_touch_point() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let (x, y, ..) = rect(&world, "a");
    let at = |dx: i32, dy: i32| (f64::from(x + dx), f64::from(y + dy)).into();
    let time = world.now();
    world.input(InputEvent::TouchDown { time, slot: 3, position: at(10, 10) });
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    world.input(InputEvent::TouchMotion { time, slot: 3, position: at(30, 15) });
    window.toplevel._move(&seat, serial);
    world.settle();
    world.latch();
    assert_eq!(rect(&world, "a"), (x + 20, y + 5, 400, 300));
}
