//! A client that renders the wanted rows and then sleeps: how often it is woken, and whether rows are blank.

use super::*;
use crate::fixture::scroll::ScrollViewEvent;
use upbeat_timing::defaults::{EXTENSION_AHEAD, MOST_EXTENSION};
use upbeat_timing::scroll::SupplySettings;

/// Rows of a long document; the colour of a row is still its number.
const LONG: i32 = 1_000_000;

#[derive(Debug)]
struct SupplyResult {
    renders: usize,
    /// Events that woke the client.
    events: usize,
    blank: usize,
    /// Refreshes from the first to the last motion, and how many of them moved the content.
    refreshes: i64,
    moved: usize,
}

/// Scrolls at `speed` (pixels per second, signed) for `lasting`, with a client that takes `render` for each wanted
/// range.
fn run(speed: f64, lasting: Span, render: Span) -> SupplyResult {
    let mut stage = ScrollStage::new();
    stage.view.set_document(0, 0, VIEW.0, LONG);
    stage.window.surface.commit();
    stage.render(500_000, 250);
    stage.scroll_to(500_075, Behavior::Jump);
    stage.rest();
    stage.point();
    stage.view.report_offsets(1);
    stage.world.settle();
    let ScrollStage { world, client, window, tile, content, .. } = &mut stage;
    let client = *client;
    world.client(client).data.scroll_events.clear();
    let (start, origin) = (world.now(), world.window("view").origin());
    let (mut sent, mut seen, mut due, mut run) =
        (0, 0, None, SupplyResult { renders: 0, events: 0, blank: 0, refreshes: 0, moved: 0 });
    world.run_for(lasting, &mut |world| {
        run.blank += usize::from(world.pixel(origin.x + 10, origin.y) == RED);
        run.blank += usize::from(world.pixel(origin.x + 10, origin.y + VIEW.1 - 1) == RED);
        let wanted = world.client(client).wanted();
        if wanted.len() > seen {
            seen = wanted.len();
            due = Some((world.now() + render, wanted[seen - 1]));
        }
        if let Some((_, (first, rows))) = due.take_if(|(at, _)| *at <= world.now()) {
            fill(world, client, tile, first, rows);
            content.set_position(0, first);
            window.surface.commit();
            run.renders += 1;
        }
        let next = start + TOUCHPAD * (sent + 1);
        if world.now() >= next {
            sent += 1;
            fingers(world, next, speed * TOUCHPAD.as_seconds_f64(), false);
        }
        Some(due.map_or(next, |(at, _): (Instant, (i32, i32))| at.min(next)))
    });
    let offsets = world.client(client).offsets();
    let told = |said: &&ScrollViewEvent| !matches!(said, ScrollViewEvent::Offset { .. });
    run.events = world.client(client).data.scroll_events.iter().filter(told).count();
    let (first, last) = (offsets[0].0, offsets[offsets.len() - 1].0);
    run.refreshes = ((last - first).as_seconds_f64() * 60.0).round() as i64 + 1;
    run.moved = offsets.len();
    run
}

#[test]
fn new_view_wants_its_visible_rows_first_and_rows_ahead_while_these_are_shown() {
    let mut world = TestWorld::simulated(&[60_000]);
    upbeat::protocol::scroll::offer(&mut world.state, true);
    let (client, window) = world.open_filled("view", VIEW, RED);
    let view = world.client(client).view(&window.surface);
    view.set_document(0, 0, VIEW.0, DOCUMENT);
    view.set_axes(Axes::Vertical);
    let (tile, _) = world.client(client).subsurface(&window.surface);
    let content = world.client(client).content(&view, &tile);
    window.surface.commit();
    world.run_until_idle();
    assert_eq!(world.client(client).wanted(), [(0, VIEW.1)]);
    fill(&mut world, client, &tile, 0, VIEW.1);
    content.set_position(0, 0);
    window.surface.commit();
    world.run_until_idle();
    let wanted = world.client(client).wanted();
    assert!(wanted.len() == 2 && wanted[1].0 == 0 && wanted[1].1 >= 2 * VIEW.1, "{wanted:?}");
}

#[test]
fn wanted_rows_limit_renders_and_leave_no_blank_row() {
    let ahead = f64::from(VIEW.1) * MOST_EXTENSION * EXTENSION_AHEAD;
    for (speed, render) in [(100.0, 20), (-100.0, 20), (1_000.0, 20), (-1_000.0, 20), (1_000.0, 40), (-1_000.0, 40)] {
        let run = run(speed, Span::from_seconds(3), Span::from_millis(render));
        let gone = f64::abs(speed) * render as f64 / 1e3;
        let formula = f64::abs(speed) / (ahead - gone);
        eprintln!("{speed} px/s, {render} ms: {run:?}, formula {formula:.2}/s");
        assert!(run.renders as f64 <= 1.1 * formula * 3.0 + 1.0, "{speed} {render}: {run:?}, formula {formula}");
        assert_eq!((run.blank, run.moved as i64), (0, run.refreshes), "{speed} {render}: {run:?}");
        assert!(run.events <= 2 * run.renders + 2, "{speed} {render}: {run:?}");
    }
}

#[test]
fn views_of_a_client_share_its_pixel_budget() {
    let mut stage = ScrollStage::new();
    let budgets = |stage: &mut ScrollStage| -> Vec<u32> {
        let told = |said: &ScrollViewEvent| {
            if let ScrollViewEvent::Budget(kilopixels) = said { Some(*kilopixels) } else { None }
        };
        stage.world.client(stage.client).data.scroll_events.iter().filter_map(told).collect()
    };
    assert_eq!(budgets(&mut stage), [16_000]);
    let client = stage.world.client(stage.client);
    let (other, _) = client.subsurface(&stage.window.surface);
    let view = client.view(&other);
    stage.rest();
    assert_eq!(budgets(&mut stage), [16_000, 8_000], "the new view begins with half of the budget");
    stage.scroll_to(100, Behavior::Jump);
    stage.rest();
    assert_eq!(budgets(&mut stage), [16_000, 8_000, 8_000]);
    view.destroy();
    stage.scroll_to(0, Behavior::Jump);
    stage.rest();
    assert_eq!(budgets(&mut stage), [16_000, 8_000, 8_000, 16_000]);
    // A view of another client does not reduce this budget.
    let (another, window) = stage.world.open_filled("another", VIEW, RED);
    let of_another = stage.world.client(another).view(&window.surface);
    stage.scroll_to(50, Behavior::Jump);
    stage.rest();
    assert_eq!(budgets(&mut stage).len(), 4);
    let supply = stage.world.state.surfaces.supply();
    stage.world.state.surfaces.set_supply(SupplySettings { most_pixels: 2_000_000, ..supply });
    stage.scroll_to(0, Behavior::Jump);
    stage.rest();
    assert_eq!(budgets(&mut stage).last(), Some(&2_000));
    of_another.destroy();
}
