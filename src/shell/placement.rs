//! Where new windows go: pure geometry.

use smithay::utils::{Logical, Point, Rectangle, Size};

/// How far windows that would lie exactly on each other are moved apart, in logical pixels: about a title bar.
const CASCADE_STEP: i32 = 32;

/// The top left corner for a new window of `size`: where it covers least of the windows that are there, and of such
/// places the one nearest to the middle of `area`. A window larger than the area starts at the area's corner.
///
/// The candidates are the middle and the corners that it would have beside the edges of the others; where all of them
/// cover something as large, windows cascade down and right from the middle.
pub fn place(
    size: Size<i32, Logical>,
    area: Rectangle<i32, Logical>,
    others: &[Rectangle<i32, Logical>],
) -> Point<i32, Logical> {
    let room = (area.size.w - size.w, area.size.h - size.h);
    let centre = area.loc + Point::from((room.0.max(0) / 2, room.1.max(0) / 2));
    let columns = edges(centre.x, area.loc.x, room.0, size.w, others.iter().map(|other| (other.loc.x, other.size.w)));
    let rows = edges(centre.y, area.loc.y, room.1, size.h, others.iter().map(|other| (other.loc.y, other.size.h)));
    let places = rows.iter().flat_map(|y| columns.iter().map(|x| Point::from((*x, *y))));
    let best = places.min_by_key(|corner| (covered(Rectangle::new(*corner, size), others), distance(*corner, centre)));
    let mut corner = best.unwrap_or(centre);
    let last = area.loc + Point::from((room.0.max(0), room.1.max(0)));
    while others.iter().any(|other| other.loc == corner)
        && corner.x + CASCADE_STEP <= last.x
        && corner.y + CASCADE_STEP <= last.y
    {
        corner += Point::from((CASCADE_STEP, CASCADE_STEP));
    }
    corner
}

/// Starts along one axis at which a window of length `size` is in the middle, at an edge of the area, or beside another.
fn edges(centre: i32, area: i32, room: i32, size: i32, others: impl Iterator<Item = (i32, i32)>) -> Vec<i32> {
    let mut starts: Vec<i32> = others
        .flat_map(|(start, length)| [start.saturating_sub(size), start.saturating_add(length)])
        .chain([centre, area, area + room])
        .filter(|start| (area..=area + room.max(0)).contains(start))
        .collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Pixels of `others` below `rect`, those that lie below several of them counted as often.
fn covered(rect: Rectangle<i32, Logical>, others: &[Rectangle<i32, Logical>]) -> i64 {
    let common = others.iter().filter_map(|other| other.intersection(rect));
    common.map(|common| i64::from(common.size.w) * i64::from(common.size.h)).sum()
}

fn distance(a: Point<i32, Logical>, b: Point<i32, Logical>) -> i64 {
    let (x, y) = (i64::from(a.x) - i64::from(b.x), i64::from(a.y) - i64::from(b.y));
    x * x + y * y
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

/// The top left corner with which `rect` lies in the same part of the area `to` as it did of `from`.
pub fn carry(
    rect: Rectangle<i32, Logical>,
    from: Rectangle<i32, Logical>,
    to: Rectangle<i32, Logical>,
) -> Point<i32, Logical> {
    let axis = |start: i32, size: i32, from: (i32, i32), to: (i32, i32)| {
        let (room, new_room) = ((from.1 - size).max(1), (to.1 - size).max(0));
        let share = (f64::from(start) - f64::from(from.0)) / f64::from(room);
        to.0 + (share.clamp(0.0, 1.0) * f64::from(new_room)).round() as i32
    };
    Point::from((
        axis(rect.loc.x, rect.size.w, (from.loc.x, from.size.w), (to.loc.x, to.size.w)),
        axis(rect.loc.y, rect.size.h, (from.loc.y, from.size.h), (to.loc.y, to.size.h)),
    ))
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
            let mut rects = Vec::new();
            for _ in 0..=others {
                let corner = place((w, h).into(), area(), &rects);
                prop_assert!(area().contains_rect(Rectangle::new(corner, (w, h).into())));
                rects.push(Rectangle::new(corner, (w, h).into()));
            }
        }

        #[test]
        fn carried_to_another_screen_it_lies_in_the_same_part(x in -3000..3000, y in -3000..3000, w in 1..1280, h in 1..720) {
            let other = Rectangle::new((-500, 700).into(), (1920, 1080).into());
            let rect = Rectangle::new((x, y).into(), (w, h).into());
            let there = Rectangle::new(carry(rect, area(), other), rect.size);
            prop_assert!(other.contains_rect(there));
            if area().contains_rect(rect) {
                // A pixel of the small screen's room is up to some of the large one's.
                let back = carry(there, other, area());
                prop_assert!((back.x - x).abs() <= 1 && (back.y - y).abs() <= 1, "{:?} {:?}", back, rect);
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
    fn windows_do_not_cover_each_other_while_there_is_room() {
        let size = Size::from((320, 240));
        let mut rects = Vec::new();
        for _ in 0..7 {
            let rect = Rectangle::new(place(size, area(), &rects), size);
            assert_eq!(covered(rect, &rects), 0, "{rects:?}");
            rects.push(rect);
        }
        assert_eq!(rects[0].loc, area().loc + Point::from((480, 240)));
    }

    #[test]
    fn where_there_is_no_room_no_window_hides_another_entirely() {
        let size = Size::from((1000, 700));
        let mut rects = Vec::new();
        for _ in 0..4 {
            let rect = Rectangle::new(place(size, area(), &rects), size);
            assert!(rects.iter().all(|other: &Rectangle<i32, Logical>| other.loc != rect.loc) || rects.len() > 2);
            rects.push(rect);
        }
    }

    #[test]
    fn a_window_larger_than_the_screen_shows_its_top_left_corner() {
        assert_eq!(place((5000, 5000).into(), area(), &[area()]), area().loc);
    }
}
