//! Invariants after every op.

use super::super::column::WIDEST;
use super::*;

/// Each window is in one place, and no column is empty.
fn check_places(layout: &TilingLayout) {
    for id in (1..9).map(window) {
        let connected = layout.screens.iter().filter(|screen| screen.is_connected);
        let shown: usize = connected.map(|screen| count(screen, id)).sum();
        let kept: usize =
            layout.screens.iter().filter(|screen| !screen.is_connected).map(|screen| count(screen, id)).sum();
        assert!(shown <= 1 && kept <= 1, "window {id:?} is {shown} times on screens, {kept} times kept");
        let has_screens = layout.screens.iter().any(|screen| screen.is_connected);
        assert!(!has_screens || shown == 1 || kept == 0, "window {id:?} is kept and seen nowhere");
        let found = layout.place_of(id).map(|place| place.screen);
        assert_eq!(found.is_some(), shown + kept > 0);
    }
    for screen in &layout.screens {
        for workspace in screen.workspaces() {
            let strip = &workspace.strip;
            assert!(strip.columns.iter().all(|column| column.active < column.rows.len()), "an empty column: {strip:?}");
            assert!(strip.active < strip.columns.len().max(1), "{strip:?}");
            assert!(strip.columns.iter().filter(|column| column.is_fullscreen).count() <= 1, "{strip:?}");
            assert!(strip.columns.iter().all(|column| !column.is_fullscreen || column.rows.len() == 1), "{strip:?}");
            assert_eq!(workspace.focus().is_none(), workspace.is_empty());
        }
    }
}

fn count(screen: &crate::shell::layout::ScreenState, id: WindowId) -> usize {
    screen.workspaces().iter().flat_map(|workspace| workspace.tiles()).filter(|tile| tile.window == id).count()
}

/// The focused window is visible, and the active column is in the view.
fn check_view(layout: &TilingLayout, place: WorkspaceId) {
    let (Some(state), Some(workspace)) = (layout.state(place.screen), layout.workspace(place)) else { return };
    let all = arranged(layout, place);
    if let Some(focus) = workspace.focus() {
        assert!(
            all.iter().any(|it| it.window == focus && it.is_seen),
            "{focus:?} has the focus unseen: {all:?} in {state:?}"
        );
    }
    let Some(active) = workspace.strip.active_window() else { return };
    let active = all.iter().find(|it| it.window == active).unwrap();
    let (from, to) = (active.rect.loc.x, active.rect.loc.x + active.rect.size.w);
    if active.is_fullscreen {
        assert_eq!(active.rect, state.area.full);
        return;
    }
    let usable = state.area.usable;
    let fits = active.rect.size.w <= usable.size.w;
    assert!(from >= usable.loc.x, "{active:?} begins left of {usable:?}");
    assert!(!fits || to <= usable.loc.x + usable.size.w, "{active:?} ends right of {usable:?}");
}

/// Every tiled window has the position that its place in the arrangement says.
fn check_positions(layout: &TilingLayout) {
    let positions: Vec<_> = layout.column_positions().collect();
    let connected = layout.screens.iter().filter(|screen| screen.is_connected).map(|screen| screen.screen);
    let places = connected.flat_map(|screen| WorkspaceNumber::all().map(move |number| WorkspaceId { screen, number }));
    let tiles: Vec<ArrangedWindow> =
        places.flat_map(|place| arranged(layout, place)).filter(|it| !it.is_floating).collect();
    assert_eq!(
        tiles.iter().map(|it| it.window).collect::<Vec<_>>(),
        positions.iter().map(|it| it.0).collect::<Vec<_>>()
    );
    for (tile, (id, position)) in tiles.iter().zip(&positions) {
        assert_eq!(layout.column_of(*id)[position.row as usize - 1], *id);
        assert_eq!(tile.is_behind, position.tabs && !position.active, "{tile:?} {position:?}");
        assert!(tile.is_fullscreen || tile.rect.size.w == position.width, "{tile:?} {position:?}");
    }
    for ((_, before), (_, after)) in positions.iter().zip(positions.iter().skip(1)) {
        let is_next = (after.column, after.row) == (before.column, before.row + 1)
            || after.row == 1 && (after.column == before.column + 1 || after.column == 1);
        assert!(is_next, "{before:?} {after:?}");
    }
}

/// Visible tiled windows never overlap, and the windows of a column fill its height where they can.
fn check_tiles(layout: &TilingLayout, place: WorkspaceId) {
    let (Some(state), Some(workspace)) = (layout.state(place.screen), layout.workspace(place)) else { return };
    let area = state.area;
    let all = arranged(layout, place);
    for (index, one) in all.iter().enumerate() {
        assert!(one.rect.size.w >= 1 && one.rect.size.h >= 1, "{one:?}");
        for other in &all[index + 1..] {
            let both = |f: fn(&ArrangedWindow) -> bool| f(one) && f(other);
            if both(|it| it.is_seen && !it.is_floating) && !one.is_fullscreen && !other.is_fullscreen {
                assert!(!one.rect.overlaps(other.rect), "{one:?} and {other:?}");
            }
        }
    }
    for column in workspace.strip.columns.iter().filter(|column| !column.is_fullscreen) {
        let rect =
            |tile: &super::super::column::LayoutTile| all.iter().find(|it| it.window == tile.window).unwrap().rect;
        let room = area.usable.size.h - 2 * column.margin(&area);
        let heights: i32 = column.rows.iter().map(|tile| rect(tile).size.h).sum();
        if column.is_tabbed(&area) {
            let left = room - column.titles(&area);
            assert!(column.rows.iter().all(|tile| rect(tile).size.h >= left));
        } else {
            assert_eq!(heights + area.gap() * (column.rows.len() as i32 - 1), room, "{column:?} in {area:?}");
        }
        for tile in &column.rows {
            let least = (area.physical(tile.limits.width), area.physical(tile.limits.height));
            assert!(rect(tile).size.w >= least.0.min(WIDEST) && rect(tile).size.h >= least.1, "{tile:?}");
        }
    }
}

/// Floating windows can be dragged: they overlap the usable area.
fn check_floating(layout: &TilingLayout, place: WorkspaceId) {
    let Some(state) = layout.state(place.screen) else { return };
    for floating in arranged(layout, place).iter().filter(|it| it.is_floating) {
        assert!(floating.rect.overlaps(state.area.usable), "{floating:?} is out of {:?}", state.area);
    }
}

fn check(layout: &TilingLayout) {
    check_places(layout);
    check_positions(layout);
    for place in all_places() {
        check_view(layout, place);
        check_tiles(layout, place);
        check_floating(layout, place);
    }
}

proptest! {
    #![proptest_config(sequences(MANY))]

    #[test]
    fn any_ops_keep_one_place_per_window_and_a_visible_focus(ops in any_ops()) {
        let mut layout = TilingLayout::new(NOWHERE);
        for op in &ops {
            layout.apply(op);
            check(&layout);
        }
    }
}

proptest! {
    #![proptest_config(sequences(FEWER))]

    #[test]
    fn the_same_ops_give_the_same_arrangement(ops in any_ops()) {
        let run = || {
            let mut layout = TilingLayout::new(NOWHERE);
            ops.iter().for_each(|op| layout.apply(op));
            all_places().map(|place| arranged(&layout, place)).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn the_view_stays_where_it_is_while_what_has_the_focus_is_in_it(mut layout in any_layout(), direction in any_direction()) {
        let place = layout.focused_place();
        let before = arranged(&layout, place);
        layout.apply(&LayoutOp::FocusTo(direction));
        let after = arranged(&layout, place);
        let usable = layout.state(place.screen).unwrap().area.usable;
        let focus = focus_of(&layout);
        let is_inside = |rect: LayoutRect| usable.contains_rect(rect);
        let had = before.iter().find(|it| Some(it.window) == focus && !it.is_floating && !it.is_fullscreen);
        let gap = layout.state(place.screen).unwrap().area.gap();
        let with_gap = |rect: LayoutRect| rect_with(rect, gap);
        if had.is_some_and(|it| is_inside(with_gap(it.rect))) {
            for (one, other) in before.iter().zip(&after).filter(|(one, _)| !one.is_floating) {
                prop_assert_eq!(one.rect, other.rect);
            }
        }
    }
}

fn rect_with(mut rect: LayoutRect, gap: i32) -> LayoutRect {
    rect.loc.x -= gap;
    rect.size.w += 2 * gap;
    rect
}
