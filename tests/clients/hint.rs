//! The hint on an empty desktop: it lists shortcuts until the first window is opened.

use crate::fixture::{OUTPUT, World};

/// Number of bright pixels in the middle of the screen.
fn ink(world: &World) -> usize {
    let picture = world.picture();
    let row = |y: i32| (y * OUTPUT.0) as usize..((y + 1) * OUTPUT.0) as usize;
    let middle = OUTPUT.1 / 2 - 60..OUTPUT.1 / 2 + 60;
    middle.flat_map(|y| picture.pixels[row(y)].iter()).filter(|pixel| **pixel & 0xff > 0x80).count()
}

#[test]
fn an_empty_desktop_says_which_keys_there_are_until_a_window_was_opened() {
    let mut world = World::lit();
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.overlays_mut().set_hint(true);
    upbeat::output::need_all(&mut world.state);
    world.rest();
    assert!(ink(&world) > 500, "{}", ink(&world));
    let (client, _window) = world.open("a", 10, 10);
    world.put("a", (0, 0));
    world.rest();
    assert_eq!(ink(&world), 0);
    world.kill(client);
    world.rest();
    assert_eq!(ink(&world), 0, "the hint does not come back");
}
