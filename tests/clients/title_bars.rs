//! Title bars of floating windows with server-side decorations.

use upbeat::input::InputEvent;
use upbeat::shell::effects::BorderStyle;
use upbeat::shell::tiling::{self, TITLES, TilingMode};
use upbeat_timing::time::Span;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_toplevel_decoration_v1::Mode as Decoration;

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_LEFT, KEY_LEFT_SUPER, KEY_RIGHT, KEY_UP, OUTPUT, TestToplevel, TestWorld,
};

const SIZE: (i32, i32) = (300, 200);

fn world() -> TestWorld {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.effects_mut().title_bars = true;
    world.run_until_idle();
    world
}

/// Opens a window with the decoration mode `whose`.
fn open(world: &mut TestWorld, title: &str, colour: Xrgb8888Pixel, whose: Decoration) -> (ClientIndex, TestToplevel) {
    let index = world.connect();
    let client = world.client(index);
    let window = client.toplevel(title);
    let manager: ZxdgDecorationManagerV1 = client.bind();
    manager.get_toplevel_decoration(&window.toplevel, &client.handle(), ()).set_mode(whose);
    world.settle();
    world.client(index).ack_newest_configure();
    world.client(index).draw(&window.surface, 1, SIZE, colour);
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    (index, window)
}

fn corner(world: &TestWorld, title: &str) -> (i32, i32) {
    let rect = world.window(title).rect();
    (rect.loc.x, rect.loc.y)
}

fn press(world: &mut TestWorld, at: (i32, i32)) {
    world.point(f64::from(at.0), f64::from(at.1));
    world.button(BUTTON_LEFT, true);
}

#[test]
fn title_bar_moves_its_window_and_hides_input_from_windows_below() {
    let mut world = world();
    let (below, _green) = open(&mut world, "green", GREEN, Decoration::ClientSide);
    let (client, _red) = open(&mut world, "red", RED, Decoration::ServerSide);
    world.move_window("green", (100, 100));
    world.move_window("red", (100, 200));
    world.run_until_idle();
    assert_eq!(world.pixel(110, 150), GREEN);
    assert_ne!(world.pixel(110, 200 - TITLES + 6), GREEN, "there is a title bar above the red window");
    world.client(below).take_events();
    press(&mut world, (120, 200 - TITLES + 6));
    world.point(170.0, f64::from(300 - TITLES + 6));
    world.latch();
    assert_eq!(corner(&world, "red"), (150, 300));
    world.button(BUTTON_LEFT, false);
    let heard = |event: &ClientEvent| matches!(event, ClientEvent::Button { .. } | ClientEvent::PointerEnter { .. });
    assert!(!world.client(below).take_events().iter().any(heard));
    assert!(!world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Button { .. })));
    assert_eq!(world.focused().as_deref(), Some("red"));
    // A touch has the same effect.
    let time = world.now();
    let at = |x: f64, y: f64| (x, y - f64::from(TITLES) + 6.0).into();
    world.input(InputEvent::TouchDown { time, slot: 0, position: at(200.0, 300.0) });
    world.input(InputEvent::TouchMotion { time, slot: 0, position: at(220.0, 250.0) });
    world.latch();
    world.input(InputEvent::TouchUp { time, slot: 0 });
    assert_eq!(corner(&world, "red"), (170, 250));
    // A window above the title bar gets the press.
    world.move_window("green", (170, 150));
    let green = world.window("green").id;
    upbeat::shell::activate(&mut world.state, Some(green));
    world.run_until_idle();
    world.client(below).take_events();
    world.click(180.0, f64::from(250 - TITLES + 6));
    assert!(world.client(below).take_events().iter().any(|event| matches!(event, ClientEvent::Button { .. })));
}

/// Whether the border of the focused window is visible to the left of a title bar, above it, to the left of its window,
/// and below the window.
fn edges(world: &TestWorld, title: &str) -> [bool; 4] {
    let (x, y) = corner(world, title);
    let places = [(x - 1, y - TITLES / 2), (x + 50, y - TITLES - 1), (x - 1, y + SIZE.1 / 2), (x + 50, y + SIZE.1)];
    places.map(|(x, y)| world.pixel(x, y) == BLUE)
}

#[test]
fn focus_border_surrounds_window_and_title_bar() {
    let mut world = world();
    world.state.shell.effects_mut().border =
        Some(BorderStyle { width: 2.0, colour: Some([0.0, 0.0, 1.0, 1.0]), urgent: [0.0; 4] });
    open(&mut world, "red", RED, Decoration::ServerSide);
    world.move_window("red", (50, 100));
    world.run_until_idle();
    assert_eq!(edges(&world, "red"), [true; 4]);
    assert_ne!(world.pixel(100, 99), BLUE, "not between the bar and its window");
    open(&mut world, "green", GREEN, Decoration::ServerSide);
    world.move_window("green", (400, 100));
    world.run_until_idle();
    assert_eq!((edges(&world, "red"), edges(&world, "green")), ([false; 4], [true; 4]));
    // A client that draws its own frame shows the focus in that frame, so there is no border.
    let (client, window) = open(&mut world, "shadowed", GREEN, Decoration::ClientSide);
    window.xdg.set_window_geometry(10, 10, SIZE.0 - 20, SIZE.1 - 20);
    world.client(client).draw(&window.surface, 1, SIZE, GREEN);
    window.surface.commit();
    world.settle();
    world.move_window("shadowed", (50, 350));
    world.run_until_idle();
    let picture = world.picture();
    let blue = picture.pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff == BLUE).count();
    assert_eq!((world.focused().as_deref(), blue), (Some("shadowed"), 0));
}

#[test]
fn title_bar_window_and_border_share_rounded_corners() {
    let mut world = world();
    world.state.shell.effects_mut().corner_radius = 8.0;
    world.state.shell.effects_mut().border =
        Some(BorderStyle { width: 2.0, colour: Some([0.0, 0.0, 1.0, 1.0]), urgent: [0.0; 4] });
    open(&mut world, "red", RED, Decoration::ServerSide);
    world.move_window("red", (50, 100));
    world.run_until_idle();
    let (top, bottom) = (100 - TITLES, 100 + SIZE.1);
    let corners = [(50, top), (49 + SIZE.0, top), (50, bottom - 1), (49 + SIZE.0, bottom - 1)];
    // The pixel outside each rounded corner is background; then comes the border.
    let outside = [(48, top - 2), (51 + SIZE.0, top - 2), (48, bottom + 1), (51 + SIZE.0, bottom + 1)];
    for ((x, y), (out_x, out_y)) in corners.into_iter().zip(outside) {
        assert_eq!(world.pixel(out_x, out_y), 0, "({out_x}, {out_y})");
        assert_eq!(world.pixel(x - (out_x - x).signum(), y), world.pixel(x, y - (out_y - y).signum()), "symmetrical");
        assert!(world.pixel(x, y) & BLUE < 0x40, "cut: ({x}, {y}) {:06x}", world.pixel(x, y));
    }
    assert_eq!(world.pixel(50, 100), RED, "and not between the bar and its window");
    assert_eq!(edges(&world, "red"), [true; 4]);
}

#[test]
fn window_without_a_decoration_preference_gets_a_title_bar() {
    let mut world = world();
    let (client, _red) = open(&mut world, "red", RED, Decoration::ClientSide);
    let manager: ZxdgDecorationManagerV1 = world.client(client).bind();
    let handle = world.client(client).handle();
    let next = world.client(client).toplevel("next");
    manager.get_toplevel_decoration(&next.toplevel, &handle, ()).unset_mode();
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).draw(&next.surface, 1, SIZE, RED);
    next.surface.commit();
    world.settle();
    let barred: Vec<_> = world.state.shell.windows_with_title_bar().collect();
    assert_eq!(barred, [world.window("next").id]);
}

#[test]
fn close_button_closes_the_window() {
    let mut world = world();
    let (client, _red) = open(&mut world, "red", RED, Decoration::ServerSide);
    let (x, y) = corner(&world, "red");
    assert_eq!(y - TITLES, OUTPUT.1 - (y + SIZE.1), "with its bar it is in the middle");
    world.client(client).take_events();
    press(&mut world, (x + SIZE.0 - 12, y - TITLES / 2));
    world.button(BUTTON_LEFT, false);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Close)));
    assert!(world.state.shell.drag().is_none());
}

#[test]
fn new_window_does_not_cover_another_title_bar() {
    let mut world = world();
    for title in ["a", "b", "c"] {
        open(&mut world, title, RED, Decoration::ServerSide);
    }
    let height = SIZE.1 + TITLES;
    let with_bars =
        ["a", "b", "c"].map(|title| world.window(title).rect()).map(|rect| (rect.loc.x, rect.loc.y - TITLES));
    for (index, (x, y)) in with_bars.iter().enumerate() {
        for (other_x, other_y) in &with_bars[..index] {
            assert!((x - other_x).abs() >= SIZE.0 || (y - other_y).abs() >= height, "{with_bars:?}");
        }
    }
}

#[test]
fn double_click_on_a_title_bar_maximises_its_window() {
    let mut world = world();
    let (client, _red) = open(&mut world, "red", RED, Decoration::ServerSide);
    let (x, y) = corner(&world, "red");
    let press_after = |world: &mut TestWorld, pause: Span| {
        world.run_for(pause, &mut |_| None);
        press(world, (x + 100, y - TITLES / 2));
        world.button(BUTTON_LEFT, false);
        world.settle();
    };
    world.client(client).ack_newest_configure();
    press_after(&mut world, Span::from_millis(100));
    press_after(&mut world, Span::from_millis(500));
    assert_ne!(world.client(client).ack_newest_configure(), Some(OUTPUT));
    press_after(&mut world, Span::from_millis(100));
    assert_eq!(world.client(client).ack_newest_configure(), Some(OUTPUT));
}

#[test]
fn client_side_fullscreen_and_column_windows_have_no_title_bar() {
    let mut world = world();
    open(&mut world, "green", GREEN, Decoration::ClientSide);
    assert_eq!(world.state.shell.windows_with_title_bar().count(), 0);
    let (client, window) = open(&mut world, "red", RED, Decoration::ServerSide);
    assert_eq!(world.state.shell.windows_with_title_bar().count(), 1);
    // The window and its title bar fill half of the screen together.
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    world.settle();
    assert_eq!(world.client(client).ack_newest_configure(), Some((OUTPUT.0 / 2, OUTPUT.1 - TITLES)));
    world.client(client).commit_buffer(&window.surface, OUTPUT.0 / 2, OUTPUT.1 - TITLES);
    world.settle();
    assert_eq!(corner(&world, "red"), (0, TITLES));
    // The opposite side takes the half back; upwards it would become a quarter.
    world.chord(&[KEY_LEFT_SUPER], KEY_RIGHT);
    world.settle();
    world.chord(&[KEY_LEFT_SUPER], KEY_UP);
    world.settle();
    assert_eq!(world.client(client).ack_newest_configure(), Some(OUTPUT));
    assert_eq!(world.state.shell.windows_with_title_bar().count(), 0);
    world.chord(&[KEY_LEFT_SUPER], KEY_UP);
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&window.surface, SIZE.0, SIZE.1);
    world.settle();
    assert_eq!(world.state.shell.windows_with_title_bar().count(), 1);
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    world.turn();
    assert_eq!(world.state.shell.windows_with_title_bar().count(), 0);
    world.state.shell.effects_mut().title_bars = false;
    tiling::set_mode(&mut world.state, TilingMode::Floating);
    world.turn();
    assert_eq!(world.state.shell.windows_with_title_bar().count(), 0, "they are switched off");
}
