//! Placement of new windows: pure geometry.

mod cascade;
mod occupancy_grid;
mod output_areas;
mod reach;

pub use cascade::apart;
use occupancy_grid::OccupancyGrid;
pub use output_areas::{AreasChange, Displacement, FloatingPlace, OutputAreas};
pub use reach::{REACHABLE, keep_inside, keep_reachable, move_within_reach};
use smithay::utils::{Logical, Point, Rectangle, Size};

/// Offset between windows that would have the same corner, in logical pixels: about a title bar.
const CASCADE_STEP: i32 = 32;
/// Without a free place, only this many of the topmost windows are avoided: on such a full screen something is covered
/// anyway, and the number of candidates grows with the square of the number of windows.
const MOST_HEEDED: usize = 32;
/// Limit on checks of a window or column in the search for a free place; they take a tenth of a millisecond. That
/// suffices for every row beside fifty windows at any places, and beside two hundred windows of one size. With more
/// windows only the rows nearest to the middle are tried.
const MOST_LOOKS: usize = 20_000;

/// The top left corner for a new window of `size`: the place that covers the least of other windows, and among equal
/// places the one nearest to the middle of `area`. `others`: bottom to top. A window larger than the area starts at its
/// corner.
///
/// Candidates are the middle and the corners beside the edges of the other windows. If all of them cover something
/// equally large, windows cascade down and right from the middle ([`apart`]).
pub fn place(
    size: Size<i32, Logical>,
    area: Rectangle<i32, Logical>,
    others: &[Rectangle<i32, Logical>],
) -> Point<i32, Logical> {
    let room = (area.size.w - size.w, area.size.h - size.h);
    let centre = area.loc + Point::from((room.0.max(0) / 2, room.1.max(0) / 2));
    let may_be_free = OccupancyGrid::of(others, area).may_fit(size);
    if let Some(free) = may_be_free.then(|| find_free_place(size, area, centre, others, MOST_LOOKS)).flatten() {
        return free;
    }
    let heeded = &others[others.len().saturating_sub(MOST_HEEDED)..];
    let (columns, rows) = (columns(size, area, centre, heeded), rows(size, area, centre, heeded));
    let corner = least_covering(size, &columns, &rows, heeded, centre).unwrap_or(centre);
    apart(Rectangle::new(corner, size), area, others)
}

/// The free place nearest to `centre` among the candidates, if about `looks` checks suffice to find one.
///
/// A row is scanned from left to right, past windows and candidates in order of their left edges.
fn find_free_place(
    size: Size<i32, Logical>,
    area: Rectangle<i32, Logical>,
    centre: Point<i32, Logical>,
    others: &[Rectangle<i32, Logical>],
    mut looks: usize,
) -> Option<Point<i32, Logical>> {
    let columns = columns(size, area, centre, others);
    let mut rows = rows(size, area, centre, others);
    rows.sort_by_key(|row| (i64::from(*row) - i64::from(centre.y)).abs());
    let mut sorted = others.to_vec();
    sorted.sort_by_key(|other| other.loc.x);
    // Among equally near places, the upper place wins, then the left one.
    let mut best: Option<(i64, i32, i32)> = None;
    for row in rows {
        let nearest = distance(Point::from((centre.x, row)), centre);
        let Some(left) = looks.checked_sub(columns.len() + sorted.len()) else { break };
        if best.is_some_and(|(distance, ..)| distance < nearest) {
            break;
        }
        looks = left;
        let in_the_way = sorted.iter().filter(|other| {
            i64::from(other.loc.y) < i64::from(row) + i64::from(size.h)
                && i64::from(row) < i64::from(other.loc.y) + i64::from(other.size.h)
        });
        let mut in_the_way = in_the_way.peekable();
        // Right edge of all windows that begin left of the candidate's right edge.
        let mut taken_until = i64::MIN;
        for column in &columns {
            let right = i64::from(*column) + i64::from(size.w);
            while let Some(other) = in_the_way.next_if(|other| i64::from(other.loc.x) < right) {
                taken_until = taken_until.max(i64::from(other.loc.x) + i64::from(other.size.w));
            }
            let place = (distance(Point::from((*column, row)), centre), row, *column);
            if taken_until <= i64::from(*column) && best.is_none_or(|best| place < best) {
                best = Some(place);
            }
        }
    }
    best.map(|(_, y, x)| Point::from((x, y)))
}

/// The corner in these `columns` and `rows` that covers the least of `others`, and among equal corners the nearest to
/// `centre`. Overlaps are computed once per column and once per row, instead of once per corner.
fn least_covering(
    size: Size<i32, Logical>,
    columns: &[i32],
    rows: &[i32],
    others: &[Rectangle<i32, Logical>],
    centre: Point<i32, Logical>,
) -> Option<Point<i32, Logical>> {
    let along = |x: &i32| others.iter().map(|other| common((*x, size.w), (other.loc.x, other.size.w))).collect();
    let widths: Vec<Vec<i64>> = columns.iter().map(along).collect();
    let mut best: Option<(i64, i64, Point<i32, Logical>)> = None;
    let mut heights = Vec::with_capacity(others.len());
    for y in rows {
        heights.clear();
        let down = others.iter().map(|other| common((*y, size.h), (other.loc.y, other.size.h)));
        heights.extend(down.enumerate().filter(|(_, height)| *height > 0));
        for (x, widths) in columns.iter().zip(&widths) {
            let corner = Point::from((*x, *y));
            let covered = heights.iter().map(|(other, height)| widths[*other] * height).sum();
            if best.is_some_and(|(least, ..)| least < covered) {
                continue;
            }
            let found = (covered, distance(corner, centre), corner);
            if best.is_none_or(|(least, nearest, _)| (found.0, found.1) < (least, nearest)) {
                best = Some(found);
            }
        }
    }
    best.map(|(.., corner)| corner)
}

/// Length of the overlap of two ranges (start and length).
fn common((a, a_length): (i32, i32), (b, b_length): (i32, i32)) -> i64 {
    let end = a.saturating_add(a_length).min(b.saturating_add(b_length));
    (i64::from(end) - i64::from(a.max(b))).max(0)
}

fn columns(
    size: Size<i32, Logical>,
    area: Rectangle<i32, Logical>,
    centre: Point<i32, Logical>,
    others: &[Rectangle<i32, Logical>],
) -> Vec<i32> {
    let others = others.iter().map(|other| (other.loc.x, other.size.w));
    edges(centre.x, area.loc.x, area.size.w - size.w, size.w, others)
}

fn rows(
    size: Size<i32, Logical>,
    area: Rectangle<i32, Logical>,
    centre: Point<i32, Logical>,
    others: &[Rectangle<i32, Logical>],
) -> Vec<i32> {
    let others = others.iter().map(|other| (other.loc.y, other.size.h));
    edges(centre.y, area.loc.y, area.size.h - size.h, size.h, others)
}

/// Positions along one axis at which a window of length `size` is centred, at an edge of the area, or beside another
/// window.
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

/// The top left corner that gives `rect` the same relative position in the area `to` as in `from`.
pub fn map_between_areas(
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area() -> Rectangle<i32, Logical> {
        Rectangle::new((1920, 0).into(), (1280, 720).into())
    }

    /// Area of `others` covered by `rect`, in pixels; a pixel counts once for each window that it covers.
    fn covered(rect: Rectangle<i32, Logical>, others: &[Rectangle<i32, Logical>]) -> i64 {
        let common = others.iter().filter_map(|other| other.intersection(rect));
        common.map(|common| i64::from(common.size.w) * i64::from(common.size.h)).sum()
    }

    proptest! {
        #[test]
        fn of_all_places_the_one_that_covers_least_is_found(
            others in proptest::collection::vec((1900..3000, -50..700, 1..900, 1..500), 0..20),
            columns in proptest::collection::vec(1920..3000, 1..12),
            rows in proptest::collection::vec(0..700, 1..12),
        ) {
            let rect = |&(x, y, w, h): &(i32, i32, i32, i32)| Rectangle::new((x, y).into(), (w, h).into());
            let others: Vec<_> = others.iter().map(rect).collect();
            let (size, centre) = (Size::from((320, 240)), Point::from((2400, 240)));
            let places = rows.iter().flat_map(|y| columns.iter().map(|x| Point::from((*x, *y))));
            let cost = |corner: Point<i32, Logical>| {
                (covered(Rectangle::new(corner, size), &others), distance(corner, centre))
            };
            let found = least_covering(size, &columns, &rows, &others, centre).unwrap();
            prop_assert_eq!(cost(found), places.map(cost).min().unwrap());
        }

        #[test]
        fn a_window_that_fits_is_placed_on_the_screen(w in 1..1280, h in 1..720, others in 0..40_usize) {
            let mut rects = Vec::new();
            // Windows that leave no room for more than some corners stick out once these are taken.
            let corners = ((1280 - w) / CASCADE_STEP + 1) * ((720 - h) / CASCADE_STEP + 1);
            for _ in 0..=others {
                let rect = Rectangle::new(place((w, h).into(), area(), &rects), (w, h).into());
                prop_assert!(area().contains_rect(rect) || rects.len() as i32 >= corners, "{:?} {:?}", rect, rects);
                // Twenty more fit below each other before the next would be out of reach.
                prop_assert!(!rects.contains(&rect) || rects.len() as i32 > corners + 20, "{:?} {:?}", rect, rects);
                rects.push(rect);
            }
        }

        #[test]
        fn a_place_that_covers_nothing_is_found_where_there_is_one_and_it_is_the_nearest(
            windows in proptest::collection::vec((-100..1280, -100..720, 1..500, 1..400), 0..40),
            w in 1..600, h in 1..500,
        ) {
            let windows: Vec<Rectangle<i32, Logical>> = windows
                .into_iter()
                .map(|(x, y, w, h)| Rectangle::new(area().loc + Point::from((x, y)), (w, h).into()))
                .collect();
            let size = Size::from((w, h));
            let centre = area().loc + Point::from(((1280 - w) / 2, (720 - h) / 2));
            let (columns, rows) = (columns(size, area(), centre, &windows), rows(size, area(), centre, &windows));
            let places = rows.iter().flat_map(|y| columns.iter().map(|x| Point::from((*x, *y))));
            let is_free = |corner: &Point<i32, Logical>| covered(Rectangle::new(*corner, size), &windows) == 0;
            let nearest = places.filter(is_free).map(|corner| distance(corner, centre)).min();
            let found = place(size, area(), &windows);
            if let Some(nearest) = nearest {
                prop_assert!(is_free(&found), "{:?}", found);
                prop_assert_eq!(distance(found, centre), nearest);
            }
        }

        #[test]
        fn carried_to_another_screen_it_lies_in_the_same_part(x in -3000..3000, y in -3000..3000, w in 1..1280, h in 1..720) {
            let other = Rectangle::new((-500, 700).into(), (1920, 1080).into());
            let rect = Rectangle::new((x, y).into(), (w, h).into());
            let there = Rectangle::new(map_between_areas(rect, area(), other), rect.size);
            prop_assert!(other.contains_rect(there));
            if area().contains_rect(rect) {
                // Rounding: a pixel of the small screen's room corresponds to several pixels of the large screen's
                // room.
                let back = map_between_areas(there, other, area());
                prop_assert!((back.x - x).abs() <= 1 && (back.y - y).abs() <= 1, "{:?} {:?}", back, rect);
            }
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
    fn beside_a_thousand_windows_a_free_place_near_the_middle_is_found_with_a_bounded_number_of_looks() {
        // A wall of small windows with a gap near the middle, some of them a pixel off, so that many edges differ.
        let small = Size::from((20, 20));
        let gap = Rectangle::<i32, Logical>::new(area().loc + Point::from((600, 340)), (80, 60).into());
        let mut windows: Vec<_> = (0..64 * 36)
            .map(|n| area().loc + Point::from((n % 64 * 20 + n % 3 - 1, n / 64 * 20 + n % 2)))
            .map(|corner| Rectangle::new(corner, small))
            .filter(|window| !window.overlaps(gap))
            .collect();
        windows.truncate(2_000);
        let size = Size::from((50, 40));
        let found = Rectangle::new(place(size, area(), &windows), size);
        assert_eq!(covered(found, &windows), 0, "{found:?}");
        // A row is only scanned if enough checks are left for it.
        let centre = area().loc + Point::from((615, 340));
        assert_eq!(find_free_place(size, area(), centre, &windows, windows.len()), None);
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
