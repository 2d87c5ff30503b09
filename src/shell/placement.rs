//! Where new windows go: pure geometry.

use smithay::utils::{Logical, Point, Rectangle, Size};

/// How far windows that would lie exactly on each other are moved apart, in logical pixels: about a title bar.
const CASCADE_STEP: i32 = 32;

/// The top left corner for a new window of `size`: the middle of `area`, moved down and right past windows whose
/// corner is already there (`taken`). Never so far that it leaves the area; a window larger than the area starts at
/// the area's corner.
pub fn place(
    size: Size<i32, Logical>,
    area: Rectangle<i32, Logical>,
    taken: impl Fn(Point<i32, Logical>) -> bool,
) -> Point<i32, Logical> {
    let room = (area.size.w - size.w, area.size.h - size.h);
    let centre = area.loc + Point::from((room.0.max(0) / 2, room.1.max(0) / 2));
    let last = area.loc + Point::from((room.0.max(0), room.1.max(0)));
    let mut corner = centre;
    while taken(corner) && corner.x + CASCADE_STEP <= last.x && corner.y + CASCADE_STEP <= last.y {
        corner += Point::from((CASCADE_STEP, CASCADE_STEP));
    }
    corner
}

/// The top left corner that centres `size` over `parent`, kept inside `area` where it fits.
pub fn centre_over(
    size: Size<i32, Logical>,
    parent: Rectangle<i32, Logical>,
    area: Rectangle<i32, Logical>,
) -> Point<i32, Logical> {
    let centred = parent.loc + Point::from(((parent.size.w - size.w) / 2, (parent.size.h - size.h) / 2));
    keep_inside(Rectangle::new(centred, size), area)
}

/// The top left corner nearest to that of `rect` with which it lies inside `area`; one too large starts at the area's
/// corner.
pub fn keep_inside(rect: Rectangle<i32, Logical>, area: Rectangle<i32, Logical>) -> Point<i32, Logical> {
    let axis = |start: i32, size: i32, area_start: i32, area_size: i32| {
        start.min(area_start + area_size - size).max(area_start)
    };
    Point::from((
        axis(rect.loc.x, rect.size.w, area.loc.x, area.size.w),
        axis(rect.loc.y, rect.size.h, area.loc.y, area.size.h),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area() -> Rectangle<i32, Logical> {
        Rectangle::new((1920, 0).into(), (1280, 720).into())
    }

    proptest! {
        #[test]
        fn a_window_that_fits_is_placed_on_the_screen(w in 1..1280, h in 1..720, others in 0..40_usize) {
            let mut corners = Vec::new();
            for _ in 0..=others {
                let corner = place((w, h).into(), area(), |point| corners.contains(&point));
                prop_assert!(area().contains_rect(Rectangle::new(corner, (w, h).into())));
                corners.push(corner);
            }
        }

        #[test]
        fn keeping_inside_moves_only_what_sticks_out(x in -3000..3000, y in -3000..3000, w in 1..1280, h in 1..720) {
            let rect = Rectangle::new((x, y).into(), (w, h).into());
            let corner = keep_inside(rect, area());
            prop_assert!(area().contains_rect(Rectangle::new(corner, rect.size)));
            if area().contains_rect(rect) { prop_assert_eq!(corner, rect.loc); }
        }
    }

    #[test]
    fn the_second_window_does_not_hide_the_first() {
        let size = Size::from((400, 300));
        let first = place(size, area(), |_| false);
        let second = place(size, area(), |point| point == first);
        assert_eq!(second - first, (CASCADE_STEP, CASCADE_STEP).into());
    }

    #[test]
    fn a_window_larger_than_the_screen_shows_its_top_left_corner() {
        assert_eq!(place((5000, 5000).into(), area(), |_| true), area().loc);
    }
}
