//! Invariants of the layout after every op, and pictures of the strip.

mod drops;
mod invariants;
mod inverse_ops;
mod pictures;
mod renumber;

use proptest::prelude::*;

use super::column::{LayoutTile, TiledColumn};
use super::op::{
    ColumnDisplay, ColumnSpan, ColumnWidth, Direction, HorizontalSide, LayoutRect, MinimumSize, RowHeight,
    WindowOpening,
};
use super::strip::ColumnStrip;
use super::{ArrangedWindow, DropTarget, LayoutArea, LayoutOp, TilingLayout};
use crate::shell::WindowId;
use crate::shell::workspaces::{ScreenId, WorkspaceId, WorkspaceNumber, WorkspaceRenumbering};

const NOWHERE: ScreenId = ScreenId(0);
const FIRST: ScreenId = ScreenId(1);
const SECOND: ScreenId = ScreenId(2);

/// Number of op sequences for the invariants (`MANY`) and for other properties; `PROPTEST_CASES` sets another number.
const MANY: u32 = 10_000;
const FEWER: u32 = 1_000;

fn sequences(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { default } else { ProptestConfig { cases, ..default } }
}

fn rect(x: i32, y: i32, w: i32, h: i32) -> LayoutRect {
    LayoutRect::new((x, y).into(), (w, h).into())
}

/// A screen of 1000 × 600 with a bar of 30 at its top, and gaps of 10.
fn area() -> LayoutArea {
    LayoutArea { full: rect(0, 0, 1000, 600), usable: rect(0, 30, 1000, 570), scale: 120, gap: 10, titles: 20 }
}

fn focus_of(layout: &TilingLayout) -> Option<WindowId> {
    layout.workspace(layout.focused_place())?.focus()
}

fn place(screen: ScreenId, number: u8) -> WorkspaceId {
    WorkspaceId { screen, number: WorkspaceNumber::try_from(number).unwrap() }
}

fn window(id: u32) -> WindowId {
    WindowId(id)
}

/// Opens a window as a column with the focus.
const COLUMN: WindowOpening = WindowOpening { place: None, floating: None, focused: true, back: None };

fn opened(windows: std::ops::RangeInclusive<u32>) -> TilingLayout {
    let mut layout = TilingLayout::new(NOWHERE);
    layout.apply(&LayoutOp::Connect(FIRST, area()));
    for id in windows {
        layout.apply(&LayoutOp::Open(window(id), MinimumSize::default(), COLUMN));
    }
    layout
}

fn arranged(layout: &TilingLayout, place: WorkspaceId) -> Vec<ArrangedWindow> {
    let mut all = Vec::new();
    layout.arrange(place, &mut all);
    all
}

fn all_places() -> impl Iterator<Item = WorkspaceId> {
    [NOWHERE, FIRST, SECOND]
        .into_iter()
        .flat_map(|screen| WorkspaceNumber::all().map(move |number| WorkspaceId { screen, number }))
}

// --- strategies ------------------------------------------------------------------------------------------------------

fn any_window() -> impl Strategy<Value = WindowId> {
    (1u32..9).prop_map(window)
}

fn any_screen() -> impl Strategy<Value = ScreenId> {
    prop_oneof![Just(FIRST), Just(SECOND)]
}

fn any_place() -> impl Strategy<Value = WorkspaceId> {
    (any_screen(), prop_oneof![3 => 1u8..4, 1 => 10u8..14]).prop_map(|(screen, number)| place(screen, number))
}

/// New places in the list for the workspaces 10 to 13; some names are gone.
fn any_renumbering() -> impl Strategy<Value = WorkspaceRenumbering> {
    let places = Just((0..4_usize).collect::<Vec<_>>()).prop_shuffle();
    (places, proptest::collection::vec(proptest::bool::weighted(0.7), 4)).prop_map(|(places, stay)| {
        let order: Vec<_> = places.into_iter().zip(stay).map(|(place, stays)| stays.then_some(place)).collect();
        WorkspaceRenumbering::of_order(&order)
    })
}

fn any_rect() -> impl Strategy<Value = LayoutRect> {
    prop_oneof![
        8 => (-500i32..1500, -300i32..900, 1i32..900, 1i32..700).prop_map(|(x, y, w, h)| rect(x, y, w, h)),
        1 => (any::<i32>(), any::<i32>(), any::<i32>(), any::<i32>())
            .prop_map(|(x, y, w, h)| rect(x, y, w.saturating_abs(), h.saturating_abs())),
    ]
}

fn any_area() -> impl Strategy<Value = LayoutArea> {
    let sides = (1i32..3000, 1i32..2000, 0i32..100, 0i32..100);
    (sides, prop_oneof![Just(120u32), Just(180), Just(240), 1u32..2000], prop_oneof![Just(0), Just(10), -5i32..5000])
        .prop_map(|((w, h, top, left), scale, gap)| LayoutArea {
            full: rect(0, 0, w, h),
            usable: rect(left, top, (w - left).max(0), (h - top).max(0)),
            scale,
            gap,
            titles: 20,
        })
}

fn any_limits() -> impl Strategy<Value = MinimumSize> {
    prop_oneof![
        3 => Just(MinimumSize::default()),
        2 => (0i32..600, 0i32..400).prop_map(|(width, height)| MinimumSize { width, height }),
        1 => (any::<i32>(), any::<i32>()).prop_map(|(width, height)| MinimumSize { width, height }),
    ]
}

fn any_side() -> impl Strategy<Value = HorizontalSide> {
    prop_oneof![Just(HorizontalSide::Left), Just(HorizontalSide::Right)]
}

fn any_direction() -> impl Strategy<Value = Direction> {
    prop_oneof![
        any_side().prop_map(Direction::Column),
        Just(Direction::Up),
        Just(Direction::Down),
        Just(Direction::First),
        Just(Direction::Last),
        Just(Direction::OtherLayer),
    ]
}

fn any_opening() -> impl Strategy<Value = WindowOpening> {
    (proptest::option::of(any_place()), proptest::option::weighted(0.25, any_rect()), any::<bool>())
        .prop_map(|(place, floating, focused)| WindowOpening { place, floating, focused, back: None })
}

fn any_width() -> impl Strategy<Value = ColumnWidth> {
    prop_oneof![(0u16..1500).prop_map(ColumnWidth::Share), any::<i32>().prop_map(ColumnWidth::Pixels)]
}

fn any_target() -> impl Strategy<Value = DropTarget> {
    prop_oneof![
        proptest::option::of(any_window()).prop_map(|after| DropTarget::Column { after }),
        (any_window(), 0usize..5).prop_map(|(beside, index)| DropTarget::Row { beside, index }),
    ]
}

fn any_op() -> impl Strategy<Value = LayoutOp> {
    let height = prop_oneof![(0u16..9).prop_map(RowHeight::Weight), (-10i32..900).prop_map(RowHeight::Pixels)];
    let span = prop_oneof![Just(ColumnSpan::Plain), Just(ColumnSpan::FullWidth), Just(ColumnSpan::Maximised)];
    prop_oneof![
        1 => (any_screen(), any_area()).prop_map(|(screen, area)| LayoutOp::Connect(screen, area)),
        1 => any_screen().prop_map(LayoutOp::Disconnect),
        1 => any_renumbering().prop_map(LayoutOp::Renumber),
        8 => (any_window(), any_limits(), any_opening()).prop_map(|(window, limits, opening)| LayoutOp::Open(window, limits, opening)),
        3 => any_window().prop_map(LayoutOp::Close),
        1 => (any_window(), any_limits()).prop_map(|(window, limits)| LayoutOp::SetMinimumSize(window, limits)),
        2 => any_window().prop_map(LayoutOp::Focus),
        4 => any_direction().prop_map(LayoutOp::FocusTo),
        1 => any_place().prop_map(LayoutOp::Show),
        2 => (any_place(), prop_oneof![3 => -500i32..4000, 1 => any::<i32>()]).prop_map(|(place, view)| LayoutOp::ScrollTo(place, view)),
        2 => (any_window(), any_place()).prop_map(|(window, place)| LayoutOp::Send(window, place)),
        2 => (any_window(), any_place()).prop_map(|(window, place)| LayoutOp::SendColumn(window, place)),
        2 => any_side().prop_map(LayoutOp::MoveColumn),
        1 => Just(LayoutOp::MoveUp),
        1 => Just(LayoutOp::MoveDown),
        5 => any_side().prop_map(LayoutOp::Join),
        1 => any_width().prop_map(LayoutOp::SetWidth),
        1 => height.prop_map(LayoutOp::SetHeight),
        1 => prop_oneof![Just(ColumnDisplay::Tabbed), Just(ColumnDisplay::Stacked)].prop_map(LayoutOp::SetDisplay),
        1 => span.prop_map(LayoutOp::SetSpan),
        2 => (any_window(), any::<bool>()).prop_map(|(window, on)| LayoutOp::SetFullscreen(window, on)),
        2 => (any_window(), any::<bool>(), proptest::option::of(any_rect()))
            .prop_map(|(window, on, rect)| LayoutOp::SetFloating(window, on, rect)),
        1 => (any_window(), any_rect()).prop_map(|(window, rect)| LayoutOp::MoveFloating(window, rect)),
        2 => (any_window(), any_target()).prop_map(|(window, target)| LayoutOp::Drop(window, target)),
        1 => (any_window(), -100i32..900).prop_map(|(window, height)| LayoutOp::SetRowEdge(window, height)),
        2 => (any_side(), any_width()).prop_map(|(side, width)| LayoutOp::SetWidthFrom(side, width)),
    ]
}

fn any_ops() -> impl Strategy<Value = Vec<LayoutOp>> {
    proptest::collection::vec(any_op(), 0..40)
}

/// A layout after any sequence of ops.
fn any_layout() -> impl Strategy<Value = TilingLayout> {
    any_ops().prop_map(|ops| {
        let mut layout = TilingLayout::new(NOWHERE);
        layout.apply(&LayoutOp::Connect(FIRST, area()));
        ops.iter().for_each(|op| layout.apply(op));
        layout
    })
}

#[test]
fn a_view_that_was_moved_comes_to_rest_at_the_nearest_column_and_one_that_is_seen_is_active() {
    // Four columns, each half as wide as the screen; the last two are visible.
    let mut layout = opened(1..=4);
    let here = place(FIRST, 1);
    let view = |layout: &TilingLayout| layout.view(here).map(|seen| (seen.at, seen.least, seen.most)).unwrap();
    let (last, least, most) = view(&layout);
    assert_eq!((last, least), (most, -10));
    let step = (most - least) / 2;
    for (wanted, rests, focus) in [
        (last - 20, last, 4),
        (last - step + 30, last - step, 3),
        (last - 2 * step + 60, least, 2),
        (i32::MIN, least, 2),
        (i32::MAX, last, 3),
    ] {
        layout.apply(&LayoutOp::ScrollTo(here, wanted));
        assert_eq!((view(&layout).0, focus_of(&layout)), (rests, Some(window(focus))), "{wanted}");
    }
    layout.apply(&LayoutOp::ScrollTo(place(FIRST, 2), 100));
    assert_eq!(layout.view(place(FIRST, 2)), None);
}

#[test]
fn on_a_narrow_screen_a_column_is_as_wide_as_it_and_on_a_wide_one_as_before() {
    let mut layout = opened(1..=2);
    let widths = |layout: &TilingLayout| -> Vec<i32> {
        arranged(layout, place(FIRST, 1)).iter().map(|it| it.rect.size.w).collect()
    };
    assert_eq!(widths(&layout), [485, 485]);
    // A phone in portrait, then in landscape.
    let phone = |w, h| LayoutArea { full: rect(0, 0, w, h), usable: rect(0, 0, w, h), scale: 240, gap: 4, titles: 20 };
    layout.apply(&LayoutOp::Connect(FIRST, phone(720, 1440)));
    assert_eq!(widths(&layout), [704, 704]);
    assert_eq!(arranged(&layout, place(FIRST, 1))[1].rect.loc.x, 8, "the one with the focus is seen");
    layout.apply(&LayoutOp::Connect(FIRST, phone(1440, 720)));
    assert_eq!(widths(&layout), [708, 708]);
}

#[test]
fn a_window_that_floats_for_the_first_time_is_smaller_and_then_as_it_was() {
    let mut layout = opened(1..=2);
    layout.apply(&LayoutOp::SetFloating(window(2), true, None));
    let floating =
        |layout: &TilingLayout| arranged(layout, place(FIRST, 1)).into_iter().find(|it| it.is_floating).unwrap().rect;
    let first = floating(&layout);
    assert_eq!((first.size.w, first.size.h), (363, 411));
    layout.apply(&LayoutOp::MoveFloating(window(2), rect(5, 40, 300, 200)));
    layout.apply(&LayoutOp::SetFloating(window(2), false, None));
    layout.apply(&LayoutOp::SetFloating(window(2), true, None));
    assert_eq!(floating(&layout), rect(5, 40, 300, 200));
}

#[test]
fn many_columns_that_have_to_be_of_any_width_can_be_counted() {
    let wide = MinimumSize { width: i32::MAX, height: i32::MAX };
    let columns: Vec<_> = (0..100_000).map(|id| TiledColumn::of(LayoutTile::new(window(id), wide))).collect();
    let mut strip = ColumnStrip { active: columns.len() - 1, columns, view: 0 };
    strip.settle(&area());
    assert!(strip.view > 0, "{}", strip.view);
}
