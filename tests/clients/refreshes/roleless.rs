//! Commits to a surface without a role cost no refresh. Toolkits go on committing after they destroyed the role.

use super::*;
use crate::fixture::{Event, KEY_A, KEY_O};

/// Long enough that the vblank phase of the output is unknown again.
const IDLE: Span = Span::from_seconds(40);
const COMMITS: u32 = 12_000;
/// Interval between two commits.
const APART: Span = Span::from_micros(200);

/// A former window: its role is destroyed, its surface still exists.
fn roleless(world: &mut World) -> (ClientIndex, Toplevel) {
    let (client, window) = world.open_filled("gone", SIZE, RED);
    world.rest();
    window.toplevel.destroy();
    window.xdg.destroy();
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.rest();
    (client, window)
}

/// Makes [`COMMITS`] commits, alternately with and without a buffer.
fn commits(world: &mut World, client: ClientIndex, window: &Toplevel, apart: Span) {
    let buffer = world.client(client).solid(2, SIZE.0, SIZE.1, BLUE);
    let (mut next, mut made) = (world.now(), 0);
    let mut commit = |world: &mut World| {
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
    let mut world = World::simulated(&[60_000]);
    let (client, window) = roleless(&mut world);
    world.run_for(IDLE, &mut nothing);
    commits(&mut world, client, &window, apart);

    let mut new = Still::open(&mut world, "new");
    new.is_soon_seen(&mut world, 0, "a new window", &mut nothing);
    new.commit(&mut world);
    new.is_soon_seen(&mut world, 0, "its next content", &mut nothing);

    world.client(new.client).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    let heard = world.client(new.client).take_events();
    assert_eq!(heard.iter().filter(|event| matches!(event, Event::Key { .. })).count(), 2, "{heard:?}");

    let asked = world.now();
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    is_soon_shown(&mut world, 0, asked, "the overview");
}

#[test]
fn a_window_opens_at_once_after_thousands_of_commits_that_nobody_sees() {
    answers_after(APART);
}

#[test]
fn a_window_opens_at_once_after_thousands_of_commits_in_no_time() {
    answers_after(Span::ZERO);
}

#[test]
fn window_that_hides_before_its_latch_is_called_back() {
    let mut world = World::simulated(&[60_000]);
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.rest();
    // Mesa's eglSwapBuffers waits for the callback of the previous frame.
    world.client(client).draw(&window.surface, 2, SIZE, BLUE);
    window.surface.commit();
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.run_for(Span::from_seconds(3), &mut nothing);
    assert!(world.client(client).heard(Heard::Called(2)), "its client waits for ever");
}

#[test]
fn nobody_waits_for_commits_that_nobody_sees() {
    let mut world = World::simulated(&[60_000]);
    let (client, window) = roleless(&mut world);
    let mut still = Still::open(&mut world, "still");
    world.rest();
    world.run_for(IDLE, &mut nothing);
    let refreshes = (APART * i64::from(COMMITS)).as_seconds_f64() * 60.0;
    let latches = world.output(0).latches();
    commits(&mut world, client, &window, APART);
    let latched = (world.output(0).latches() - latches) as f64;
    assert!(latched <= refreshes * 2.5, "{latched} latches in {refreshes} refreshes");
    still.commit(&mut world);
    still.is_soon_seen(&mut world, 0, "another window", &mut nothing);
}
