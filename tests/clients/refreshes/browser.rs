//! The surface tree of Firefox: a subsurface covers the window. Its client requests the frame callback with an empty
//! commit and draws after the callback. The covered window requests a callback too, and commits once a second.

use super::*;

/// Time to draw a frame of the page.
const DRAWS: Span = Span::from_millis(1);
const SECONDS: i64 = 5;

#[test]
fn a_page_moves_at_every_refresh() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (x, y) = middle(0);
    world.point(x, y);
    let (browser, window) = world.open_filled("browser", SIZE, RED);
    world.run_until_idle();
    let client = world.client(browser);
    let (page, subsurface) = client.subsurface(&window.surface);
    subsurface.set_desync();
    let all = client.globals().compositor.create_region(&client.handle(), ());
    all.add(0, 0, SIZE.0, SIZE.1);
    page.set_opaque_region(Some(&all));
    client.draw(&page, 2, SIZE, GREEN);
    page.commit();
    window.surface.commit();
    world.settle();

    let (mut called, mut draws_at, mut next_window) = (0, None, world.now());
    world.run_for(Span::from_seconds(SECONDS), &mut |world| {
        let now = world.now();
        let heard = std::mem::take(&mut world.client(browser).data.content_events);
        if heard.contains(&ContentEvent::Callback(2)) {
            called += 1;
            draws_at = Some(now + DRAWS);
            page.frame(&world.client(browser).handle(), 2);
            page.commit();
        }
        if draws_at.is_some_and(|at| at <= now) {
            draws_at = None;
            let buffer = world.client(browser).solid(3, SIZE.0, SIZE.1, [GREEN, BLUE][called % 2]);
            page.attach(Some(&buffer), 0, 0);
            page.damage_buffer(0, 0, SIZE.0, SIZE.1);
            page.commit();
        }
        if next_window <= now {
            next_window = now + Span::from_seconds(1);
            window.surface.frame(&world.client(browser).handle(), 4);
            window.surface.commit();
        }
        Some(draws_at.map_or(next_window, |at: Instant| at.min(next_window)))
    });
    let refreshes = 60 * SECONDS as usize;
    assert!(called >= refreshes - 10, "{called} callbacks in {refreshes} refreshes");
}
