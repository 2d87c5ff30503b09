//! Popups of the input method at the caret, and on-screen keyboards.

use upbeat::input::InputEvent;
use upbeat_timing::time::Span;
use wayland_client::Proxy;

use super::{InputMethodStage, method, popup, run_turn, text_events};
use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::dispatch::id;
use crate::fixture::layers::zwlr_layer_surface_v1::{Anchor, KeyboardInteractivity};
use crate::fixture::layers::{Layer, TestLayerSurface, ZwlrLayerSurfaceV1};
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientEvent, ClientIndex, KEY_A, OUTPUT, TestWorld};
use crate::lock::Locker;

const SIZE: (i32, i32) = (40, 20);

fn desk_at(corner: (i32, i32), caret: (i32, i32, i32, i32)) -> InputMethodStage {
    let mut desk = InputMethodStage::new();
    desk.world.move_window("letter", corner);
    desk.field.set_cursor_rectangle(caret.0, caret.1, caret.2, caret.3);
    desk.field.commit();
    desk.typist();
    desk
}

fn shows(world: &mut TestWorld, (x, y): (i32, i32), colour: Xrgb8888Pixel) -> bool {
    run_turn(world);
    world.run_until_idle();
    world.pixel(x, y) == colour
}

/// Checks that the top left corner of the popup lies at this point.
#[track_caller]
fn assert_popup_at(desk: &mut InputMethodStage, (x, y): (i32, i32)) {
    assert!(shows(&mut desk.world, (x, y), RED) && shows(&mut desk.world, (x + SIZE.0 - 1, y + SIZE.1 - 1), RED));
    assert!(!shows(&mut desk.world, (x, y - 1), RED) && !shows(&mut desk.world, (x - 1, y), RED));
}

#[test]
fn input_popup_follows_the_caret_while_a_field_is_enabled() {
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    let (surface, _popup) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    assert_popup_at(&mut desk, (60, 92));
    assert_eq!(desk.typist(), ["caret 0 -12 2 12"]);
    desk.field.set_cursor_rectangle(30, 20, 2, 12);
    desk.field.commit();
    assert_popup_at(&mut desk, (80, 92));
    desk.world.move_window("letter", (50, 70));
    assert_popup_at(&mut desk, (80, 102));
    desk.world.point(85.0, 105.0);
    let entered =
        |event: &ClientEvent| matches!(event, ClientEvent::PointerEnter { surface: on, .. } if *on == id(&surface));
    assert!(desk.world.client(desk.typist).take_events().iter().any(entered));
    desk.world.click(86.0, 106.0);
    assert_eq!(desk.world.focused().as_deref(), Some("letter"), "a click there moves no focus");
    desk.field.disable();
    desk.field.commit();
    assert!(!shows(&mut desk.world, (85, 105), RED));
    desk.enable();
    assert!(!shows(&mut desk.world, (85, 105), RED), "the caret is somewhere else until it says so");
    assert!(shows(&mut desk.world, (51, 170), RED), "and that is below its surface");
    desk.world.kill(desk.typist);
    assert!(!shows(&mut desk.world, (51, 170), RED));
}

#[test]
fn input_popup_at_the_lower_edge_lies_above_the_caret() {
    let mut desk = desk_at((50, OUTPUT.1 - 60), (10, 30, 2, 12));
    popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    assert_popup_at(&mut desk, (60, OUTPUT.1 - 60 + 30 - SIZE.1));
    assert_eq!(desk.typist(), [format!("caret 0 {} 2 12", SIZE.1)]);
}

#[test]
fn input_popup_of_a_surface_with_a_role_is_an_error() {
    let mut desk = InputMethodStage::new();
    let window = desk.world.open_in(desk.typist, "settings", 100, 100);
    let handle = desk.world.client(desk.typist).handle();
    desk.method.get_input_popup_surface(&window.surface, &handle, ());
    desk.world.settle();
    assert!(desk.world.client(desk.typist).error_message().contains("another role"));
    let mut desk = InputMethodStage::new();
    let (surface, _popup) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    let handle = desk.world.client(desk.typist).handle();
    desk.method.get_input_popup_surface(&surface, &handle, ());
    desk.world.settle();
    assert!(desk.world.client(desk.typist).error_message().contains("already"));
}

#[test]
fn input_popup_objects_may_be_destroyed_in_any_order() {
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    let (surface, object) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    assert_popup_at(&mut desk, (60, 92));
    surface.destroy();
    assert!(!shows(&mut desk.world, (61, 93), RED));
    object.destroy();
    let (surface, object) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    assert_popup_at(&mut desk, (60, 92));
    object.destroy();
    assert!(!shows(&mut desk.world, (61, 93), RED));
    surface.destroy();
    let (surface, object) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    surface.attach(None, 0, 0);
    surface.commit();
    assert!(!shows(&mut desk.world, (61, 93), RED));
    desk.world.client(desk.typist).draw(&surface, 2, SIZE, GREEN);
    surface.commit();
    assert!(shows(&mut desk.world, (61, 93), GREEN));
    assert!(object.is_alive());
}

/// A keyboard layer surface at the lower edge.
fn keyboard(world: &mut TestWorld, client: ClientIndex) -> TestLayerSurface {
    world.map_layer(client, Layer::Top, GREEN, |layer| {
        layer.set_size(0, 100);
        layer.set_anchor(Anchor::Bottom | Anchor::Left | Anchor::Right);
        layer.set_exclusive_zone(100);
    })
}

fn touch(world: &mut TestWorld, client: ClientIndex, position: (i32, i32)) -> bool {
    world.client(client).take_events();
    let (time, position) = (world.now(), (f64::from(position.0), f64::from(position.1)).into());
    world.input(InputEvent::TouchDown { time, slot: 0, position });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::TouchDown { .. }))
}

#[test]
fn touch_on_an_onscreen_keyboard_keeps_the_focus() {
    let mut desk = InputMethodStage::new();
    keyboard(&mut desk.world, desk.typist);
    assert!(shows(&mut desk.world, (10, OUTPUT.1 - 10), GREEN));
    desk.writer();
    assert!(touch(&mut desk.world, desk.typist, (10, OUTPUT.1 - 10)));
    assert!(desk.writer().is_empty(), "no leave");
    assert_eq!(desk.world.focused().as_deref(), Some("letter"));
    assert_eq!(desk.types("x", 1), ["commit x", "done 1"]);
}

#[test]
fn only_the_input_methods_keyboard_is_shown_above_a_lock() {
    let mut desk = InputMethodStage::new();
    let other = desk.world.connect();
    desk.world.map_layer(other, Layer::Overlay, RED, |layer| {
        layer.set_size(0, 50);
        layer.set_anchor(Anchor::Top | Anchor::Left | Anchor::Right);
    });
    keyboard(&mut desk.world, desk.typist);
    let low = (10, OUTPUT.1 - 10);
    let locker = Locker::lock(&mut desk.world, BLUE);
    assert!(shows(&mut desk.world, low, GREEN));
    assert!(shows(&mut desk.world, (300, 10), BLUE));
    assert!(touch(&mut desk.world, desk.typist, low));
    assert!(!touch(&mut desk.world, other, (10, 10)));
    assert!(touch(&mut desk.world, locker.client, (10, 10)));
    // A client that is no longer the input method is not shown above the lock.
    desk.method.destroy();
    assert!(shows(&mut desk.world, low, BLUE));
    assert!(!touch(&mut desk.world, desk.typist, low));
    let _method = method(&mut desk.world, other);
    assert!(shows(&mut desk.world, (300, 10), BLUE), "only keyboards of an input method are shown above a lock");
    keyboard(&mut desk.world, other);
    // It lies above the exclusive zone that the first keyboard still has.
    assert!(shows(&mut desk.world, (10, OUTPUT.1 - 110), GREEN), "a keyboard is shown");
    assert_eq!(text_events(&mut desk.world, other).len(), 0);
}

#[test]
fn input_method_covers_at_most_the_lower_half_of_a_lock_and_gets_no_keyboard_focus() {
    let mut desk = InputMethodStage::new();
    let typist = desk.typist;
    let half = OUTPUT.1 / 2;
    let locker = Locker::lock(&mut desk.world, BLUE);
    let at_the_edge = |edges, height: i32| {
        move |layer: &ZwlrLayerSurfaceV1| {
            layer.set_size(0, height as u32);
            layer.set_anchor(edges | Anchor::Left | Anchor::Right);
            layer.set_keyboard_interactivity(KeyboardInteractivity::Exclusive);
        }
    };
    for (edges, height) in [(Anchor::Top, 50), (Anchor::Bottom, half + 1), (Anchor::Top | Anchor::Bottom, 0)] {
        let layer = desk.world.map_layer(typist, Layer::Overlay, RED, at_the_edge(edges, height));
        for place in [(300, 10), (300, OUTPUT.1 - 10)] {
            assert!(shows(&mut desk.world, place, BLUE), "{edges:?}, {height}");
            assert!(touch(&mut desk.world, locker.client, place));
        }
        layer.layer.destroy();
    }
    let layer = desk.world.map_layer(typist, Layer::Overlay, RED, at_the_edge(Anchor::Bottom, half));
    assert!(shows(&mut desk.world, (10, half), RED) && shows(&mut desk.world, (10, half - 1), BLUE));
    assert!(touch(&mut desk.world, typist, (10, half)));
    desk.world.client(locker.client).take_events();
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    let is_key = |event: &ClientEvent| matches!(event, ClientEvent::Key { .. });
    assert!(desk.world.client(locker.client).take_events().iter().any(is_key), "the keyboard is the locker's");
    // Its subsurfaces are limited too.
    let (above, place) = desk.world.client(typist).subsurface(&layer.surface);
    place.set_position(0, -20);
    desk.world.client(typist).draw(&above, 2, (20, 10), GREEN);
    above.commit();
    layer.surface.commit();
    assert!(shows(&mut desk.world, (10, half), BLUE), "it is hidden as a whole");
    assert!(!touch(&mut desk.world, typist, (10, half)));
    place.set_position(0, 20);
    layer.surface.commit();
    assert!(shows(&mut desk.world, (30, half + 1), RED) && shows(&mut desk.world, (10, half + 25), GREEN));
}

#[test]
fn popups_are_not_seen_under_a_lock() {
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    assert_popup_at(&mut desk, (60, 92));
    Locker::lock(&mut desk.world, BLUE);
    assert!(shows(&mut desk.world, (61, 93), BLUE));
}

#[test]
fn redrawn_input_popup_is_presented_at_the_next_refresh() {
    const LARGER: (i32, i32) = (90, 50);
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    let (surface, _popup) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    assert_popup_at(&mut desk, (60, 92));
    for client in [desk.writer, desk.typist] {
        desk.world.client(client).is_stalled = true;
    }
    for (number, size, colour) in [(2, SIZE, GREEN), (3, LARGER, BLUE)] {
        desk.world.client(desk.typist).draw(&surface, number, size, colour);
        surface.commit();
        desk.world.run_for(Span::from_millis(50), &mut nothing);
        assert_eq!(desk.world.pixel(60 + size.0 - 1, 92 + size.1 - 1), colour);
    }
}

#[test]
fn input_popup_follows_the_caret_without_other_activity() {
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    assert_popup_at(&mut desk, (60, 92));
    // Both clients stop reading, because a client that reads would wake the test's session.
    for client in [desk.writer, desk.typist] {
        desk.world.client(client).is_stalled = true;
    }
    desk.field.set_cursor_rectangle(30, 20, 2, 12);
    desk.field.commit();
    desk.world.run_for(Span::from_millis(200), &mut nothing);
    assert_eq!(desk.world.pixel(80, 92), RED);
    assert_ne!(desk.world.pixel(79, 92), RED);
    desk.field.disable();
    desk.field.commit();
    desk.world.run_for(Span::from_millis(200), &mut nothing);
    assert_ne!(desk.world.pixel(80, 92), RED, "a field that was left has no popup");
}
