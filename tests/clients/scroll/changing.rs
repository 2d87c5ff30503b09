//! Content that changes in most refreshes: the compositor asks for nothing ahead of the visible rows.

use super::*;
use crate::fixture::scroll::{Mode, Reason, ScrollViewEvent};

/// Refreshes after which content counts as changing.
const LONG: i64 = 40;

fn reasons(stage: &mut ScrollStage) -> Vec<Reason> {
    let reason = |said: &ScrollViewEvent| match said {
        ScrollViewEvent::Effective(Mode::Composited, reason) => Some(*reason),
        _ => None,
    };
    stage.world.client(stage.client).data.scroll_events.iter().filter_map(reason).collect()
}

/// Jumps to `y`, and returns the number of rows that the compositor wants there.
fn wanted_rows(stage: &mut ScrollStage, y: i32) -> i32 {
    stage.scroll_to(y, Behavior::Jump);
    stage.run(REFRESH * 3);
    let (first, rows) = *stage.world.client(stage.client).wanted().last().unwrap();
    assert!(first <= y && first + rows >= y + VIEW.1, "{first} {rows}");
    stage.render(first, rows);
    stage.rest();
    assert_eq!(stage.row_at(0), y);
    rows
}

#[test]
fn changing_content_is_wanted_for_the_visible_rows_only() {
    let mut stage = ScrollStage::new();
    let before = wanted_rows(&mut stage, 1_000);
    assert!(before >= 2 * VIEW.1, "{before}");
    stage.render(900, ROWS);
    for _ in 0..LONG {
        stage.render(900, ROWS);
        stage.run(REFRESH);
    }
    assert_eq!(reasons(&mut stage), [Reason::NoPlane, Reason::Changing]);
    // Rendering for a jump's target does not mean that the content stopped changing.
    for y in [2_000, 3_000, 1_500] {
        assert_eq!(wanted_rows(&mut stage, y), VIEW.1, "to {y}");
        for _ in 0..8 {
            stage.render(y, ROWS);
            stage.run(REFRESH);
        }
    }
    stage.run(Span::from_seconds(1));
    assert_eq!(wanted_rows(&mut stage, 3_500), before);
    assert_eq!(reasons(&mut stage), [Reason::NoPlane, Reason::Changing, Reason::NoPlane]);
}

#[test]
fn changing_patch_does_not_limit_the_wanted_rows() {
    let mut stage = ScrollStage::new();
    for _ in 0..LONG {
        stage.tile.damage_buffer(0, 0, 20, 20);
        stage.tile.commit();
        stage.window.surface.commit();
        stage.run(REFRESH);
    }
    assert_eq!(reasons(&mut stage), [Reason::NoPlane]);
    assert!(wanted_rows(&mut stage, 1_000) >= 2 * VIEW.1);
}
