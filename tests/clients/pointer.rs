//! Constraints, relative motion and the cursor.

use upbeat::input::InputEvent;
use upbeat::input::cursor::CursorView;
use wayland_protocols::wp::cursor_shape::v1::client::wp_cursor_shape_device_v1::Shape;
use wayland_protocols::wp::pointer_constraints::zv1::client::zwp_pointer_constraints_v1::Lifetime;

use crate::fixture::{Event, World};

fn pointer_at(world: &World) -> (f64, f64) {
    let position = upbeat::input::pointer_position(&world.state);
    (position.x, position.y)
}

#[test]
fn a_locked_pointer_stays_and_reports_only_how_far_it_would_have_moved() {
    let mut world = World::new();
    let (a, window) = world.open("a", 400, 300);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    let client = world.client(a);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());
    client.globals().relative_pointers.get_relative_pointer(&pointer, &handle, ());
    let lock =
        client.globals().constraints.lock_pointer(&window.surface, &pointer, None, Lifetime::Persistent, &handle, ());
    world.settle();
    assert!(
        world.client(a).take_events().iter().any(|event| matches!(event, Event::Locked)),
        "it has the focus already"
    );

    let before = pointer_at(&world);
    let time = world.tick();
    world.input(InputEvent::PointerMotion { time, delta: (7.0, -3.0).into(), raw: (9.0, -4.0).into() });
    assert_eq!(pointer_at(&world), before);
    let events = world.client(a).take_events();
    assert!(events.iter().any(|event| matches!(event, Event::Relative { dx: 7.0, dy: -3.0 })), "{events:?}");
    assert!(!events.iter().any(|event| matches!(event, Event::PointerMotion { .. })));

    lock.destroy();
    world.settle();
    let time = world.tick();
    world.input(InputEvent::PointerMotion { time, delta: (7.0, -3.0).into(), raw: (9.0, -4.0).into() });
    assert_eq!(pointer_at(&world), (before.0 + 7.0, before.1 - 3.0));
}

#[test]
fn a_confined_pointer_slides_along_the_edge_of_its_region() {
    let mut world = World::new();
    let (a, window) = world.open("a", 400, 300);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    let client = world.client(a);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());
    let region = client.globals().compositor.create_region(&handle, ());
    region.add(0, 0, 100, 100);
    client.globals().constraints.confine_pointer(
        &window.surface,
        &pointer,
        Some(&region),
        Lifetime::Persistent,
        &handle,
        (),
    );
    world.settle();
    let time = world.tick();
    world.input(InputEvent::PointerMotion { time, delta: (200.0, 20.0).into(), raw: (200.0, 20.0).into() });
    assert_eq!(pointer_at(&world), (corner.x + 50.0, corner.y + 70.0), "one axis is free, the other is not");
}

#[test]
fn the_cursor_is_what_the_client_under_the_pointer_wants() {
    let mut world = World::new();
    let (a, _) = world.open("a", 400, 300);
    world.point(640.0, 360.0);
    let serial = world.client(a).data.last_enter;
    let client = world.client(a);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());

    pointer.set_cursor(serial, None, 0, 0);
    world.settle();
    assert_eq!(world.state.input.cursor.view(1.0), CursorView::Hidden);

    let client = world.client(a);
    let image = client.surface();
    client.show(&image, 24, 24);
    pointer.set_cursor(serial, Some(&image), 3, 5);
    world.settle();
    assert!(
        matches!(world.state.input.cursor.view(1.0), CursorView::Surface(_, hotspot) if (hotspot.x, hotspot.y) == (3, 5))
    );
    image.destroy();
    world.settle();
    assert!(matches!(world.state.input.cursor.view(1.0), CursorView::Image(_)), "its surface is gone");

    let client = world.client(a);
    let device = client.globals().cursor_shapes.get_pointer(&pointer, &handle, ());
    device.set_shape(serial, Shape::Text);
    world.settle();
    assert!(matches!(world.state.input.cursor.view(2.0), CursorView::Image(image) if image.pixels.width > 0));
}
