//! Fast test whether there can be a free place for a window at all, with one check per window. Beside hundreds of
//! windows a free place is rare, and the search for it checks all of them for every row.

use smithay::utils::{Logical, Rectangle, Size};

/// Cells along each side of the area: the bits of a row.
const CELLS: i32 = u64::BITS as i32;

/// Grid of the cells of an area that are touched by windows.
#[derive(Debug)]
pub(super) struct OccupancyGrid {
    area: Rectangle<i32, Logical>,
    /// Size of a cell, in logical pixels.
    cell: Size<i32, Logical>,
    /// Rows of bits, set for cells that are touched or do not lie wholly within the area.
    taken: [u64; CELLS as usize],
}

impl OccupancyGrid {
    pub fn of(others: &[Rectangle<i32, Logical>], area: Rectangle<i32, Logical>) -> Self {
        let along = |length: i32| cells_of(length, CELLS).max(1);
        let cell: Size<i32, Logical> = (along(area.size.w), along(area.size.h)).into();
        let outside = !bits(0, area.size.w / cell.w);
        let rows = area.size.h / cell.h;
        let taken = std::array::from_fn(|row| if (row as i32) < rows { outside } else { u64::MAX });
        let mut grid = OccupancyGrid { area, cell, taken };
        others.iter().for_each(|other| grid.mark_occupied(*other));
        grid
    }

    fn mark_occupied(&mut self, other: Rectangle<i32, Logical>) {
        let Some(inside) = other.intersection(self.area).filter(|inside| !inside.is_empty()) else { return };
        let at = inside.loc - self.area.loc;
        let (left, right) = (at.x / self.cell.w, cells_of(at.x + inside.size.w, self.cell.w));
        let (top, bottom) = (at.y / self.cell.h, cells_of(at.y + inside.size.h, self.cell.h));
        let touched = bits(left, right);
        self.taken[top as usize..bottom as usize].iter_mut().for_each(|row| *row |= touched);
    }

    /// Whether a window of `size` may fit between the other windows. Wherever the window is, it contains a certain
    /// number of whole cells, which must be free then. If it is too small to contain a whole cell, the answer is
    /// `true`.
    pub fn may_fit(&self, size: Size<i32, Logical>) -> bool {
        let whole = |length: i32, area: i32, cell: i32| (length.min(area) + 1) / cell - 1;
        let across = whole(size.w, self.area.size.w, self.cell.w);
        let down = whole(size.h, self.area.size.h, self.cell.h);
        if across < 1 || down < 1 {
            return true;
        }
        let mut free_rows = self.taken.map(|row| free_runs(!row, across));
        // AND each row with the rows below: a bit stays set if the cell starts a free column of this height.
        (1..down).for_each(|_| (1..free_rows.len()).for_each(|row| free_rows[row - 1] &= free_rows[row]));
        free_rows[..free_rows.len() - (down as usize - 1).min(free_rows.len())].iter().any(|row| *row != 0)
    }
}

/// Number of pieces of length `each` that cover `length`.
const fn cells_of(length: i32, each: i32) -> i32 {
    (length + each - 1) / each
}

/// The bits from `first` on, before `end`.
fn bits(first: i32, end: i32) -> u64 {
    let below = |bit: i32| if bit >= CELLS { u64::MAX } else { (1 << bit) - 1 };
    below(end) & !below(first)
}

/// Starts of runs of `length` free bits in `free`.
fn free_runs(free: u64, length: i32) -> u64 {
    (1..length).fold(free, |runs, _| runs & (runs >> 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smithay::utils::Point;

    use super::*;

    #[test]
    fn full_area_is_detected_and_free_area_is_not_excluded() {
        let area = Rectangle::new((0, 0).into(), (1920, 1080).into());
        let columns =
            |width: i32| (0..1920 / width).map(move |n| Rectangle::new((n * width, 0).into(), (width, 1080).into()));
        let full: Vec<_> = columns(320).collect();
        assert!(!OccupancyGrid::of(&full, area).may_fit((320, 240).into()));
        assert!(OccupancyGrid::of(&full[1..], area).may_fit((320, 240).into()));
        assert!(!OccupancyGrid::of(&full[1..], area).may_fit((640, 240).into()));
        assert!(OccupancyGrid::of(&full, area).may_fit((8, 8).into()), "nothing is known of one smaller than a cell");
    }

    proptest! {
        #[test]
        fn no_room_is_missed(
            others in proptest::collection::vec((-100..1300, -100..800, 1..500, 1..400), 0..30),
            area in (-500..500, -500..500, 1..1400, 1..900),
            place in (0..1400_i32, 0..900_i32, 1..700, 1..500),
        ) {
            let area: Rectangle<i32, Logical> = Rectangle::new((area.0, area.1).into(), (area.2, area.3).into());
            let size: Size<i32, Logical> = (place.2, place.3).into();
            let room = (area.size.w - size.w, area.size.h - size.h);
            let corner = area.loc + Point::<i32, Logical>::from((place.0.min(room.0.max(0)), place.1.min(room.1.max(0))));
            let ours = Rectangle::new(corner, size);
            let others: Vec<_> = others
                .iter()
                .map(|(x, y, w, h)| Rectangle::new(area.loc + Point::<i32, Logical>::from((*x, *y)), (*w, *h).into()))
                .filter(|other| !other.overlaps(ours))
                .collect();
            prop_assert!(OccupancyGrid::of(&others, area).may_fit(size));
        }
    }
}
