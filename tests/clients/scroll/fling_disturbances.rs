//! Disturbances by a client in the middle of a fling: no row of its view is blank, and the window beside it misses no
//! refresh.

use super::*;
use crate::fixture::content::{BLUE, ContentEvent};

/// Observed part of a fling.
const THROW: Span = Span::from_millis(1_600);
/// Size of the window beside the view, which draws for every refresh.
const NEIGHBOUR: (i32, i32) = (60, 40);

/// Action of a client in the middle of a fling.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FlingDisturbance {
    /// Renders the wanted rows after this number of milliseconds.
    Renders(i64),
    /// Does nothing for half a second, then renders.
    Stops,
    /// Shows fewer rows at the same place.
    Shrinks,
    /// Moves the visible content elsewhere.
    Uncovers,
    Destroys,
    Dies,
}

/// Next pseudorandom number below `below`.
fn chance(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Flings a view. Its client acts `after` milliseconds after the fingers were lifted. Returns the number of blank rows,
/// and the refreshes that showed the neighbour.
fn throw(deed: FlingDisturbance, after: i64, pixels: f64) -> (u32, Vec<u64>) {
    let mut stage = ScrollStage::new();
    stage.world.move_window("view", (0, 0));
    let (neighbour, window) = stage.world.open_filled("beside", NEIGHBOUR, BLUE);
    stage.world.move_window("beside", (220, 130));
    stage.rest();
    stage.point();
    let ScrollStage { world, client, window: of_view, tile, content, .. } = &mut stage;
    let client = *client;
    let buffer = world.client(neighbour).solid(2, NEIGHBOUR.0, NEIGHBOUR.1, BLUE);
    let draw = |world: &mut TestWorld| {
        window.surface.attach(Some(&buffer), 0, 0);
        window.surface.damage_buffer(0, 0, 16, 16);
        world.client(neighbour).request_feedback(&window.surface, 3);
        window.surface.commit();
    };
    draw(world);
    world.run_for(REFRESH * 8, &mut |world| {
        if world.client(neighbour).data.content_events.contains(&ContentEvent::Callback(3)) {
            world.client(neighbour).data.content_events.clear();
            draw(world);
        }
        None
    });
    world.client(neighbour).data.content_events.clear();
    let (start, lifted) = (world.now(), world.now() + TOUCHPAD * 12);
    let (mut sent, mut seen, mut blank, mut dead, mut done) = (0, 0, 0, false, false);
    let mut due: Option<(Instant, (i32, i32))> = None;
    let mut shown: Vec<u64> = Vec::new();
    draw(world);
    world.run_for(THROW, &mut |world| {
        let now = world.now();
        let heard = std::mem::take(&mut world.client(neighbour).data.content_events);
        shown.extend(heard.iter().filter_map(|heard| match heard {
            ContentEvent::Presented { sequence, .. } => Some(*sequence),
            _ => None,
        }));
        if heard.contains(&ContentEvent::Callback(3)) {
            draw(world);
        }
        if !dead {
            blank += [0, VIEW.1 - 1].iter().filter(|row| world.pixel(10, **row) == RED).count() as u32;
        }
        let next = start + TOUCHPAD * (sent + 1);
        if now >= next && sent <= 12 {
            sent += 1;
            let stop = sent > 12;
            fingers(world, next, if stop { 0.0 } else { pixels }, stop);
        }
        if now >= lifted + Span::from_millis(after) && !std::mem::replace(&mut done, true) {
            match deed {
                FlingDisturbance::Shrinks => {
                    fill(world, client, tile, 0, 60);
                    of_view.surface.commit();
                }
                FlingDisturbance::Uncovers => {
                    content.set_position(0, 3_000);
                    of_view.surface.commit();
                }
                FlingDisturbance::Destroys => tile.destroy(),
                FlingDisturbance::Dies => {
                    world.kill(client);
                    dead = true;
                }
                FlingDisturbance::Renders(_) | FlingDisturbance::Stops => {}
            }
        }
        let takes = match deed {
            FlingDisturbance::Renders(millis) => Some(millis),
            FlingDisturbance::Stops => Some(500),
            _ => None,
        };
        if let Some(millis) = takes.filter(|_| !dead) {
            let wanted = world.client(client).wanted();
            if wanted.len() > seen {
                seen = wanted.len();
                due = Some((now + Span::from_millis(millis), wanted[seen - 1]));
            }
            if let Some((_, (first, rows))) = due.take_if(|(at, _)| *at <= now) {
                fill(world, client, tile, first, rows);
                content.set_position(0, first);
                of_view.surface.commit();
            }
        }
        Some(due.map_or(next.max(now + Span::from_millis(2)), |(at, _)| at.min(next.max(now + Span::from_millis(2)))))
    });
    (blank, shown)
}

fn is_fine(deed: FlingDisturbance, after: i64, pixels: f64) {
    let (blank, shown) = throw(deed, after, pixels);
    assert_eq!(blank, 0, "{deed:?} after {after} ms at {pixels}");
    assert!(shown.len() > 85, "{deed:?} after {after} ms at {pixels}: {} refreshes", shown.len());
    let missed: Vec<&[u64]> = shown.windows(2).filter(|pair| pair[1] != pair[0] + 1).collect();
    assert!(missed.is_empty(), "{deed:?} after {after} ms at {pixels}: the neighbour missed {missed:?}");
}

#[test]
fn client_actions_during_a_fling_leave_no_blank_rows_and_cost_no_refresh() {
    for deed in [
        FlingDisturbance::Renders(20),
        FlingDisturbance::Stops,
        FlingDisturbance::Shrinks,
        FlingDisturbance::Uncovers,
        FlingDisturbance::Destroys,
        FlingDisturbance::Dies,
    ] {
        is_fine(deed, 100, 6.0);
    }
}

#[test]
fn client_actions_at_random_times_leave_no_blank_rows_and_cost_no_refresh() {
    let mut state = 7;
    for _ in 0..16 {
        let deed = match chance(&mut state, 6) {
            0 => FlingDisturbance::Renders(chance(&mut state, 60) as i64),
            1 => FlingDisturbance::Stops,
            2 => FlingDisturbance::Shrinks,
            3 => FlingDisturbance::Uncovers,
            4 => FlingDisturbance::Destroys,
            _ => FlingDisturbance::Dies,
        };
        let (after, pixels) = (chance(&mut state, 500) as i64, 1.0 + chance(&mut state, 20) as f64);
        is_fine(deed, after, pixels);
    }
}
