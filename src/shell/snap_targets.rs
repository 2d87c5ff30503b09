//! Snapping targets: halves and quarters of a screen, or all of it, for a window that is released at an edge or that a
//! shortcut snaps. Pure.
//!
//! ```text
//!   ┌─ all ──────────────┐
//!   ┤ quarter    quarter ├   released within `EDGE` of the screen's edge
//!   │ half          half │
//!   ┤ quarter    quarter ├
//!   └────────────────────┘
//! ```

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::layout::DropTarget;
use super::layout::op::{Direction, HorizontalSide};
use super::workspaces::WorkspaceId;

/// Distance from an edge, in logical pixels, within which a released window is snapped: a pointer that is thrown at the
/// edge hits it, and a pointer that only passes by does not.
const EDGE: f64 = 8.0;
/// Share of the screen's height, from the top or the bottom, in which the target is a quarter.
const CORNER: f64 = 0.25;

/// Upper or lower half of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerticalHalf {
    Upper,
    Lower,
}

/// A half or a quarter of the usable area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapPart {
    /// `None` for the whole width.
    pub side: Option<HorizontalSide>,
    /// `None` for the whole height.
    pub row: Option<VerticalHalf>,
}

/// Snapping target of a dragged window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapTarget {
    /// Maximised over the usable area.
    Whole,
    Part(SnapPart),
    /// A place among the columns of a workspace.
    Strip {
        place: WorkspaceId,
        target: DropTarget,
    },
}

/// A [target](SnapTarget) and its area (global logical coordinates).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapPreview {
    pub target: SnapTarget,
    /// Usable area of the screen; the marked rectangle of a place among columns.
    pub area: Rectangle<i32, Logical>,
}

impl SnapPreview {
    /// The marked rectangle (global logical coordinates): that of the snapped window, or the place among columns.
    pub fn rect(&self) -> Rectangle<i32, Logical> {
        match self.target {
            SnapTarget::Whole | SnapTarget::Strip { .. } => self.area,
            SnapTarget::Part(part) => part.rect_in(self.area),
        }
    }
}

/// A window that is snapped to a part of a screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapped {
    pub part: SnapPart,
    /// Its floating rectangle, for when it is restored.
    pub before: Rectangle<i32, Logical>,
}

impl SnapPart {
    /// The part of a snapped window after a step in `direction`, as the shortcuts do it. `None` if it is no longer
    /// snapped.
    ///
    /// ```text
    ///   floating ◄─ right ── left half ── up ──► upper left quarter
    ///            ── left ──►           ◄─ down ──
    /// ```
    pub fn after_step(part: Option<SnapPart>, direction: Direction) -> Option<SnapPart> {
        fn step<T: PartialEq>(before: Option<T>, to: T) -> Option<T> {
            // A step against the earlier step on the same axis takes that back.
            before.is_none_or(|before| before == to).then_some(to)
        }
        let SnapPart { side, row } = part.unwrap_or(SnapPart { side: None, row: None });
        let next = match direction {
            Direction::Column(to) => SnapPart { side: step(side, to), row },
            Direction::Up => SnapPart { side, row: step(row, VerticalHalf::Upper) },
            Direction::Down => SnapPart { side, row: step(row, VerticalHalf::Lower) },
            Direction::First | Direction::Last | Direction::OtherLayer => SnapPart { side, row },
        };
        (next != SnapPart { side: None, row: None }).then_some(next)
    }

    /// Rectangle of this part within `area`. The two halves of an odd length add up to the whole.
    pub fn rect_in(self, area: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let along = |length: i32, second: Option<bool>| match second {
            None => (0, length),
            Some(false) => (0, length / 2),
            Some(true) => (length / 2, length - length / 2),
        };
        let (x, width) = along(area.size.w, self.side.map(|side| side == HorizontalSide::Right));
        let (y, height) = along(area.size.h, self.row.map(|row| row == VerticalHalf::Lower));
        Rectangle::new(area.loc + Point::from((x, y)), Size::from((width, height)))
    }

    /// Whether the window touches this edge of the area, so that its client draws no border there.
    pub fn has_edge(self, edge: xdg_toplevel::State) -> bool {
        match edge {
            xdg_toplevel::State::TiledLeft => self.side != Some(HorizontalSide::Right),
            xdg_toplevel::State::TiledRight => self.side != Some(HorizontalSide::Left),
            xdg_toplevel::State::TiledTop => self.row != Some(VerticalHalf::Lower),
            xdg_toplevel::State::TiledBottom => self.row != Some(VerticalHalf::Upper),
            _ => false,
        }
    }
}

/// The target for a window that is released at `pointer` on the screen `screen` (global logical coordinates).
/// `is_screen` says whether any screen is at a point: an edge between two screens is no target.
pub fn target(
    pointer: Point<f64, Logical>,
    screen: Rectangle<i32, Logical>,
    is_screen: impl Fn(Point<f64, Logical>) -> bool,
) -> Option<SnapTarget> {
    let screen = screen.to_f64();
    if !screen.contains(pointer) {
        return None;
    }
    let (right, down) = (pointer.x - screen.loc.x, pointer.y - screen.loc.y);
    let ends = |x: f64, y: f64| !is_screen(Point::from((x, y)));
    let side = if right <= EDGE && ends(screen.loc.x - 1.0, pointer.y) {
        Some(HorizontalSide::Left)
    } else if screen.size.w - right <= EDGE && ends(screen.loc.x + screen.size.w, pointer.y) {
        Some(HorizontalSide::Right)
    } else {
        None
    };
    let Some(side) = side else {
        return (down <= EDGE && ends(pointer.x, screen.loc.y - 1.0)).then_some(SnapTarget::Whole);
    };
    let share = down / screen.size.h;
    let upper = (share < CORNER).then_some(VerticalHalf::Upper);
    let row = upper.or_else(|| (share > 1.0 - CORNER).then_some(VerticalHalf::Lower));
    Some(SnapTarget::Part(SnapPart { side: Some(side), row }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn screen() -> Rectangle<i32, Logical> {
        Rectangle::new((100, 50).into(), (1281, 721).into())
    }

    fn part(side: HorizontalSide, row: Option<VerticalHalf>) -> Option<SnapTarget> {
        Some(SnapTarget::Part(SnapPart { side: Some(side), row }))
    }

    fn at(x: f64, y: f64) -> Option<SnapTarget> {
        target((100.0 + x, 50.0 + y).into(), screen(), |_| false)
    }

    #[test]
    fn edges_are_halves_corners_quarters_the_top_is_all_and_the_rest_nothing() {
        assert_eq!(at(640.0, 360.0), None);
        assert_eq!(at(640.0, 3.0), Some(SnapTarget::Whole));
        assert_eq!(at(640.0, 719.0), None);
        assert_eq!(at(0.0, 360.0), part(HorizontalSide::Left, None));
        assert_eq!(at(1280.0, 360.0), part(HorizontalSide::Right, None));
        assert_eq!(at(0.0, 0.0), part(HorizontalSide::Left, Some(VerticalHalf::Upper)));
        assert_eq!(at(1280.0, 720.0), part(HorizontalSide::Right, Some(VerticalHalf::Lower)));
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
        assert_eq!(beside((100.0, 450.0), left), part(HorizontalSide::Left, None), "it ends above");
        assert_eq!(beside((100.0, 50.0), left), Some(SnapTarget::Whole));
        let above = Rectangle::new((100.0, -900.0).into(), (1281.0, 950.0).into());
        assert_eq!(beside((700.0, 51.0), above), None);
        assert_eq!(beside((1380.0, 51.0), above), part(HorizontalSide::Right, Some(VerticalHalf::Upper)));
    }

    #[test]
    fn second_direction_makes_a_quarter_and_the_opposite_direction_takes_a_step_back() {
        let left = Direction::Column(HorizontalSide::Left);
        let right = Direction::Column(HorizontalSide::Right);
        let after = |steps: &[Direction]| steps.iter().fold(None, |part, step| SnapPart::after_step(part, *step));
        let part = |side, row| Some(SnapPart { side, row });
        assert_eq!(after(&[left]), part(Some(HorizontalSide::Left), None));
        assert_eq!(after(&[left, left]), after(&[left]));
        assert_eq!(after(&[left, right]), None);
        let quarter = part(Some(HorizontalSide::Left), Some(VerticalHalf::Upper));
        assert_eq!(after(&[left, Direction::Up]), quarter);
        assert_eq!(after(&[left, Direction::Up, Direction::Up]), quarter);
        assert_eq!(after(&[left, Direction::Up, Direction::Down]), after(&[left]));
        assert_eq!(after(&[left, Direction::Up, right]), part(None, Some(VerticalHalf::Upper)));
        assert_eq!(after(&[left, Direction::Up, right, Direction::Down]), None);
    }

    proptest! {
        #[test]
        fn quarters_make_up_halves_and_halves_the_whole(x in -500..500, y in -500..500, w in 2..4000, h in 2..4000) {
            let area = Rectangle::<i32, Logical>::new((x, y).into(), (w, h).into());
            let of = |side, row| SnapPart { side: Some(side), row }.rect_in(area);
            for side in [HorizontalSide::Left, HorizontalSide::Right] {
                let quarters = of(side, Some(VerticalHalf::Upper)).merge(of(side, Some(VerticalHalf::Lower)));
                prop_assert_eq!(quarters, of(side, None));
                prop_assert!(!of(side, Some(VerticalHalf::Upper)).overlaps(of(side, Some(VerticalHalf::Lower))));
            }
            prop_assert_eq!(of(HorizontalSide::Left, None).merge(of(HorizontalSide::Right, None)), area);
            prop_assert!(!of(HorizontalSide::Left, None).overlaps(of(HorizontalSide::Right, None)));
        }
    }
}
