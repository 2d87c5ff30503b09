//! A layer that cannot be drawn is lost, not the frame.

use crate::fixture::World;
use crate::fixture::content::{GREEN, RED};

#[test]
fn a_surface_that_is_enlarged_beyond_all_measure_keeps_no_frame_of_others_from_the_screen() {
    let mut world = World::lit();
    let (bad, other) = world.open_filled("bad", (200, 100), RED);
    let (good, window) = world.open_filled("good", (200, 100), GREEN);
    world.rest();
    let viewport = {
        let client = world.client(bad);
        client.globals().viewporter.get_viewport(&other.surface, &client.handle(), ())
    };
    for (source, (width, height)) in
        [(1.0 / 256.0, (640, 480)), (1.0, (i32::MAX, i32::MAX)), (1.0 / 256.0, (1 << 18, 1))]
    {
        viewport.set_source(3.0, 3.0, source, source);
        viewport.set_destination(width, height);
        other.surface.commit();
        world.settle();
        world.client(good).ask(&window.surface, 2);
        world.client(good).draw(&window.surface, 2, (200, 100), GREEN);
        window.surface.commit();
        world.until("the neighbour's next frame", |world| world.client(good).light(2).is_some());
        world.client(good).data.heard.clear();
    }
}
