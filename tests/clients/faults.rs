//! Injected failures of system calls on the frame path: the session continues, and the next attempt succeeds.

use upbeat_record::faults::{Fault, arm};
use upbeat_timing::time::Span;

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientEvent, TestWorld};
use wayland_protocols::wp::cursor_shape::v1::client::wp_cursor_shape_device_v1::Shape;

const FRAMES: u32 = 8;
/// A refused frame is drawn at most this much later.
const LATEST: Span = Span::from_millis(200);

/// A client draws frames while the `nth` allocation of a kind is refused. Every frame gets its feedback, and the last
/// is on the screen.
fn draws_despite_fault(fault: Fault, nth: u32) {
    let mut world = TestWorld::simulated(&[60_000]);
    let (client, window) = world.open_filled("a window", (100, 80), RED);
    world.run_for(Span::from_millis(100), &mut nothing);
    arm(fault, nth);
    for number in 2..FRAMES + 2 {
        let colour = [RED, GREEN, BLUE][number as usize % 3];
        world.client(client).draw(&window.surface, number, (100, 80), colour);
        window.surface.commit();
        let start = world.now();
        while world.client(client).count_content_events(|heard| heard.is_end_of_feedback(number)) == 0 {
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
fn frames_are_late_but_shown_without_memory_for_a_buffer() {
    (1..=4).for_each(|nth| draws_despite_fault(Fault::Buffer, nth));
}

#[test]
fn client_buffer_that_cannot_be_read_misses_one_frame() {
    (1..=4).for_each(|nth| draws_despite_fault(Fault::Texture, nth));
}

#[test]
fn capture_without_a_thread_fails_and_the_next_succeeds() {
    let mut world = TestWorld::rendered();
    let (client, _window) = world.open_filled("a window", (100, 80), RED);
    world.run_until_idle();
    let capture = |world: &mut TestWorld| {
        let its = world.client(client);
        let frame = its.globals().screencopy.capture_output(0, &its.bind_output(), &its.handle(), ());
        world.settle();
        let events = world.client(client).take_events();
        let asked = events.iter().find_map(|event| match event {
            ClientEvent::CaptureBuffer { width, height, .. } => Some((*width as i32, *height as i32)),
            _ => None,
        });
        let (width, height) = asked.expect("no buffer event arrived");
        frame.copy(&world.client(client).buffer(width, height));
        let mut succeeded = None;
        world.run_until("an answer", |world| {
            for event in world.client(client).take_events() {
                match event {
                    ClientEvent::Captured => succeeded = Some(true),
                    ClientEvent::CaptureFailed => succeeded = Some(false),
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
fn session_continues_without_a_thread_for_the_cursor_theme() {
    let mut world = TestWorld::rendered();
    let (client, _window) = world.open_filled("a window", (400, 300), RED);
    world.run_until_idle();
    world.point(640.0, 360.0);
    arm(Fault::Thread, 1);
    let serial = world.client(client).data.last_enter;
    let its = world.client(client);
    let device = its.globals().cursor_shapes.get_pointer(its.globals().pointer(), &its.handle(), ());
    device.set_shape(serial, Shape::Wait);
    world.run_until_idle();
    arm(Fault::Thread, 0);
    assert!(!world.client(client).is_disconnected());
    world.open_filled("another window", (100, 80), GREEN);
    world.run_until_idle();
    assert_eq!(world.stack().len(), 2);
}

#[test]
fn pool_that_cannot_be_mapped_ends_only_its_client() {
    let mut world = TestWorld::rendered();
    let (good, _window) = world.open_filled("a window", (100, 80), RED);
    let unlucky = world.connect();
    arm(Fault::Mapping, 2);
    world.client(unlucky).buffer(10, 10);
    world.settle();
    assert!(!world.client(unlucky).is_disconnected());
    world.client(unlucky).buffer(10, 10);
    world.settle();
    arm(Fault::Mapping, 0);
    assert!(world.client(unlucky).is_disconnected());
    let said = world.client(unlucky).error_message();
    assert!(said.contains("the memory cannot be mapped"), "{said}");
    assert!(!world.client(good).is_disconnected());
    world.open_filled("another window", (100, 80), GREEN);
    world.run_until_idle();
    assert_eq!(world.stack().len(), 2);
}
