//! Injected failures of system calls on the frame path: the session continues, and the next attempt succeeds.

use upbeat_record::faults::{Fault, arm};
use upbeat_timing::time::Span;

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::simulated::nothing;
use crate::fixture::{Event, World};
use wayland_protocols::wp::cursor_shape::v1::client::wp_cursor_shape_device_v1::Shape;

const FRAMES: u32 = 8;
/// A refused frame is drawn at most this much later.
const LATEST: Span = Span::from_millis(200);

/// A client draws frames while the `nth` allocation of a kind is refused. Every frame gets its feedback, and the last
/// is on the screen.
fn draws_while_it_is_refused(fault: Fault, nth: u32) {
    let mut world = World::simulated(&[60_000]);
    let (client, window) = world.open_filled("a window", (100, 80), RED);
    world.run_for(Span::from_millis(100), &mut nothing);
    arm(fault, nth);
    for number in 2..FRAMES + 2 {
        let colour = [RED, GREEN, BLUE][number as usize % 3];
        world.client(client).draw(&window.surface, number, (100, 80), colour);
        window.surface.commit();
        let start = world.now();
        while world.client(client).count(|heard| heard.is_end_of_feedback(number)) == 0 {
            assert!(world.now() - start < LATEST, "frame {number} has no end, {fault:?} {nth}");
            world.run_for(Span::from_millis(1), &mut nothing);
        }
    }
    arm(fault, 0);
    world.client(client).draw(&window.surface, 99, (100, 80), GREEN);
    window.surface.commit();
    world.run_for(LATEST, &mut nothing);
    assert!(world.client(client).light(99).is_some(), "{fault:?} {nth}");
    let place = world.window("a window").rect().loc;
    assert_eq!(world.pixel(place.x + 50, place.y + 40), GREEN, "{fault:?} {nth}");
}

#[test]
fn without_memory_for_a_picture_frames_are_late_and_come() {
    (1..=4).for_each(|nth| draws_while_it_is_refused(Fault::Buffer, nth));
}

#[test]
fn a_client_s_picture_that_cannot_be_read_is_left_out_of_one_frame() {
    (1..=4).for_each(|nth| draws_while_it_is_refused(Fault::Texture, nth));
}

#[test]
fn without_a_thread_a_picture_of_the_screen_fails_and_the_next_one_does_not() {
    let mut world = World::lit();
    let (client, _window) = world.open_filled("a window", (100, 80), RED);
    world.rest();
    let capture = |world: &mut World| {
        let its = world.client(client);
        let frame = its.globals().screencopy.capture_output(0, &its.bind_output(), &its.handle(), ());
        world.settle();
        let events = world.client(client).take_events();
        let asked = events.iter().find_map(|event| match event {
            Event::CaptureBuffer { width, height, .. } => Some((*width as i32, *height as i32)),
            _ => None,
        });
        let (width, height) = asked.expect("no buffer event arrived");
        frame.copy(&world.client(client).buffer(width, height));
        let mut succeeded = None;
        world.until("an answer", |world| {
            for event in world.client(client).take_events() {
                match event {
                    Event::Captured => succeeded = Some(true),
                    Event::CaptureFailed => succeeded = Some(false),
                    _ => {}
                }
            }
            succeeded.is_some()
        });
        succeeded.unwrap()
    };
    arm(Fault::Thread, 1);
    assert!(!capture(&mut world));
    assert!(capture(&mut world));
}

#[test]
fn without_a_thread_the_pointer_looks_plain_and_the_session_goes_on() {
    let mut world = World::lit();
    let (client, _window) = world.open_filled("a window", (400, 300), RED);
    world.rest();
    world.point(640.0, 360.0);
    arm(Fault::Thread, 1);
    let serial = world.client(client).data.last_enter;
    let its = world.client(client);
    let device = its.globals().cursor_shapes.get_pointer(its.globals().pointer(), &its.handle(), ());
    device.set_shape(serial, Shape::Wait);
    world.rest();
    arm(Fault::Thread, 0);
    assert!(!world.client(client).is_gone());
    world.open_filled("another window", (100, 80), GREEN);
    world.rest();
    assert_eq!(world.stack().len(), 2);
}

#[test]
fn memory_that_cannot_be_mapped_ends_whose_it_is_and_nobody_else() {
    let mut world = World::lit();
    let (good, _window) = world.open_filled("a window", (100, 80), RED);
    let unlucky = world.connect();
    arm(Fault::Mapping, 2);
    world.client(unlucky).buffer(10, 10);
    world.settle();
    assert!(!world.client(unlucky).is_gone());
    world.client(unlucky).buffer(10, 10);
    world.settle();
    arm(Fault::Mapping, 0);
    assert!(world.client(unlucky).is_gone());
    let said = world.client(unlucky).said();
    assert!(said.contains("the memory cannot be mapped"), "{said}");
    assert!(!world.client(good).is_gone());
    world.open_filled("another window", (100, 80), GREEN);
    world.rest();
    assert_eq!(world.stack().len(), 2);
}
