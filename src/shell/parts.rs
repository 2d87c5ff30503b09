//! Halves and quarters of a screen, and all of it: where a window goes that is let go at an edge. Pure.
//!
//! ```text
//!   ┌─ all ──────────────┐
//!   ┤ quarter    quarter ├   let go within `EDGE` of the screen's edge
//!   │ half          half │
//!   ┤ quarter    quarter ├
//!   └────────────────────┘
//! ```

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::layout::op::Side;

/// So near to an edge a window is let go at it, in logical pixels: a hand that throws the pointer at it hits, and one that
/// only comes by does not.
const EDGE: f64 = 8.0;
/// Of the height of a screen: so far from the top or the bottom it is a quarter.
const CORNER: f64 = 0.25;

/// The upper or the lower half of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// The upper one.
    Upper,
    /// The lower one.
    Lower,
}

/// Half of what windows may fill, or a quarter of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which half.
    pub side: Side,
    /// Which half of that, if not all.
    pub row: Option<Row>,
}

/// Where a window goes when it is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It fills all that windows may.
    Whole,
    /// A part of that.
    Part(Part),
}

/// A [target](Target), and what windows may fill there (global logical coordinates).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// Where it goes.
    pub target: Target,
    /// What windows may fill.
    pub area: Rectangle<i32, Logical>,
}

impl Aim {
    /// What it comes to (global logical coordinates).
    pub fn rect(&self) -> Rectangle<i32, Logical> {
        match self.target {
            Target::Whole => self.area,
            Target::Part(part) => part.of(self.area),
        }
    }
}

/// What a window that lies on a part of a screen was before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapped {
    /// On which.
    pub part: Part,
    /// Where it was, and how large.
    pub before: Rectangle<i32, Logical>,
}

impl Part {
    /// That part of `area`. The two halves of an odd length have all of it.
    pub fn of(self, area: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let along = |length: i32, second: Option<bool>| match second {
            None => (0, length),
            Some(false) => (0, length / 2),
            Some(true) => (length / 2, length - length / 2),
        };
        let (x, width) = along(area.size.w, Some(self.side == Side::Right));
        let (y, height) = along(area.size.h, self.row.map(|row| row == Row::Lower));
        Rectangle::new(area.loc + Point::from((x, y)), Size::from((width, height)))
    }

    /// The edges at which its client has nothing of its own.
    pub fn has_edge(self, edge: xdg_toplevel::State) -> bool {
        match edge {
            xdg_toplevel::State::TiledLeft => self.side == Side::Left,
            xdg_toplevel::State::TiledRight => self.side == Side::Right,
            xdg_toplevel::State::TiledTop => self.row != Some(Row::Lower),
            xdg_toplevel::State::TiledBottom => self.row != Some(Row::Upper),
            _ => false,
        }
    }
}

/// What a window that is let go at `pointer` goes to on a screen that is there (global logical coordinates). `is_screen` says
/// whether another screen is at a place: what is let go where two meet lies on both.
pub fn target(
    pointer: Point<f64, Logical>,
    screen: Rectangle<i32, Logical>,
    is_screen: impl Fn(Point<f64, Logical>) -> bool,
) -> Option<Target> {
    let screen = screen.to_f64();
    if !screen.contains(pointer) {
        return None;
    }
    let (right, down) = (pointer.x - screen.loc.x, pointer.y - screen.loc.y);
    let ends = |x: f64, y: f64| !is_screen(Point::from((x, y)));
    let side = if right <= EDGE && ends(screen.loc.x - 1.0, pointer.y) {
        Some(Side::Left)
    } else if screen.size.w - right <= EDGE && ends(screen.loc.x + screen.size.w, pointer.y) {
        Some(Side::Right)
    } else {
        None
    };
    let Some(side) = side else {
        return (down <= EDGE && ends(pointer.x, screen.loc.y - 1.0)).then_some(Target::Whole);
    };
    let share = down / screen.size.h;
    let upper = (share < CORNER).then_some(Row::Upper);
    let row = upper.or_else(|| (share > 1.0 - CORNER).then_some(Row::Lower));
    Some(Target::Part(Part { side, row }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn screen() -> Rectangle<i32, Logical> {
        Rectangle::new((100, 50).into(), (1281, 721).into())
    }

    fn part(side: Side, row: Option<Row>) -> Option<Target> {
        Some(Target::Part(Part { side, row }))
    }

    fn at(x: f64, y: f64) -> Option<Target> {
        target((100.0 + x, 50.0 + y).into(), screen(), |_| false)
    }

    #[test]
    fn edges_are_halves_corners_quarters_the_top_is_all_and_the_rest_nothing() {
        assert_eq!(at(640.0, 360.0), None);
        assert_eq!(at(640.0, 3.0), Some(Target::Whole));
        assert_eq!(at(640.0, 719.0), None);
        assert_eq!(at(0.0, 360.0), part(Side::Left, None));
        assert_eq!(at(1280.0, 360.0), part(Side::Right, None));
        assert_eq!(at(0.0, 0.0), part(Side::Left, Some(Row::Upper)));
        assert_eq!(at(1280.0, 720.0), part(Side::Right, Some(Row::Lower)));
        assert_eq!(at(EDGE + 1.0, 360.0), None);
        assert_eq!(at(-1.0, 360.0), None, "on another screen");
    }

    #[test]
    fn where_two_screens_meet_nothing_is_an_edge() {
        let beside = |pointer: (f64, f64), other: Rectangle<f64, Logical>| {
            target(pointer.into(), screen(), |point| other.contains(point))
        };
        let left = Rectangle::new((-900.0, 0.0).into(), (1000.0, 400.0).into());
        assert_eq!(beside((100.0, 300.0), left), None);
        assert_eq!(beside((100.0, 450.0), left), part(Side::Left, None), "it ends above");
        assert_eq!(beside((100.0, 50.0), left), Some(Target::Whole));
        let above = Rectangle::new((100.0, -900.0).into(), (1281.0, 950.0).into());
        assert_eq!(beside((700.0, 51.0), above), None);
        assert_eq!(beside((1380.0, 51.0), above), part(Side::Right, Some(Row::Upper)));
    }

    proptest! {
        #[test]
        fn quarters_make_up_halves_and_halves_the_whole(x in -500..500, y in -500..500, w in 2..4000, h in 2..4000) {
            let area = Rectangle::<i32, Logical>::new((x, y).into(), (w, h).into());
            let of = |side, row| Part { side, row }.of(area);
            for side in [Side::Left, Side::Right] {
                let quarters = of(side, Some(Row::Upper)).merge(of(side, Some(Row::Lower)));
                prop_assert_eq!(quarters, of(side, None));
                prop_assert!(!of(side, Some(Row::Upper)).overlaps(of(side, Some(Row::Lower))));
            }
            prop_assert_eq!(of(Side::Left, None).merge(of(Side::Right, None)), area);
            prop_assert!(!of(Side::Left, None).overlaps(of(Side::Right, None)));
        }
    }
}
