//! Commits without any change on an idle screen: callbacks and feedback are still sent.

use upbeat_timing::time::Span;

use crate::fixture::content::{ContentEvent, GREEN, RED};
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, OUTPUT, TestToplevel, TestWorld};

const SIZE: (i32, i32) = (300, 200);

fn still() -> (TestWorld, ClientIndex, TestToplevel) {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    world.run_for(Span::from_seconds(3), &mut nothing);
    (world, client, window)
}

/// Time until the update is on screen.
fn time_to_light(world: &mut TestWorld, client: ClientIndex, update: u32) -> Span {
    let begun = world.now();
    world.run_for(Span::from_seconds(2), &mut nothing);
    world.client(client).light(update).unwrap_or_else(|| panic!("{update} was not presented")).0 - begun
}

#[test]
fn feedback_alone_is_presented_at_the_next_refresh() {
    let (mut world, client, window) = still();
    for (number, with_callback) in [(7, false), (8, true)] {
        let handle = world.client(client).handle();
        world.client(client).globals().presentation.feedback(&window.surface, &handle, number);
        if with_callback {
            window.surface.frame(&handle, number);
        }
        window.surface.commit();
        let refreshes = time_to_light(&mut world, client, number).as_seconds_f64() * 60.0;
        assert!(refreshes <= 2.0, "{refreshes}");
        assert_eq!(world.client(client).has_received(ContentEvent::Callback(number)), with_callback);
    }
}

#[test]
fn feedback_of_subsurface_and_cursor_is_presented_without_damage() {
    let (mut world, client, window) = still();
    let (part, position) = world.client(client).subsurface(&window.surface);
    position.set_desync();
    world.client(client).draw(&part, 2, (50, 50), GREEN);
    part.commit();
    window.surface.commit();
    world.run_for(Span::from_seconds(3), &mut nothing);
    let handle = world.client(client).handle();
    world.client(client).globals().presentation.feedback(&part, &handle, 7);
    part.commit();
    time_to_light(&mut world, client, 7);
}

#[test]
fn feedback_of_a_hidden_window_ends_with_the_slow_tick() {
    let (mut world, client, window) = still();
    world.open_filled("above", OUTPUT, GREEN);
    world.move_window("above", (0, 0));
    world.run_until_idle();
    world.run_for(Span::from_seconds(3), &mut nothing);
    let handle = world.client(client).handle();
    world.client(client).globals().presentation.feedback(&window.surface, &handle, 7);
    window.surface.commit();
    world.run_for(Span::from_seconds(2), &mut nothing);
    assert!(world.client(client).has_received(ContentEvent::Discarded(7)));
}

#[test]
fn fifo_barrier_without_content_is_cleared_at_the_next_refresh() {
    let delay = |with_barrier: bool| {
        let (mut world, client, window) = still();
        let fifo = world.client(client).fifo(&window.surface);
        if with_barrier {
            fifo.set_barrier();
        }
        window.surface.commit();
        world.run_for(Span::from_seconds(2), &mut nothing);
        world.client(client).draw(&window.surface, 7, SIZE, GREEN);
        fifo.wait_barrier();
        window.surface.commit();
        time_to_light(&mut world, client, 7)
    };
    let (with, without) = (delay(true), delay(false));
    assert!(with - without < Span::from_millis(10), "{with} and {without}");
}
