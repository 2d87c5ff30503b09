//! Arithmetic of an interactive resize. Pure, so that it can be tested without a client.

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel::ResizeEdge;
use smithay::utils::{Logical, Point, Rectangle, Size};

use crate::bounds::MAX_EXTENT;

/// Edges of a window that follow the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    pub left: bool,
    pub right: bool,
    pub top: bool,
    pub bottom: bool,
}

impl From<ResizeEdge> for Edges {
    fn from(edge: ResizeEdge) -> Self {
        use ResizeEdge as E;
        Edges {
            left: matches!(edge, E::Left | E::TopLeft | E::BottomLeft),
            right: matches!(edge, E::Right | E::TopRight | E::BottomRight),
            top: matches!(edge, E::Top | E::TopLeft | E::TopRight),
            bottom: matches!(edge, E::Bottom | E::BottomLeft | E::BottomRight),
        }
    }
}

impl Edges {
    pub fn is_empty(self) -> bool {
        self == Edges::default()
    }

    /// The edges of `rect` nearest to `point`. In a corner (the outer thirds both ways) these are the edges of the
    /// corner, else the nearest side; in the middle third both ways, the nearest corner.
    pub fn nearest(rect: Rectangle<i32, Logical>, point: Point<f64, Logical>) -> Self {
        let share = |at: f64, start: i32, length: i32| (at - f64::from(start)) / f64::from(length.max(1));
        let (x, y) = (share(point.x, rect.loc.x, rect.size.w), share(point.y, rect.loc.y, rect.size.h));
        let is_middle = |share: f64| (1.0 / 3.0..2.0 / 3.0).contains(&share);
        let (on_x, on_y) = match (is_middle(x), is_middle(y)) {
            (true, true) | (false, false) => (true, true),
            (middle_x, middle_y) => (!middle_x, !middle_y),
        };
        Edges { left: on_x && x < 0.5, right: on_x && x >= 0.5, top: on_y && y < 0.5, bottom: on_y && y >= 0.5 }
    }
}

/// Smallest and largest size that a client accepts; zero means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeLimits {
    pub min: Size<i32, Logical>,
    pub max: Size<i32, Logical>,
}

impl SizeLimits {
    /// These limits narrowed by `others`. If both cannot be kept, these limits win.
    pub fn narrowed(self, others: SizeLimits) -> Self {
        let axis = |(min, max): (i32, i32), (other_min, other_max): (i32, i32)| {
            let largest = [max, other_max].into_iter().filter(|max| *max > 0).min();
            let least = other_min.min(if max > 0 { max } else { MAX_EXTENT }).max(min);
            (least, largest.map_or(0, |largest| largest.max(min)))
        };
        let (min_w, max_w) = axis((self.min.w, self.max.w), (others.min.w, others.max.w));
        let (min_h, max_h) = axis((self.min.h, self.max.h), (others.min.h, others.max.h));
        SizeLimits { min: (min_w, min_h).into(), max: (max_w, max_h).into() }
    }

    /// The size nearest to `size` that the client accepts, at least one pixel in each direction.
    pub fn clamp(self, size: Size<i32, Logical>) -> Size<i32, Logical> {
        let axis = |size: i32, min: i32, max: i32| {
            let min = min.max(1);
            let max = if max > 0 { max.max(min) } else { MAX_EXTENT };
            size.clamp(min, max)
        };
        Size::from((axis(size.w, self.min.w, self.max.w), axis(size.h, self.min.h, self.max.h)))
    }
}

/// The rectangle of a window after the pointer, which grabbed `edges` of the rectangle `start`, has moved by `delta`.
/// All other edges stay in place, whatever the limits are.
pub fn resized(
    start: Rectangle<i32, Logical>,
    edges: Edges,
    delta: Point<f64, Logical>,
    limits: SizeLimits,
) -> Rectangle<i32, Logical> {
    let bound = f64::from(MAX_EXTENT);
    let (dx, dy) = (delta.x.clamp(-bound, bound).round() as i32, delta.y.clamp(-bound, bound).round() as i32);
    let grow = |follows_start: bool, follows_end: bool, delta: i32| match (follows_start, follows_end) {
        (true, _) => -delta,
        (false, true) => delta,
        (false, false) => 0,
    };
    // Clamp before making a `Size`, because Smithay asserts that sizes are not negative.
    let width = (start.size.w + grow(edges.left, edges.right, dx)).max(0);
    let height = (start.size.h + grow(edges.top, edges.bottom, dy)).max(0);
    anchored(start, edges, limits.clamp(Size::from((width, height))))
}

/// `start` with another size; edges that do not follow the pointer stay in place.
pub fn anchored(start: Rectangle<i32, Logical>, edges: Edges, size: Size<i32, Logical>) -> Rectangle<i32, Logical> {
    let x = if edges.left { start.loc.x + start.size.w - size.w } else { start.loc.x };
    let y = if edges.top { start.loc.y + start.size.h - size.h } else { start.loc.y };
    Rectangle::new(Point::from((x, y)), size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: (i32, i32, i32, i32) = (100, 50, 400, 300);

    fn start() -> Rectangle<i32, Logical> {
        Rectangle::new((START.0, START.1).into(), (START.2, START.3).into())
    }

    fn edges() -> impl Strategy<Value = Edges> {
        (0..3, 0..3).prop_map(|(x, y)| Edges { left: x == 1, right: x == 2, top: y == 1, bottom: y == 2 })
    }

    proptest! {
        #[test]
        fn edges_that_are_not_held_never_move(
            edges in edges(), dx in -1e9..1e9, dy in -1e9..1e9, min in 0..600, max in 0..600,
        ) {
            let limits = SizeLimits { min: (min, min).into(), max: (max, max).into() };
            let limits_allow_start = limits.clamp(start().size) == start().size;
            let rect = resized(start(), edges, (dx, dy).into(), limits);
            prop_assert!(rect.size.w >= 1 && rect.size.h >= 1);
            if !edges.left { prop_assert_eq!(rect.loc.x, START.0); }
            if !edges.top { prop_assert_eq!(rect.loc.y, START.1); }
            if edges.left { prop_assert_eq!(rect.loc.x + rect.size.w, START.0 + START.2); }
            if edges.top { prop_assert_eq!(rect.loc.y + rect.size.h, START.1 + START.3); }
            if !edges.left && !edges.right && limits_allow_start { prop_assert_eq!(rect.size.w, START.2); }
        }

        #[test]
        fn without_limits_the_held_edge_follows_the_pointer(edges in edges(), dx in -300..300, dy in -200..200) {
            let rect = resized(start(), edges, (f64::from(dx), f64::from(dy)).into(), SizeLimits::default());
            if edges.left { prop_assert_eq!(rect.loc.x, START.0 + dx); }
            if edges.right { prop_assert_eq!(rect.size.w, START.2 + dx); }
            if edges.top { prop_assert_eq!(rect.loc.y, START.1 + dy); }
            if edges.bottom { prop_assert_eq!(rect.size.h, START.3 + dy); }
        }
    }

    #[test]
    fn a_minimum_larger_than_the_maximum_wins_instead_of_panicking() {
        let limits = SizeLimits { min: (500, 0).into(), max: (300, 0).into() };
        assert_eq!(limits.clamp((10, 10).into()), (500, 10).into());
    }

    #[test]
    fn own_limits_are_kept_before_those_of_a_rule() {
        let limits = |min: i32, max: i32| SizeLimits { min: (min, min).into(), max: (max, max).into() };
        let none = limits(0, 0);
        assert_eq!(none.narrowed(none), none);
        assert_eq!(none.narrowed(limits(100, 300)), limits(100, 300));
        assert_eq!(limits(50, 400).narrowed(limits(100, 300)), limits(100, 300));
        assert_eq!(limits(150, 200).narrowed(limits(100, 300)), limits(150, 200));
        assert_eq!(limits(400, 500).narrowed(limits(0, 300)), limits(400, 400), "its own minimum");
        assert_eq!(limits(0, 80).narrowed(limits(100, 0)), limits(80, 80), "its own maximum");
    }

    #[test]
    fn the_corner_or_the_edge_next_to_the_pointer_is_grabbed() {
        let none = Edges::default();
        let expected = [
            ((480.0, 60.0), Edges { right: true, top: true, ..none }),
            ((110.0, 340.0), Edges { left: true, bottom: true, ..none }),
            ((110.0, 200.0), Edges { left: true, ..none }),
            ((300.0, 60.0), Edges { top: true, ..none }),
            ((490.0, 200.0), Edges { right: true, ..none }),
            ((310.0, 340.0), Edges { bottom: true, ..none }),
            ((290.0, 210.0), Edges { left: true, bottom: true, ..none }),
        ];
        for (point, edges) in expected {
            assert_eq!(Edges::nearest(start(), point.into()), edges, "{point:?}");
        }
    }
}
