//! Ops that undo each other.

use super::*;
use crate::shell::layout::screens::ScreenState;

/// Order and sizes of all windows, and the focus of each workspace; without scroll positions and remembered places.
fn shape(layout: &Layout) -> Vec<String> {
    let screens = layout.screens.iter().filter(|screen| screen.is_connected);
    screens.flat_map(|screen| screen.workspaces().iter().map(workspace_shape).collect::<Vec<_>>()).collect()
}

fn workspace_shape(workspace: &crate::shell::layout::Workspace) -> String {
    let column = |column: &crate::shell::layout::column::Column| {
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

fn unused(layout: &Layout) -> WindowId {
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
            layout.apply(&Op::Open(*ids.last().unwrap(), limits, opening));
        }
        for id in ids.into_iter().rev() {
            layout.apply(&Op::Close(id));
        }
        prop_assert_eq!(layout, before);
    }

    #[test]
    fn a_screen_that_is_unplugged_and_plugged_in_again_has_everything_back(mut before in any_layout(), screen in any_screen()) {
        before.apply(&Op::Connect(FIRST, area()));
        before.apply(&Op::Connect(SECOND, area()));
        let mut layout = before.clone();
        layout.apply(&Op::Disconnect(screen));
        layout.apply(&Op::Connect(screen, area()));
        prop_assert_eq!(shape(&layout), shape(&before));
        let views = |layout: &Layout| -> Vec<i32> {
            layout.screens.iter().flat_map(ScreenState::workspaces).map(|workspace| workspace.strip.view).collect()
        };
        prop_assert_eq!(views(&layout), views(&before));
    }

    #[test]
    fn columns_and_rows_that_change_places_change_them_back(before in any_layout(), side in any_side()) {
        let opposite = if side == Side::Left { Side::Right } else { Side::Left };
        for (op, back) in [(Op::MoveColumn(side), Op::MoveColumn(opposite)), (Op::MoveUp, Op::MoveDown), (Op::MoveDown, Op::MoveUp)] {
            let mut layout = before.clone();
            layout.apply(&op);
            if shape(&layout) != shape(&before) {
                layout.apply(&back);
                prop_assert_eq!(shape(&layout), shape(&before), "{:?}", op);
            }
        }
    }

    #[test]
    fn what_fills_the_screen_or_floats_goes_back_to_where_it_was(before in any_layout()) {
        let Some(focus) = focus_of(&before) else { return Ok(()) };
        let is_fullscreen = |layout: &Layout| {
            let all = arranged(layout, layout.focused_place());
            all.iter().any(|it| it.is_fullscreen)
        };
        let floats = arranged(&before, before.focused_place()).iter().any(|it| it.window == focus && it.is_floating);
        if !is_fullscreen(&before) {
            let mut layout = before.clone();
            layout.apply(&Op::SetFullscreen(focus, true));
            prop_assert!(is_fullscreen(&layout));
            layout.apply(&Op::SetFullscreen(focus, false));
            prop_assert_eq!(shape(&layout), shape(&before));
            if !floats {
                let mut layout = before.clone();
                layout.apply(&Op::SetFloating(focus, true, None));
                layout.apply(&Op::SetFloating(focus, false, None));
                prop_assert_eq!(shape(&layout), shape(&before));
            }
        }
    }

    #[test]
    fn a_window_that_joins_a_column_and_leaves_it_has_its_column_back(before in any_layout(), side in any_side()) {
        let opposite = if side == Side::Left { Side::Right } else { Side::Left };
        let place = before.focused_place();
        let Some(workspace) = before.workspace(place).filter(|it| !it.is_focus_above && !it.is_empty()) else { return Ok(()) };
        let column = &workspace.strip.columns[workspace.strip.active];
        if column.rows.len() > 1 || column.span != Span::Plain || column.display != Display::Stacked {
            return Ok(());
        }
        let mut layout = before.clone();
        layout.apply(&Op::Join(side));
        if shape(&layout) != shape(&before) {
            layout.apply(&Op::Join(opposite));
            let order = |layout: &Layout| -> Vec<Vec<(WindowId, Width)>> {
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
    layout.apply(&Op::Connect(SECOND, area()));
    layout.apply(&Op::Send(window(2), place(SECOND, 3)));
    layout.apply(&Op::Disconnect(SECOND));
    assert_eq!(layout.place_of(window(2)), Some(place(FIRST, 3)));
    layout.apply(&Op::Send(window(2), place(FIRST, 5)));
    layout.apply(&Op::Connect(SECOND, area()));
    assert_eq!(layout.place_of(window(2)), Some(place(FIRST, 5)));
}

#[test]
fn what_opens_before_any_screen_is_seen_on_the_first_one() {
    let mut layout = Layout::new(NOWHERE);
    layout.apply(&Op::Open(window(1), Limits::default(), COLUMN));
    assert_eq!(layout.place_of(window(1)), Some(place(NOWHERE, 1)));
    layout.apply(&Op::Connect(FIRST, area()));
    assert_eq!(layout.place_of(window(1)), Some(place(FIRST, 1)));
    assert_eq!(focus_of(&layout), Some(window(1)));
}
