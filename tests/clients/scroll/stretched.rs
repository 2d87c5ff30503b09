//! Views with the option `stretched`: where content is missing, the last rows are stretched.

use smithay::reexports::wayland_server::Resource as ServerResource;
use wayland_client::Proxy as _;

use super::*;
use crate::fixture::scroll::Options;

/// Most missing rows that are filled: a quarter of the view.
const MOST: i32 = VIEW.1 / 4;

fn stretched() -> ScrollStage {
    let mut stage = ScrollStage::new();
    stage.view.set_options(Options::Stretched);
    stage.window.surface.commit();
    stage.rest();
    stage
}

/// Visible rows of the view, from top to bottom.
fn rows(stage: &ScrollStage) -> Vec<i32> {
    (0..VIEW.1).map(|y| stage.row_at(y)).collect()
}

/// Checks the visible rows, the topmost of which is document row `first`. Rows before `from` and after `last` are
/// missing: the filter mixes the outermost three rows in their place.
fn assert_visible_rows(stage: &ScrollStage, first: i32, from: i32, last: i32) {
    let seen = rows(stage);
    for (row, seen) in (first..).zip(&seen) {
        let is_right = match row {
            row if row < from => (from..from + 3).contains(seen),
            row if row > last => (last - 2..=last).contains(seen),
            row => row == *seen,
        };
        assert!(is_right, "row {row}: {seen} of {seen:?}");
    }
}

#[test]
fn stretched_view_moves_on_by_a_quarter_and_repeats_the_last_rows() {
    let mut stage = stretched();
    stage.scroll_to(2_000, Behavior::Glide);
    stage.run(Span::from_seconds(2));
    let waits = ROWS - VIEW.1 + MOST;
    assert_visible_rows(&stage, waits, 0, ROWS - 1);
    // New content is shown at its place, and the glide goes on.
    stage.render(300, 400);
    stage.run(Span::from_millis(200));
    assert!(stage.row_at(0) > waits);
    stage.run(Span::from_seconds(2));
    assert_visible_rows(&stage, 700 - VIEW.1 + MOST, 0, 699);
}

#[test]
fn stretched_view_repeats_the_first_rows_upwards() {
    let mut stage = stretched();
    stage.render(1_000, ROWS);
    stage.scroll_to(1_200, Behavior::Jump);
    stage.rest();
    stage.scroll_to(0, Behavior::Glide);
    stage.run(Span::from_seconds(2));
    assert_visible_rows(&stage, 1_000 - MOST, 1_000, 2_000);
}

#[test]
fn stretched_view_repeats_the_last_tile_only() {
    let mut stage = stretched();
    let (below, _) = stage.world.client(stage.client).subsurface(&stage.window.surface);
    let content = stage.world.client(stage.client).content(&stage.view, &below);
    fill(&mut stage.world, stage.client, &below, ROWS, 40);
    content.set_position(0, ROWS);
    stage.window.surface.commit();
    stage.scroll_to(2_000, Behavior::Glide);
    stage.run(Span::from_seconds(2));
    assert_visible_rows(&stage, ROWS + 40 - VIEW.1 + MOST, 0, ROWS + 39);
}

#[test]
fn jump_waits_for_all_rows_and_a_two_axis_view_is_not_stretched() {
    let mut stage = stretched();
    stage.scroll_to(ROWS - VIEW.1 + 10, Behavior::Jump);
    stage.rest();
    assert_eq!(stage.row_at(0), 0);
    stage.view.stop();
    stage.view.set_axes(Axes::Vertical | Axes::Horizontal);
    stage.window.surface.commit();
    stage.scroll_to(2_000, Behavior::Glide);
    stage.run(Span::from_seconds(2));
    assert_visible_rows(&stage, ROWS - VIEW.1, 0, ROWS - 1);
}

#[test]
fn nothing_is_stretched_beyond_the_document() {
    let mut stage = ScrollStage::new();
    stage.view.set_options(Options::Stretched);
    stage.view.set_document(0, 0, VIEW.0, 80);
    stage.render(0, 80);
    stage.rest();
    assert_eq!((stage.row_at(79), stage.row_at(80), stage.row_at(99)), (79, RED as i32, RED as i32));
}

#[test]
fn stretched_area_is_hit_as_the_view() {
    let mut stage = stretched();
    stage.scroll_to(2_000, Behavior::Glide);
    stage.run(Span::from_seconds(2));
    let origin = stage.world.window("view").origin();
    let hit = |stage: &ScrollStage, y: i32| {
        let point = (f64::from(origin.x + 10), f64::from(origin.y + y)).into();
        let hit = upbeat::output::scene_on_screen_hit(&stage.world.state, point);
        hit.map(|(surface, _)| ServerResource::id(&surface).protocol_id())
    };
    assert_eq!(hit(&stage, 10), Some(stage.tile.id().protocol_id()));
    assert_eq!(hit(&stage, VIEW.1 - 5), Some(stage.window.surface.id().protocol_id()));
}

#[test]
fn pixels_of_removed_content_are_kept_in_a_stretched_view() {
    let mut stage = stretched();
    stage.scroll_to(2_000, Behavior::Glide);
    stage.run(Span::from_seconds(2));
    let seen = rows(&stage);
    stage.tile.attach(None, 0, 0);
    stage.tile.commit();
    stage.window.surface.commit();
    stage.rest();
    assert_eq!(rows(&stage), seen);
}
