//! The first frame of a window is shown, even if hidden windows get their callbacks in the same refresh.

use super::*;

/// Callback interval of hidden surfaces.
const SLOWLY: Span = Span::from_seconds(1);
/// Window number n opens n times this long before that callback: up to more than a refresh.
const STEP: Span = Span::from_millis(2);
const WINDOWS: i64 = 10;

/// Waits for the callback `number` of the hidden `client`. Returns the time.
#[track_caller]
fn wait_for_callback(world: &mut TestWorld, client: ClientIndex, number: u32) -> Instant {
    let asked = world.now();
    while !world.client(client).has_received(ContentEvent::Callback(number)) {
        assert!(world.now() - asked < SLOWLY * 2, "a hidden window is not called back");
        world.run_for(Span::from_micros(200), &mut nothing);
    }
    world.now()
}

/// Opens windows so that hidden surfaces get their callbacks while the new window waits for its first latch.
#[track_caller]
fn assert_first_frames_beside_hidden_callbacks(rates: &[u32]) {
    let mut world = TestWorld::simulated(rates);
    let (hidden, window) = world.open_filled("hidden", SIZE, RED);
    world.run_until_idle();
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    world.run_until_idle();
    let mut number = 1;
    let mut ask = |world: &mut TestWorld| {
        number += 1;
        world.client(hidden).request_feedback(&window.surface, number);
        window.surface.commit();
        world.turn();
        number
    };
    let first = ask(&mut world);
    wait_for_callback(&mut world, hidden, first);
    for place in 0..WINDOWS {
        let asked = world.now();
        let number = ask(&mut world);
        world.run_for(SLOWLY - STEP * place - (world.now() - asked), &mut nothing);
        let mut new = IdleWindow::open(&mut world, "new");
        let opened = world.now();
        wait_for_callback(&mut world, hidden, number);
        world.run_for(interval(&world, 0) * 3, &mut nothing);
        let client = world.client(new.client);
        assert!(
            !client.has_received(ContentEvent::Discarded(1)),
            "{} ms before: its first frame was discarded",
            2 * place
        );
        let (light, _) = client.light(1).expect("its first frame is shown");
        assert!(light - opened <= interval(&world, 0) * 2, "shown after {}", light - opened);
        new.commit(&mut world);
        new.assert_update_within_two_refreshes(&mut world, 0, "the second frame", &mut nothing);
        world.kill(new.client);
        // Wait for one more callback, because the next tick may be an early tick that the new window asked for.
        let settled = ask(&mut world);
        wait_for_callback(&mut world, hidden, settled);
    }
}

#[test]
fn first_frame_is_shown_while_hidden_windows_get_callbacks() {
    assert_first_frames_beside_hidden_callbacks(&[60_000]);
}

#[test]
fn first_frame_is_shown_while_hidden_windows_of_another_output_get_callbacks() {
    assert_first_frames_beside_hidden_callbacks(&[60_000, 60_000]);
}
