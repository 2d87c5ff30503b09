//! Commits to a surface without a role cost no refresh. Toolkits go on committing after they destroyed the role.

use super::*;
use crate::fixture::{ClientEvent, KEY_A, KEY_O};

/// Long enough that the vblank phase of the output is unknown again.
const IDLE: Span = Span::from_seconds(40);
const COMMITS: u32 = 12_000;
/// Interval between two commits.
const APART: Span = Span::from_micros(200);

/// A former window: its role is destroyed, its surface still exists.
fn roleless(world: &mut TestWorld) -> (ClientIndex, TestToplevel) {
    let (client, window) = world.open_filled("gone", SIZE, RED);
    world.run_until_idle();
    window.toplevel.destroy();
    window.xdg.destroy();
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.run_until_idle();
    (client, window)
}

/// Makes [`COMMITS`] commits, alternately with and without a buffer.
fn commits(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, apart: Span) {
    let buffer = world.client(client).solid(2, SIZE.0, SIZE.1, BLUE);
    let (mut next, mut made) = (world.now(), 0);
    let mut commit = |world: &mut TestWorld| {
        if world.now() >= next && made < COMMITS {
            (next, made) = (world.now() + apart, made + 1);
            window.surface.attach((made % 2 == 0).then_some(&buffer), 0, 0);
            window.surface.damage_buffer(0, 0, 8, 8);
            window.surface.commit();
        }
        Some(next).filter(|_| made < COMMITS)
    };
    let turn = Span::from_micros(20);
    world.run_for((apart + turn) * i64::from(COMMITS), &mut commit);
    assert_eq!(made, COMMITS);
}

#[track_caller]
fn answers_after(apart: Span) {
    let mut world = TestWorld::simulated(&[60_000]);
    let (client, window) = roleless(&mut world);
    world.run_for(IDLE, &mut nothing);
    commits(&mut world, client, &window, apart);

    let mut new = IdleWindow::open(&mut world, "new");
    new.assert_update_within_two_refreshes(&mut world, 0, "a new window", &mut nothing);
    new.commit(&mut world);
    new.assert_update_within_two_refreshes(&mut world, 0, "its next content", &mut nothing);

    world.client(new.client).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    let heard = world.client(new.client).take_events();
    assert_eq!(heard.iter().filter(|event| matches!(event, ClientEvent::Key { .. })).count(), 2, "{heard:?}");

    let asked = world.now();
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    assert_frame_within_two_refreshes(&mut world, 0, asked, "the overview");
}

#[test]
fn window_opens_at_once_after_thousands_of_commits_without_a_role() {
    answers_after(APART);
}

#[test]
fn window_opens_at_once_after_a_burst_of_commits_without_a_role() {
    answers_after(Span::ZERO);
}

#[test]
fn window_unmapped_before_its_latch_gets_its_callback() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    // Mesa's eglSwapBuffers waits for the callback of the previous frame.
    world.client(client).draw(&window.surface, 2, SIZE, BLUE);
    window.surface.commit();
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.run_for(Span::from_seconds(3), &mut nothing);
    assert!(world.client(client).has_received(ContentEvent::Callback(2)), "its client waits for ever");
}

#[test]
fn commits_without_a_role_delay_no_client() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (client, window) = roleless(&mut world);
    let mut still = IdleWindow::open(&mut world, "still");
    world.run_until_idle();
    world.run_for(IDLE, &mut nothing);
    let refreshes = (APART * i64::from(COMMITS)).as_seconds_f64() * 60.0;
    let latches = world.output(0).latches();
    commits(&mut world, client, &window, APART);
    let latched = (world.output(0).latches() - latches) as f64;
    assert!(latched <= refreshes * 2.5, "{latched} latches in {refreshes} refreshes");
    still.commit(&mut world);
    still.assert_update_within_two_refreshes(&mut world, 0, "another window", &mut nothing);
}
