//! Popups of the input method at the caret, and on-screen keyboards.

use upbeat::input::InputEvent;
use upbeat_timing::time::Span;
use wayland_client::Proxy;

use super::{Desk, method, pass, popup, told};
use crate::fixture::content::{BLUE, Colour, GREEN, RED};
use crate::fixture::handlers::id;
use crate::fixture::layers::zwlr_layer_surface_v1::{Anchor, KeyboardInteractivity};
use crate::fixture::layers::{Layer, LayerSurface, ZwlrLayerSurfaceV1};
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, Event, KEY_A, OUTPUT, World};
use crate::lock::Locker;

const SIZE: (i32, i32) = (40, 20);

fn desk_at(corner: (i32, i32), caret: (i32, i32, i32, i32)) -> Desk {
    let mut desk = Desk::new();
    desk.world.put("letter", corner);
    desk.field.set_cursor_rectangle(caret.0, caret.1, caret.2, caret.3);
    desk.field.commit();
    desk.typist();
    desk
}

fn shows(world: &mut World, (x, y): (i32, i32), colour: Colour) -> bool {
    pass(world);
    world.rest();
    world.pixel(x, y) == colour
}

/// Checks that the top left corner of the popup lies at this point.
#[track_caller]
fn is_at(desk: &mut Desk, (x, y): (i32, i32)) {
    assert!(shows(&mut desk.world, (x, y), RED) && shows(&mut desk.world, (x + SIZE.0 - 1, y + SIZE.1 - 1), RED));
    assert!(!shows(&mut desk.world, (x, y - 1), RED) && !shows(&mut desk.world, (x - 1, y), RED));
}

#[test]
fn a_popup_lies_at_the_caret_goes_with_it_and_is_seen_while_a_field_is_typed_into() {
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    let (surface, _popup) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    is_at(&mut desk, (60, 92));
    assert_eq!(desk.typist(), ["caret 0 -12 2 12"]);
    desk.field.set_cursor_rectangle(30, 20, 2, 12);
    desk.field.commit();
    is_at(&mut desk, (80, 92));
    desk.world.put("letter", (50, 70));
    is_at(&mut desk, (80, 102));
    desk.world.point(85.0, 105.0);
    let entered = |event: &Event| matches!(event, Event::PointerEnter { surface: on, .. } if *on == id(&surface));
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
fn at_the_lower_edge_it_lies_above_the_caret() {
    let mut desk = desk_at((50, OUTPUT.1 - 60), (10, 30, 2, 12));
    popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    is_at(&mut desk, (60, OUTPUT.1 - 60 + 30 - SIZE.1));
    assert_eq!(desk.typist(), [format!("caret 0 {} 2 12", SIZE.1)]);
}

#[test]
fn a_surface_with_another_role_is_no_popup() {
    let mut desk = Desk::new();
    let window = desk.world.open_in(desk.typist, "settings", 100, 100);
    let handle = desk.world.client(desk.typist).handle();
    desk.method.get_input_popup_surface(&window.surface, &handle, ());
    desk.world.settle();
    assert!(desk.world.client(desk.typist).said().contains("another role"));
    let mut desk = Desk::new();
    let (surface, _popup) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    let handle = desk.world.client(desk.typist).handle();
    desk.method.get_input_popup_surface(&surface, &handle, ());
    desk.world.settle();
    assert!(desk.world.client(desk.typist).said().contains("already"));
}

#[test]
fn a_popup_comes_and_goes_in_any_order() {
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    let (surface, object) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    is_at(&mut desk, (60, 92));
    surface.destroy();
    assert!(!shows(&mut desk.world, (61, 93), RED));
    object.destroy();
    let (surface, object) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    is_at(&mut desk, (60, 92));
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
fn keyboard(world: &mut World, client: ClientIndex) -> LayerSurface {
    world.pin(client, Layer::Top, GREEN, |layer| {
        layer.set_size(0, 100);
        layer.set_anchor(Anchor::Bottom | Anchor::Left | Anchor::Right);
        layer.set_exclusive_zone(100);
    })
}

fn touch(world: &mut World, client: ClientIndex, position: (i32, i32)) -> bool {
    world.client(client).take_events();
    let (time, position) = (world.now(), (f64::from(position.0), f64::from(position.1)).into());
    world.input(InputEvent::TouchDown { time, slot: 0, position });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    world.client(client).take_events().iter().any(|event| matches!(event, Event::TouchDown { .. }))
}

#[test]
fn a_finger_on_a_keyboard_moves_no_focus() {
    let mut desk = Desk::new();
    keyboard(&mut desk.world, desk.typist);
    assert!(shows(&mut desk.world, (10, OUTPUT.1 - 10), GREEN));
    desk.writer();
    assert!(touch(&mut desk.world, desk.typist, (10, OUTPUT.1 - 10)));
    assert!(desk.writer().is_empty(), "no leave");
    assert_eq!(desk.world.focused().as_deref(), Some("letter"));
    assert_eq!(desk.types("x", 1), ["commit x", "done 1"]);
}

#[test]
fn the_keyboard_of_the_input_method_lies_above_a_lock_and_no_other_layer_does() {
    let mut desk = Desk::new();
    let other = desk.world.connect();
    desk.world.pin(other, Layer::Overlay, RED, |layer| {
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
    assert_eq!(told(&mut desk.world, other).len(), 0);
}

#[test]
fn the_input_method_covers_no_upper_half_of_a_lock_and_takes_no_keys_from_it() {
    let mut desk = Desk::new();
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
        let layer = desk.world.pin(typist, Layer::Overlay, RED, at_the_edge(edges, height));
        for place in [(300, 10), (300, OUTPUT.1 - 10)] {
            assert!(shows(&mut desk.world, place, BLUE), "{edges:?}, {height}");
            assert!(touch(&mut desk.world, locker.client, place));
        }
        layer.layer.destroy();
    }
    let layer = desk.world.pin(typist, Layer::Overlay, RED, at_the_edge(Anchor::Bottom, half));
    assert!(shows(&mut desk.world, (10, half), RED) && shows(&mut desk.world, (10, half - 1), BLUE));
    assert!(touch(&mut desk.world, typist, (10, half)));
    desk.world.client(locker.client).take_events();
    desk.world.key(KEY_A, true);
    desk.world.key(KEY_A, false);
    let is_key = |event: &Event| matches!(event, Event::Key { .. });
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
    is_at(&mut desk, (60, 92));
    Locker::lock(&mut desk.world, BLUE);
    assert!(shows(&mut desk.world, (61, 93), BLUE));
}

#[test]
fn popup_that_is_drawn_anew_while_nothing_else_happens_is_seen_at_the_next_refresh() {
    const LARGER: (i32, i32) = (90, 50);
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    let (surface, _popup) = popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    is_at(&mut desk, (60, 92));
    for client in [desk.writer, desk.typist] {
        desk.world.client(client).is_stopped = true;
    }
    for (number, size, colour) in [(2, SIZE, GREEN), (3, LARGER, BLUE)] {
        desk.world.client(desk.typist).draw(&surface, number, size, colour);
        surface.commit();
        desk.world.run_for(Span::from_millis(50), &mut nothing);
        assert_eq!(desk.world.pixel(60 + size.0 - 1, 92 + size.1 - 1), colour);
    }
}

#[test]
fn popup_follows_a_caret_while_nothing_else_happens() {
    let mut desk = desk_at((50, 60), (10, 20, 2, 12));
    popup(&mut desk.world, desk.typist, &desk.method, SIZE, RED);
    is_at(&mut desk, (60, 92));
    // Both clients stop reading, because a client that reads would wake the test's session.
    for client in [desk.writer, desk.typist] {
        desk.world.client(client).is_stopped = true;
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
