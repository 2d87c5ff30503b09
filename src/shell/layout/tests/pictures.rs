//! Pictures of the strip: the rectangles of all windows after each op, in pixels.

use expect_test::expect;

use super::*;

/// `x y w h` of each window; `*` marks the focused window, `-` a hidden window.
fn picture(layout: &Layout) -> String {
    let focus = focus_of(layout);
    let line = |it: &Arranged| {
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

fn pictures(layout: &mut Layout, ops: &[Op]) -> String {
    let after = |op: &Op| {
        layout.apply(op);
        format!("{op:?}\n{}", picture(layout))
    };
    ops.iter().map(after).collect()
}

#[test]
fn the_view_moves_only_as_far_as_it_must() {
    let mut layout = opened(1..=4);
    let ops = [
        Op::FocusTo(Direction::Column(Side::Left)),
        Op::FocusTo(Direction::Column(Side::Left)),
        Op::Close(window(4)),
        Op::FocusTo(Direction::First),
        Op::SetWidth(Width::Share(667)),
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
        Op::Join(Side::Left),
        Op::SetHeight(Height::Pixels(100)),
        Op::SetDisplay(Display::Tabbed),
        Op::FocusTo(Direction::Up),
        Op::Join(Side::Right),
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
fn what_fills_the_screen_hides_bars_and_what_floats_until_the_focus_leaves_it() {
    let mut layout = opened(1..=2);
    let ops = [
        Op::Open(window(3), Limits::default(), Opening { floating: Some(rect(300, 200, 400, 300)), ..COLUMN }),
        Op::SetFullscreen(window(2), true),
        Op::FocusTo(Direction::OtherLayer),
        Op::SetFullscreen(window(3), true),
        Op::SetFullscreen(window(3), false),
        Op::SetFloating(window(3), false, None),
    ];
    expect![[r#"
        Open(WindowId(3), Limits { width: 0, height: 0 }, Opening { place: None, floating: Some(Rectangle<smithay::utils::geometry::Physical> { x: 300, y: 200, width: 400, height: 300 }), focused: true, back: None })
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
