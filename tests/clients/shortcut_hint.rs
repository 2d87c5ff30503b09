//! The hint on an empty desktop: it lists shortcuts until the first window is opened.

use crate::fixture::{OUTPUT, TestWorld};

/// Number of bright pixels in the middle of the screen.
fn ink(world: &TestWorld) -> usize {
    let picture = world.picture();
    let row = |y: i32| (y * OUTPUT.0) as usize..((y + 1) * OUTPUT.0) as usize;
    let middle = OUTPUT.1 / 2 - 60..OUTPUT.1 / 2 + 60;
    middle.flat_map(|y| picture.pixels[row(y)].iter()).filter(|pixel| **pixel & 0xff > 0x80).count()
}

#[test]
fn shortcut_hint_is_shown_until_the_first_window_opens() {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.overlays_mut().set_hint(true);
    upbeat::output::schedule_repaint_all(&mut world.state);
    world.run_until_idle();
    assert!(ink(&world) > 500, "{}", ink(&world));
    let (client, _window) = world.open("a", 10, 10);
    world.move_window("a", (0, 0));
    world.run_until_idle();
    assert_eq!(ink(&world), 0);
    world.kill(client);
    world.run_until_idle();
    assert_eq!(ink(&world), 0, "the hint does not come back");
}
