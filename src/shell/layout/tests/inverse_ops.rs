//! Ops that undo each other.

use super::*;
use crate::shell::layout::screens::ScreenState;

/// Order and sizes of all windows, and the focus of each workspace; without scroll positions and remembered places.
fn shape(layout: &TilingLayout) -> Vec<String> {
    let screens = layout.screens.iter().filter(|screen| screen.is_connected);
    screens.flat_map(|screen| screen.workspaces().iter().map(workspace_shape).collect::<Vec<_>>()).collect()
}

fn workspace_shape(workspace: &crate::shell::layout::LayoutWorkspace) -> String {
    let column = |column: &crate::shell::layout::column::TiledColumn| {
        let rows: Vec<_> = column.rows.iter().map(|tile| (tile.window.0, tile.height)).collect();
        format!(
            "{:?} {:?} {:?} {} {rows:?} {}",
            column.width, column.span, column.display, column.is_fullscreen, column.active
        )
    };
    let columns: Vec<_> = workspace.strip.columns.iter().map(column).collect();
    let floating: Vec<_> = workspace.floating.iter().map(|it| (it.tile.window.0, it.rect)).collect();
    format!("{columns:?} {floating:?} {:?}", workspace.focus())
}

fn unused(layout: &TilingLayout) -> WindowId {
    (1..).map(window).find(|id| layout.place_of(*id).is_none()).unwrap()
}

proptest! {
    #![proptest_config(sequences(FEWER))]

    #[test]
    fn a_window_that_opens_and_closes_leaves_all_as_it_was(
        before in any_layout(), openings in proptest::collection::vec((any_limits(), any_opening()), 1..4)
    ) {
        let mut layout = before.clone();
        let mut ids = Vec::new();
        for (limits, opening) in openings {
            ids.push(unused(&layout));
            layout.apply(&LayoutOp::Open(*ids.last().unwrap(), limits, opening));
        }
        for id in ids.into_iter().rev() {
            layout.apply(&LayoutOp::Close(id));
        }
        prop_assert_eq!(layout, before);
    }

    #[test]
    fn a_screen_that_is_unplugged_and_plugged_in_again_has_everything_back(mut before in any_layout(), screen in any_screen()) {
        before.apply(&LayoutOp::Connect(FIRST, area()));
        before.apply(&LayoutOp::Connect(SECOND, area()));
        let mut layout = before.clone();
        layout.apply(&LayoutOp::Disconnect(screen));
        layout.apply(&LayoutOp::Connect(screen, area()));
        prop_assert_eq!(shape(&layout), shape(&before));
        let views = |layout: &TilingLayout| -> Vec<i32> {
            layout.screens.iter().flat_map(ScreenState::workspaces).map(|workspace| workspace.strip.view).collect()
        };
        prop_assert_eq!(views(&layout), views(&before));
    }

    #[test]
    fn columns_and_rows_that_change_places_change_them_back(before in any_layout(), side in any_side()) {
        let opposite = if side == HorizontalSide::Left { HorizontalSide::Right } else { HorizontalSide::Left };
        for (op, back) in [(LayoutOp::MoveColumn(side), LayoutOp::MoveColumn(opposite)), (LayoutOp::MoveUp, LayoutOp::MoveDown), (LayoutOp::MoveDown, LayoutOp::MoveUp)] {
            let mut layout = before.clone();
            layout.apply(&op);
            if shape(&layout) != shape(&before) {
                layout.apply(&back);
                prop_assert_eq!(shape(&layout), shape(&before), "{:?}", op);
            }
        }
    }

    #[test]
    fn fullscreen_and_floating_windows_return_to_their_place(before in any_layout()) {
        let Some(focus) = focus_of(&before) else { return Ok(()) };
        let is_fullscreen = |layout: &TilingLayout| {
            let all = arranged(layout, layout.focused_place());
            all.iter().any(|it| it.is_fullscreen)
        };
        let floats = arranged(&before, before.focused_place()).iter().any(|it| it.window == focus && it.is_floating);
        if !is_fullscreen(&before) {
            let mut layout = before.clone();
            layout.apply(&LayoutOp::SetFullscreen(focus, true));
            prop_assert!(is_fullscreen(&layout));
            layout.apply(&LayoutOp::SetFullscreen(focus, false));
            prop_assert_eq!(shape(&layout), shape(&before));
            if !floats {
                let mut layout = before.clone();
                layout.apply(&LayoutOp::SetFloating(focus, true, None));
                layout.apply(&LayoutOp::SetFloating(focus, false, None));
                prop_assert_eq!(shape(&layout), shape(&before));
            }
        }
    }

    #[test]
    fn a_window_that_joins_a_column_and_leaves_it_has_its_column_back(before in any_layout(), side in any_side()) {
        let opposite = if side == HorizontalSide::Left { HorizontalSide::Right } else { HorizontalSide::Left };
        let place = before.focused_place();
        let Some(workspace) = before.workspace(place).filter(|it| !it.is_focus_above && !it.is_empty()) else { return Ok(()) };
        let column = &workspace.strip.columns[workspace.strip.active];
        if column.rows.len() > 1 || column.span != ColumnSpan::Plain || column.display != ColumnDisplay::Stacked {
            return Ok(());
        }
        let mut layout = before.clone();
        layout.apply(&LayoutOp::Join(side));
        if shape(&layout) != shape(&before) {
            layout.apply(&LayoutOp::Join(opposite));
            let order = |layout: &TilingLayout| -> Vec<Vec<(WindowId, ColumnWidth)>> {
                let columns = &layout.workspace(place).unwrap().strip.columns;
                columns.iter().map(|it| it.rows.iter().map(|tile| (tile.window, it.width)).collect()).collect()
            };
            prop_assert_eq!(order(&layout), order(&before));
        }
    }
}

#[test]
fn a_guest_that_is_sent_elsewhere_stays_there_when_its_screen_is_back() {
    let mut layout = opened(1..=2);
    layout.apply(&LayoutOp::Connect(SECOND, area()));
    layout.apply(&LayoutOp::Send(window(2), place(SECOND, 3)));
    layout.apply(&LayoutOp::Disconnect(SECOND));
    assert_eq!(layout.place_of(window(2)), Some(place(FIRST, 3)));
    layout.apply(&LayoutOp::Send(window(2), place(FIRST, 5)));
    layout.apply(&LayoutOp::Connect(SECOND, area()));
    assert_eq!(layout.place_of(window(2)), Some(place(FIRST, 5)));
}

#[test]
fn window_opened_without_a_screen_appears_on_the_first() {
    let mut layout = TilingLayout::new(NOWHERE);
    layout.apply(&LayoutOp::Open(window(1), MinimumSize::default(), COLUMN));
    assert_eq!(layout.place_of(window(1)), Some(place(NOWHERE, 1)));
    layout.apply(&LayoutOp::Connect(FIRST, area()));
    assert_eq!(layout.place_of(window(1)), Some(place(FIRST, 1)));
    assert_eq!(focus_of(&layout), Some(window(1)));
}
