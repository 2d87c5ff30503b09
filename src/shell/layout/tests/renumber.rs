//! Workspaces that get another number, and workspaces that are gone.

use super::*;

/// The windows of a workspace, a list for each column, and its floating windows.
fn windows_on(layout: &TilingLayout, place: WorkspaceId) -> (Vec<Vec<u32>>, Vec<u32>) {
    let workspace = layout.workspace(place).unwrap();
    let columns = workspace.strip.columns.iter();
    let columns = columns.map(|column| column.rows.iter().map(|tile| tile.window.0).collect()).collect();
    (columns, workspace.floating.iter().map(|floating| floating.tile.window.0).collect())
}

/// Workspace 10 has the columns `1|2` and `3`, and 11 has the column `4`; workspace 1 has `5`.
fn named() -> TilingLayout {
    let mut layout = opened(1..=5);
    for (id, number) in [(1, 10), (2, 10), (3, 10), (4, 11)] {
        layout.apply(&LayoutOp::Send(window(id), place(FIRST, number)));
    }
    layout.apply(&LayoutOp::Focus(window(2)));
    layout.apply(&LayoutOp::Join(HorizontalSide::Left));
    layout.apply(&LayoutOp::Focus(window(5)));
    layout
}

fn renumbering(order: &[Option<usize>]) -> LayoutOp {
    LayoutOp::Renumber(WorkspaceRenumbering::of_order(order))
}

#[test]
fn columns_follow_their_workspace_to_its_new_number() {
    let mut layout = named();
    layout.apply(&renumbering(&[Some(1), Some(0)]));
    assert_eq!(windows_on(&layout, place(FIRST, 11)).0, [vec![1, 2], vec![3]]);
    assert_eq!(windows_on(&layout, place(FIRST, 10)).0, [vec![4]]);
    assert_eq!(layout.focused_place(), place(FIRST, 1));
}

#[test]
fn columns_of_a_hidden_workspace_that_is_gone_follow_those_of_the_visible_one() {
    let mut layout = named();
    layout.apply(&renumbering(&[None, Some(0)]));
    assert_eq!(windows_on(&layout, place(FIRST, 1)).0, [vec![5], vec![1, 2], vec![3]]);
    assert_eq!(windows_on(&layout, place(FIRST, 10)).0, [vec![4]]);
    assert_eq!(focus_of(&layout), Some(window(5)));
}

#[test]
fn visible_workspace_that_is_gone_takes_its_focus_to_workspace_1() {
    let mut layout = named();
    layout.apply(&LayoutOp::Focus(window(2)));
    layout.apply(&LayoutOp::SetFloating(window(3), true, None));
    layout.apply(&LayoutOp::Focus(window(1)));
    layout.apply(&renumbering(&[None, Some(0)]));
    assert_eq!(layout.focused_place(), place(FIRST, 1));
    assert_eq!(windows_on(&layout, place(FIRST, 1)), (vec![vec![5], vec![1, 2]], vec![3]));
    assert_eq!(focus_of(&layout), Some(window(1)));
}

#[test]
fn guest_whose_workspace_is_gone_is_on_the_workspace_that_its_screen_shows() {
    let mut layout = opened(1..=1);
    layout.apply(&LayoutOp::Connect(SECOND, area()));
    layout.apply(&LayoutOp::Open(
        window(2),
        MinimumSize::default(),
        WindowOpening { place: Some(place(SECOND, 10)), ..COLUMN },
    ));
    layout.apply(&LayoutOp::Show(place(SECOND, 3)));
    layout.apply(&LayoutOp::Disconnect(SECOND));
    assert_eq!(layout.place_of(window(2)), Some(place(FIRST, 10)));
    layout.apply(&renumbering(&[]));
    assert_eq!(layout.place_of(window(2)), Some(place(FIRST, 3)));
    layout.apply(&LayoutOp::Connect(SECOND, area()));
    assert_eq!(layout.place_of(window(2)), Some(place(SECOND, 3)));
}

proptest! {
    #![proptest_config(sequences(FEWER))]

    #[test]
    fn no_window_is_lost_and_names_that_stay_keep_their_columns(before in any_layout(), op in any_renumbering()) {
        let mut layout = before.clone();
        layout.apply(&LayoutOp::Renumber(op));
        for id in (1..9).map(window) {
            prop_assert_eq!(before.place_of(id).is_some(), layout.place_of(id).is_some());
        }
        for old in all_places().filter(|old| before.workspace(*old).is_some() && old.number > WorkspaceNumber::LAST_UNNAMED) {
            if let Some(number) = op.of(old.number) {
                // The visible workspace has windows of names that are gone, besides its own.
                let (columns, floating) = windows_on(&before, old);
                let (new_columns, new_floating) = windows_on(&layout, WorkspaceId { number, ..old });
                prop_assert!(new_columns.starts_with(&columns), "{:?} were {:?}", new_columns, columns);
                prop_assert!(floating.iter().all(|id| new_floating.contains(id)));
            }
        }
    }
}
