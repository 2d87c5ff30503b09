//! The row of workspaces that an output shows for a second after a switch. In virtual time.

use upbeat::shell::animation::AnimationStyles;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::time::Span;
use wayland_protocols::ext::workspace::v1::client::ext_workspace_manager_v1::ExtWorkspaceManagerV1;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::simulated::nothing;
use crate::fixture::worlds::SMALL;
use crate::fixture::{KEY_1, KEY_2, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_O, TestWorld};

/// Duration of the fades in these tests.
const FADE: Span = Span::from_millis(100);

/// A red window on workspace 1 and a green window on workspace 2, both of the size of the screen.
fn two_workspaces(enabled: bool) -> TestWorld {
    let mut world = TestWorld::simulated(&[60_000]);
    world.open_filled("red", SMALL, RED);
    world.open_filled("green", SMALL, GREEN);
    world.move_window("green", (0, 0));
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_2);
    world.run_until_idle();
    world.state.shell.enable_workspace_indicators(enabled);
    let help = Some(MotionStyle::Easing { duration: FADE, curve: CubicBezier::LINEAR });
    world.state.shell.set_animations(AnimationStyles { help, ..AnimationStyles::default() });
    upbeat::output::schedule_repaint_all(&mut world.state);
    world.run_until_idle();
    world
}

fn switch(world: &mut TestWorld, key: u32) {
    world.chord(&[KEY_LEFT_SUPER], key);
}

/// Number of pixels in the lower third of the screen that the window of `colour`, which fills it, does not show. The
/// cursor lies above.
fn other_pixels(world: &TestWorld, colour: u32) -> usize {
    let whole = world.picture().pixels;
    whole[whole.len() / 3 * 2..].iter().filter(|pixel| **pixel & 0x00ff_ffff != colour).count()
}

fn run(world: &mut TestWorld, millis: i64) {
    world.run_for(Span::from_millis(millis), &mut nothing);
}

#[test]
fn indicator_is_shown_for_a_second_after_a_switch_and_then_the_session_is_idle() {
    let mut world = two_workspaces(true);
    assert_eq!(other_pixels(&world, RED), 0, "nothing was switched yet");
    switch(&mut world, KEY_2);
    run(&mut world, 500);
    let shown = other_pixels(&world, GREEN);
    assert!(shown > 1_000, "{shown} pixels");
    run(&mut world, 450);
    assert_eq!(other_pixels(&world, GREEN), shown, "it rests until it fades");
    run(&mut world, 300);
    assert_eq!(other_pixels(&world, GREEN), 0);
    let turns = world.turns();
    run(&mut world, 60_000);
    assert_eq!(world.turns() - turns, 1, "turns of the loop in a minute, but for the last");
}

#[test]
fn resting_indicator_asks_for_no_frames() {
    let mut world = two_workspaces(true);
    switch(&mut world, KEY_2);
    run(&mut world, 300);
    let turns = world.turns();
    run(&mut world, 600);
    assert_eq!(world.turns() - turns, 1, "turns of the loop while it rests, but for the last");
    assert!(world.state.shell.is_at_rest(), "the scene of the frame before is reused");
}

#[test]
fn second_switch_prolongs_the_indicator() {
    let mut world = two_workspaces(true);
    switch(&mut world, KEY_2);
    run(&mut world, 800);
    switch(&mut world, KEY_1);
    run(&mut world, 800);
    assert!(other_pixels(&world, RED) > 1_000);
    run(&mut world, 500);
    assert_eq!(other_pixels(&world, RED), 0);
}

#[test]
fn indicator_fades_by_the_time_at_which_frames_are_shown() {
    let mut world = two_workspaces(true);
    let log = world.probe((SMALL.0 / 2, 0, 1, SMALL.1));
    switch(&mut world, KEY_2);
    run(&mut world, 2_000);
    let columns: Vec<Vec<u32>> = std::iter::from_fn(|| log.pop())
        .skip_while(|sample| sample.pixels[0] & 0x00ff_ffff != GREEN)
        .map(|sample| sample.pixels.to_vec())
        .collect();
    let covered = |pixels: &Vec<u32>| pixels.iter().map(|pixel| 255 - (pixel >> 8 & 0xff)).sum::<u32>();
    let cover: Vec<u32> = columns.iter().map(covered).collect();
    let most = *cover.iter().max().unwrap();
    let top = cover.iter().position(|it| *it == most).unwrap();
    let end = cover.iter().rposition(|it| *it == most).unwrap();
    let levels = |part: &[u32]| part.iter().filter(|it| **it > 0 && **it < most).count();
    // 100 ms have six refreshes at 60 Hz.
    assert!((4..=6).contains(&levels(&cover[end..])), "fades out: {cover:?}");
    assert!(levels(&cover[..top]) >= 4, "fades in: {cover:?}");
    assert!(cover[end..].is_sorted_by(|a, b| a >= b), "{cover:?}");
}

#[test]
fn request_of_a_client_shows_the_indicator_too_but_not_the_overview() {
    let mut world = two_workspaces(true);
    let bar = world.connect();
    let manager = world.client(bar).bind::<ExtWorkspaceManagerV1>();
    world.deliver();
    world.client(bar).workspace(2).activate();
    manager.commit();
    run(&mut world, 500);
    assert!(other_pixels(&world, GREEN) > 1_000);
    run(&mut world, 1_000);
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    switch(&mut world, KEY_1);
    run(&mut world, 200);
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    run(&mut world, 200);
    assert_eq!(other_pixels(&world, RED), 0, "the overview has shown the workspaces");
}

#[test]
fn disabled_indicator_is_never_shown() {
    let mut world = two_workspaces(false);
    switch(&mut world, KEY_2);
    run(&mut world, 500);
    assert_eq!(other_pixels(&world, GREEN), 0);
    // Switched off while it is shown.
    world.state.shell.enable_workspace_indicators(true);
    upbeat::output::schedule_repaint_all(&mut world.state);
    run(&mut world, 100);
    switch(&mut world, KEY_1);
    run(&mut world, 500);
    assert!(other_pixels(&world, RED) > 1_000);
    world.state.shell.enable_workspace_indicators(false);
    upbeat::output::schedule_repaint_all(&mut world.state);
    run(&mut world, 100);
    assert_eq!(other_pixels(&world, RED), 0);
}

#[test]
fn only_the_output_that_switched_shows_the_indicator() {
    let mut world = TestWorld::simulated(&[60_000, 60_000]);
    world.state.shell.enable_workspace_indicators(true);
    upbeat::output::schedule_repaint_all(&mut world.state);
    world.run_until_idle();
    switch(&mut world, KEY_2);
    run(&mut world, 300);
    let shell = &world.state.shell;
    let now = world.now();
    let shown: Vec<bool> = shell
        .workspaces()
        .screens()
        .map(|(screen, _)| shell.overlays().indicators().opacity(screen, now).is_some())
        .collect();
    assert_eq!(shown.iter().filter(|is_shown| **is_shown).count(), 1, "{shown:?}");
}
