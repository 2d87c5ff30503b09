//! Pictures of the strip: the rectangles of all windows after each op, in pixels.

use expect_test::expect;

use super::*;

/// `x y w h` of each window; `*` marks the focused window, `-` a hidden window.
fn picture(layout: &TilingLayout) -> String {
    let focus = focus_of(layout);
    let line = |it: &ArrangedWindow| {
        let mark = match (it.is_seen, Some(it.window) == focus) {
            (_, true) => '*',
            (true, false) => ' ',
            (false, false) => '-',
        };
        let kind = match (it.is_fullscreen, it.is_floating) {
            (true, _) => " fullscreen",
            (_, true) => " floating",
            _ => "",
        };
        let (at, size) = (it.rect.loc, it.rect.size);
        format!("{mark}{} {:5} {:4} {:5} {:4}{kind}\n", it.window.0, at.x, at.y, size.w, size.h)
    };
    arranged(layout, layout.focused_place()).iter().map(line).collect()
}

fn pictures(layout: &mut TilingLayout, ops: &[LayoutOp]) -> String {
    let after = |op: &LayoutOp| {
        layout.apply(op);
        format!("{op:?}\n{}", picture(layout))
    };
    ops.iter().map(after).collect()
}

#[test]
fn the_view_moves_only_as_far_as_it_must() {
    let mut layout = opened(1..=4);
    let ops = [
        LayoutOp::FocusTo(Direction::Column(HorizontalSide::Left)),
        LayoutOp::FocusTo(Direction::Column(HorizontalSide::Left)),
        LayoutOp::Close(window(4)),
        LayoutOp::FocusTo(Direction::First),
        LayoutOp::SetWidth(ColumnWidth::Share(667)),
    ];
    expect![[r#"
        FocusTo(Column(Left))
        -1  -980   40   485  550
        -2  -485   40   485  550
        *3    10   40   485  550
         4   505   40   485  550
        FocusTo(Column(Left))
        -1  -485   40   485  550
        *2    10   40   485  550
         3   505   40   485  550
        -4  1000   40   485  550
        Close(WindowId(4))
        -1  -485   40   485  550
        *2    10   40   485  550
         3   505   40   485  550
        FocusTo(First)
        *1    10   40   485  550
         2   505   40   485  550
        -3  1000   40   485  550
        SetWidth(Share(667))
        *1    10   40   650  550
         2   670   40   485  550
        -3  1165   40   485  550
    "#]]
    .assert_eq(&pictures(&mut layout, &ops));
}

#[test]
fn rows_share_the_height_and_tabs_have_all_of_it() {
    let mut layout = opened(1..=3);
    let ops = [
        LayoutOp::Join(HorizontalSide::Left),
        LayoutOp::SetHeight(RowHeight::Pixels(100)),
        LayoutOp::SetDisplay(ColumnDisplay::Tabbed),
        LayoutOp::FocusTo(Direction::Up),
        LayoutOp::Join(HorizontalSide::Right),
    ];
    expect![[r#"
        Join(Left)
         1    10   40   485  550
         2   505   40   485  270
        *3   505  320   485  270
        SetHeight(Pixels(100))
         1    10   40   485  550
         2   505   40   485  440
        *3   505  490   485  100
        SetDisplay(Tabbed)
         1    10   40   485  550
        -2   505   60   485  530
        *3   505   60   485  530
        FocusTo(Up)
         1    10   40   485  550
        *2   505   60   485  530
        -3   505   60   485  530
        Join(Right)
        -1  -485   40   485  550
         3    10   40   485  550
        *2   505   40   485  550
    "#]]
    .assert_eq(&pictures(&mut layout, &ops));
}

#[test]
fn fullscreen_covers_bars_and_floating_windows_until_it_loses_focus() {
    let mut layout = opened(1..=2);
    let ops = [
        LayoutOp::Open(
            window(3),
            MinimumSize::default(),
            WindowOpening { floating: Some(rect(300, 200, 400, 300)), ..COLUMN },
        ),
        LayoutOp::SetFullscreen(window(2), true),
        LayoutOp::FocusTo(Direction::OtherLayer),
        LayoutOp::SetFullscreen(window(3), true),
        LayoutOp::SetFullscreen(window(3), false),
        LayoutOp::SetFloating(window(3), false, None),
    ];
    expect![[r#"
        Open(WindowId(3), MinimumSize { width: 0, height: 0 }, WindowOpening { place: None, floating: Some(Rectangle<smithay::utils::geometry::Physical> { x: 300, y: 200, width: 400, height: 300 }), focused: true, back: None })
         1    10   40   485  550
         2   505   40   485  550
        *3   300  200   400  300 floating
        SetFullscreen(WindowId(2), true)
        -1  -495   40   485  550
        *2     0    0  1000  600 fullscreen
        -3   300  200   400  300 floating
        FocusTo(OtherLayer)
        -1  -495   40   485  550
         2     0    0  1000  600 fullscreen
        *3   300  200   400  300 floating
        SetFullscreen(WindowId(3), true)
        -1  -990   40   485  550
        -2  -495   40   485  550
        *3     0    0  1000  600 fullscreen
        SetFullscreen(WindowId(3), false)
         1    10   40   485  550
         2   505   40   485  550
        *3   300  200   400  300 floating
        SetFloating(WindowId(3), false, None)
        -1  -485   40   485  550
         2    10   40   485  550
        *3   505   40   485  550
    "#]].assert_eq(&pictures(&mut layout, &ops));
}
