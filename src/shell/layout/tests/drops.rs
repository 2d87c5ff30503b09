//! Windows that are released over a strip, and column edges that follow the pointer.

use super::*;

const HERE: WorkspaceId = WorkspaceId { screen: FIRST, number: WorkspaceNumber::FIRST };

/// Two columns, 1 and 2, each half as wide as the screen; 3 is dragged above them.
fn dragging() -> TilingLayout {
    let mut layout = opened(1..=3);
    layout.apply(&LayoutOp::SetFloating(window(3), true, Some(rect(100, 100, 300, 200))));
    layout
}

fn columns(layout: &TilingLayout) -> Vec<Vec<u32>> {
    let strip = &layout.workspace(HERE).unwrap().strip;
    strip.columns.iter().map(|column| column.rows.iter().map(|tile| tile.window.0).collect()).collect()
}

fn released_at(x: i32, y: i32) -> Vec<Vec<u32>> {
    let mut layout = dragging();
    let (target, mark) = layout.drop_target(HERE, (x, y).into()).expect("no target");
    let usable = area().usable;
    assert!(usable.contains_rect(mark), "{mark:?} is not in {usable:?}");
    layout.apply(&LayoutOp::Drop(window(3), target));
    assert_eq!(focus_of(&layout), Some(window(3)));
    columns(&layout)
}

#[test]
fn window_goes_where_it_is_released() {
    // Column 1 is at 10 to 495, column 2 at 505 to 990.
    for (x, y, expected) in [
        (12, 300, vec![vec![3], vec![1], vec![2]]),
        (250, 100, vec![vec![3, 1], vec![2]]),
        (250, 500, vec![vec![1, 3], vec![2]]),
        (450, 300, vec![vec![1], vec![3], vec![2]]),
        (500, 300, vec![vec![1], vec![3], vec![2]]),
        (530, 300, vec![vec![1], vec![3], vec![2]]),
        (750, 500, vec![vec![1], vec![2, 3]]),
        (995, 300, vec![vec![1], vec![2], vec![3]]),
    ] {
        assert_eq!(released_at(x, y), expected, "released at {x}, {y}");
    }
    assert_eq!(dragging().drop_target(HERE, (500, 10).into()), None, "on the bar");
}

#[test]
fn window_goes_between_rows_behind_a_tab_and_into_an_empty_strip() {
    let mut layout = opened(1..=3);
    layout.apply(&LayoutOp::Join(HorizontalSide::Left));
    layout.apply(&LayoutOp::Open(
        window(4),
        MinimumSize::default(),
        WindowOpening { floating: Some(rect(0, 40, 90, 90)), ..COLUMN },
    ));
    assert_eq!(columns(&layout), [vec![1], vec![2, 3]]);
    let (target, _) = layout.drop_target(HERE, (750, 310).into()).unwrap();
    assert_eq!(target, DropTarget::Row { beside: window(3), index: 1 });
    layout.apply(&LayoutOp::Focus(window(2)));
    layout.apply(&LayoutOp::SetDisplay(ColumnDisplay::Tabbed));
    let (target, _) = layout.drop_target(HERE, (750, 310).into()).unwrap();
    assert_eq!(target, DropTarget::Row { beside: window(2), index: 1 });
    let (target, _) = layout.drop_target(place(FIRST, 2), (750, 310).into()).unwrap();
    assert_eq!(target, DropTarget::Column { after: None });
}

#[test]
fn edge_opposite_to_the_pointer_stays_in_place() {
    let mut layout = opened(1..=4);
    let edges = |layout: &TilingLayout, id: u32| {
        let it = arranged(layout, HERE).into_iter().find(|it| it.window == window(id)).unwrap().rect;
        (it.loc.x, it.loc.x + it.size.w)
    };
    layout.apply(&LayoutOp::Focus(window(2)));
    let before = edges(&layout, 2);
    layout.apply(&LayoutOp::SetWidthFrom(HorizontalSide::Left, ColumnWidth::Pixels(400)));
    assert_eq!(edges(&layout, 2), (before.0, before.0 + 400));
    layout.apply(&LayoutOp::Focus(window(4)));
    let before = edges(&layout, 4);
    layout.apply(&LayoutOp::SetWidthFrom(HorizontalSide::Right, ColumnWidth::Pixels(300)));
    assert_eq!(edges(&layout, 4), (before.1 - 300, before.1));
}

#[test]
fn edge_between_two_rows_leaves_the_other_rows_alone() {
    let mut layout = opened(1..=3);
    for id in [2, 3] {
        layout.apply(&LayoutOp::Focus(window(id)));
        layout.apply(&LayoutOp::Join(HorizontalSide::Left));
    }
    assert_eq!(columns(&layout), [vec![1, 2, 3]]);
    let rows = |layout: &TilingLayout| -> Vec<(i32, i32)> {
        arranged(layout, HERE).iter().map(|it| (it.rect.loc.y, it.rect.size.h)).collect()
    };
    let before = rows(&layout);
    layout.apply(&LayoutOp::SetRowEdge(window(2), 90));
    let after = rows(&layout);
    assert_eq!((after[0], after[1]), (before[0], (before[1].0, 90)));
    assert_eq!(after[2].0 + after[2].1, before[2].0 + before[2].1);
    // A row that comes from elsewhere is no line among pixels.
    let mut joined = layout.clone();
    joined.apply(&LayoutOp::Open(window(4), MinimumSize::default(), COLUMN));
    joined.apply(&LayoutOp::Join(HorizontalSide::Left));
    assert!(rows(&joined).iter().all(|(_, height)| *height > 50), "{:?}", rows(&joined));
    joined.apply(&LayoutOp::Join(HorizontalSide::Right));
    joined.apply(&LayoutOp::Focus(window(3)));
    joined.apply(&LayoutOp::Join(HorizontalSide::Right));
    joined.apply(&LayoutOp::Open(window(5), MinimumSize::default(), COLUMN));
    joined.apply(&LayoutOp::Join(HorizontalSide::Left));
    assert!(rows(&joined).iter().all(|(_, height)| *height > 50), "{:?}", rows(&joined));
    layout.apply(&LayoutOp::SetRowEdge(window(1), 5_000));
    assert_eq!(rows(&layout)[2], after[2], "the lowest row is not concerned");
    layout.apply(&LayoutOp::SetRowEdge(window(3), 100));
    assert_eq!(rows(&layout)[2], after[2], "there is no edge below the last row");
}

proptest! {
    #![proptest_config(sequences(FEWER))]

    #[test]
    fn any_point_of_a_strip_has_a_target_that_changes_nothing_else(layout in any_layout(), x in -50i32..3000, y in -50i32..2000) {
        for place in all_places() {
            let Some((target, mark)) = layout.drop_target(place, (x, y).into()) else { continue };
            let usable = layout.area(place.screen).unwrap().usable;
            prop_assert!(mark.size.w > 0 && mark.size.h > 0 && usable.contains((x, y)));
            let mut after = layout.clone();
            after.apply(&LayoutOp::Open(window(99), MinimumSize::default(), WindowOpening { place: Some(place), floating: Some(mark), ..COLUMN }));
            after.apply(&LayoutOp::Drop(window(99), target));
            prop_assert!(!after.is_floating(window(99)) && after.place_of(window(99)) == Some(place));
            after.apply(&LayoutOp::Close(window(99)));
            let order = |layout: &TilingLayout| layout.workspace(place).unwrap().strip.tiles().map(|tile| tile.window).collect::<Vec<_>>();
            prop_assert_eq!(order(&layout), order(&after));
        }
    }
}
