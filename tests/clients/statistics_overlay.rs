//! The overlay with frame statistics: it changes with frames that are drawn anyway, and causes no frames or wake-ups.

use upbeat_timing::time::Span;

use crate::fixture::content::{GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{KEY_LEFT_SUPER, OUTPUT, TestWorld};

const KEY_F2: u32 = 60;

fn world() -> TestWorld {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.run_until_idle();
    world
}

/// The corner of the screen with the overlay.
fn figures(world: &TestWorld) -> Vec<u32> {
    let picture = world.picture();
    let rows = picture.pixels.chunks(picture.width as usize).take(250);
    rows.flat_map(|row| row[OUTPUT.0 as usize - 400..].to_vec()).collect()
}

#[test]
fn statistics_overlay_is_toggled_by_a_key_and_follows_frames() {
    let mut world = world();
    let (client, window) = world.open_filled("a", (200, 100), RED);
    world.move_window("a", (0, 600));
    world.run_until_idle();
    let bare = figures(&world);
    world.chord(&[KEY_LEFT_SUPER], KEY_F2);
    world.run_until_idle();
    let first = figures(&world);
    assert_ne!(first, bare);
    let draw = |world: &mut TestWorld, number: u32, colour: Xrgb8888Pixel| {
        world.client(client).draw(&window.surface, number, (200, 100), colour);
        window.surface.commit();
        world.settle();
        world.run_until_idle();
    };
    (2..12).for_each(|number| draw(&mut world, number, if number % 2 == 0 { GREEN } else { RED }));
    assert_ne!(figures(&world), first, "the figures do not change");
    world.chord(&[KEY_LEFT_SUPER], KEY_F2);
    world.run_until_idle();
    assert_eq!(figures(&world), bare);
}

#[test]
fn statistics_overlay_causes_no_frames_or_wake_ups() {
    let mut world = world();
    let (client, window) = world.open_filled("a", (200, 100), RED);
    world.chord(&[KEY_LEFT_SUPER], KEY_F2);
    world.run_until_idle();
    world.run_for(Span::from_seconds(2), &mut |_| None);
    let (turns, frames) = (world.turns(), world.output(0).records().last().map(|record| record.frame));
    world.run_for(Span::from_seconds(10), &mut |_| None);
    assert!(world.turns() - turns <= 2, "{} turns", world.turns() - turns);
    // A commit with a callback but without new content causes no frame.
    for number in 2..8 {
        // Presentation feedback would need a frame, so only a callback is requested.
        window.surface.frame(&world.client(client).handle(), number);
        window.surface.commit();
        world.settle();
        world.run_for(Span::from_millis(50), &mut |_| None);
    }
    let drawn = world.output(0).records().iter().filter(|record| Some(record.frame) > frames);
    assert_eq!(drawn.filter(|record| record.damage > 0).count(), 0);
}
