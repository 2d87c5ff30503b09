//! Windows that would lie exactly on each other. Pure.

use smithay::utils::{Logical, Point, Rectangle};

use super::{CASCADE_STEP, REACHABLE};

/// The corner of `rect`, or a corner near it that none of `others` has: down and right within `area`, or else anywhere
/// in it. Where all these are taken, a window that would lie exactly on one of the same size sticks out at the right
/// and the bottom, where it can be taken hold of.
pub fn apart(
    rect: Rectangle<i32, Logical>,
    area: Rectangle<i32, Logical>,
    others: &[Rectangle<i32, Logical>],
) -> Point<i32, Logical> {
    let is_free = |corner: &Point<i32, Logical>| !others.iter().any(|other| other.loc == *corner);
    if is_free(&rect.loc) {
        return rect.loc;
    }
    let room = |length: i32, size: i32| (length - size).max(0);
    let room = Point::from((room(area.size.w, rect.size.w), room(area.size.h, rect.size.h)));
    // A window as wide as the area only moves down, and one as high as the area only right.
    let step = |room: i32| if room >= CASCADE_STEP { CASCADE_STEP } else { 0 };
    let step = Point::from((step(room.x), step(room.y)));
    let inside = cascade(rect.loc, step, area.loc + room).chain(grid(area.loc, step, room));
    // Among one corner more than there are other windows, at least one is free.
    if let Some(corner) = inside.take(2 * others.len() + 2).find(is_free) {
        return corner;
    }
    let is_same = |other: &Rectangle<i32, Logical>| *other == rect;
    let last = area.loc + Point::from((area.size.w - REACHABLE, area.size.h - REACHABLE));
    let mut beyond = cascade(rect.loc, Point::from((CASCADE_STEP, CASCADE_STEP)), last);
    let corner = if others.iter().any(is_same) { beyond.find(is_free) } else { None };
    corner.unwrap_or(rect.loc)
}

/// Corners from `start` in steps of `by`, up to `last`.
fn cascade(
    start: Point<i32, Logical>,
    by: Point<i32, Logical>,
    last: Point<i32, Logical>,
) -> impl Iterator<Item = Point<i32, Logical>> {
    let steps = |room: i32, by: i32| if by == 0 { i32::MAX } else { room.div_euclid(by) };
    let count = match by {
        Point { x: 0, y: 0, .. } => 0,
        by => steps(last.x.saturating_sub(start.x), by.x).min(steps(last.y.saturating_sub(start.y), by.y)),
    };
    (0..=count).map(move |step| start + Point::from((by.x * step, by.y * step)))
}

/// All corners of an area from `start`, diagonal by diagonal, `by` apart.
fn grid(
    start: Point<i32, Logical>,
    by: Point<i32, Logical>,
    room: Point<i32, Logical>,
) -> impl Iterator<Item = Point<i32, Logical>> {
    let count = |room: i32, by: i32| if by == 0 { 0 } else { room / by };
    let (columns, rows) = (count(room.x, by.x), count(room.y, by.y));
    let row_starts = (0..=rows).map(|row| (0, row)).chain((1..=columns).map(|column| (column, 0)));
    row_starts.flat_map(move |(column, row)| {
        let length = (columns - column).min(rows - row);
        (0..=length).map(move |step| start + Point::from((by.x * (column + step), by.y * (row + step))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use smithay::utils::Size;

    proptest! {
        #[test]
        fn windows_of_one_place_are_apart_and_in_reach(
            w in 1..2000, h in 1..1200, x in 0..1280, y in 0..720, count in 1..9_usize,
        ) {
            let area = Rectangle::<i32, Logical>::new((1920, 30).into(), (1280, 690).into());
            let size = Size::from((w, h));
            let inside = super::super::keep_inside(Rectangle::new(area.loc + Point::from((x, y)), size), area);
            let mut taken = Vec::new();
            for _ in 0..count {
                let corner = apart(Rectangle::new(inside, size), area, &taken);
                let rect = Rectangle::new(corner, size);
                prop_assert!(!taken.contains(&rect), "{:?} of {:?}", corner, taken);
                let seen = rect.intersection(area).unwrap();
                prop_assert!(seen.size.w >= REACHABLE.min(w) && seen.size.h >= REACHABLE.min(h));
                taken.push(rect);
            }
        }
    }

    #[test]
    fn window_stays_inside_while_there_is_room() {
        let area = Rectangle::<i32, Logical>::new((0, 0).into(), (640, 360).into());
        let mut taken = Vec::new();
        for _ in 0..6 {
            let rect = Rectangle::<i32, Logical>::new((276, 96).into(), (300, 200).into());
            taken.push(Rectangle::new(apart(rect, area, &taken), rect.size));
        }
        let corners: Vec<_> = taken.iter().map(|rect| (rect.loc.x, rect.loc.y)).collect();
        assert_eq!(corners, [(276, 96), (308, 128), (340, 160), (0, 0), (32, 32), (64, 64)]);
    }
}
