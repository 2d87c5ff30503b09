//! Splits a document into tiles of one size, and tracks which tiles are rendered and which a region still needs. Pure.
//!
//! ```text
//!   document   cells          wanted next: 4–8       4 and 5 stay, the slots of 1–3 take 6–8
//!      ├──────┬──────┬ … ┤
//!      │  1   │  2   │        a slot is a content with its buffer; a cell is a place of the document
//! ```

use super::{DocumentExtent, DocumentRegion};

/// A tile that must be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The content that shows it, from 0 to the number of slots − 1.
    pub slot: usize,
    /// The part of the document that it shows.
    pub region: DocumentRegion,
}

/// Assigns the tiles of a document to a fixed number of slots.
#[derive(Clone, Debug)]
pub struct TileRing {
    /// Width and height of a tile.
    tile: (i64, i64),
    cells: Vec<Option<(i64, i64)>>,
}

impl TileRing {
    /// Creates a ring of `slots` slots, with tiles of this width and height (at least 1).
    pub fn new(tile: (i64, i64), slots: usize) -> Self {
        TileRing { tile: (tile.0.max(1), tile.1.max(1)), cells: vec![None; slots] }
    }

    /// The number of slots for a view of this size with tiles of this size: enough for the largest region that a
    /// budget of so many pixels allows. At most 64, the limit of a view.
    pub fn slots_for(budget: i64, view: (i64, i64), tile: (i64, i64)) -> usize {
        let rows = (budget / view.0.max(1)).max(view.1) / tile.1.max(1) + 2;
        let columns = (view.0 + tile.0.max(1) - 1) / tile.0.max(1);
        (rows * columns).clamp(1, 64) as usize
    }

    /// The part of the document in a slot; `None` if the slot is empty.
    pub fn region(&self, slot: usize) -> Option<DocumentRegion> {
        Some(self.region_of(*self.cells.get(slot)?.as_ref()?))
    }

    /// The tiles that must be rendered for the region `wanted`, the nearest to its middle first. They count as
    /// rendered from now on; tiles outside of the region give up their slots for them.
    pub fn fill(&mut self, wanted: DocumentRegion) -> Vec<Tile> {
        let mut missing: Vec<(i64, i64)> = self.cells_of(wanted).collect();
        missing.retain(|cell| !self.cells.contains(&Some(*cell)));
        let (middle_x, middle_y) = (middle(wanted.x), middle(wanted.y));
        let distance = |cell: &(i64, i64)| {
            let region = self.region_of(*cell);
            (middle(region.x) - middle_x).abs().max((middle(region.y) - middle_y).abs())
        };
        missing.sort_by_key(distance);
        let is_free = |cell: &Option<(i64, i64)>| cell.is_none_or(|cell| !self.region_of(cell).overlaps(wanted));
        let free: Vec<usize> = (0..self.cells.len()).filter(|slot| is_free(&self.cells[*slot])).collect();
        let taken: Vec<(usize, (i64, i64))> = free.into_iter().zip(missing).collect();
        for (slot, cell) in &taken {
            self.cells[*slot] = Some(*cell);
        }
        taken.into_iter().map(|(slot, cell)| Tile { slot, region: self.region_of(cell) }).collect()
    }

    fn region_of(&self, (column, row): (i64, i64)) -> DocumentRegion {
        let extent = |index: i64, length: i64| DocumentExtent { start: index * length, length };
        DocumentRegion { x: extent(column, self.tile.0), y: extent(row, self.tile.1) }
    }

    fn cells_of(&self, region: DocumentRegion) -> impl Iterator<Item = (i64, i64)> + use<> {
        let along = |extent: DocumentExtent, length: i64| {
            extent.start.div_euclid(length)..(extent.end() - 1).div_euclid(length) + 1
        };
        let (columns, rows) = (along(region.x, self.tile.0), along(region.y, self.tile.1));
        rows.flat_map(move |row| columns.clone().map(move |column| (column, row)))
    }
}

const fn middle(extent: DocumentExtent) -> i64 {
    extent.start + extent.length / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(start: i64, length: i64) -> DocumentRegion {
        DocumentRegion { x: DocumentExtent { start: 0, length: 100 }, y: DocumentExtent { start, length } }
    }

    #[test]
    fn needed_tiles_stay_and_tiles_left_behind_free_their_slots() {
        let mut ring = TileRing::new((100, 50), 6);
        let first = ring.fill(rows(0, 200));
        assert_eq!(first.len(), 4);
        assert_eq!(ring.fill(rows(10, 180)), []);
        let next = ring.fill(rows(110, 200));
        let tops: Vec<i64> = next.iter().map(|tile| tile.region.y.start).collect();
        assert_eq!(tops, [200, 250, 300], "from the middle outwards");
        let kept: Vec<i64> = (0..6).filter_map(|slot| ring.region(slot)).map(|region| region.y.start).collect();
        assert!([100, 150, 200, 250, 300].iter().all(|top| kept.contains(top)), "{kept:?}");
    }

    #[test]
    fn a_document_may_begin_before_zero() {
        let mut ring = TileRing::new((100, 50), 4);
        let tiles = ring.fill(rows(-60, 70));
        let mut tops: Vec<i64> = tiles.iter().map(|tile| tile.region.y.start).collect();
        tops.sort_unstable();
        assert_eq!(tops, [-100, -50, 0]);
    }

    proptest! {
        #[test]
        fn wanted_region_is_covered_with_enough_slots(starts in proptest::collection::vec(-5_000i64..5_000, 1..20)) {
            let slots = TileRing::slots_for(100 * 400, (100, 120), (100, 64));
            let mut ring = TileRing::new((100, 64), slots);
            for start in starts {
                let wanted = rows(start, 400);
                ring.fill(wanted);
                for row in start..start + 400 {
                    let is_there = (0..slots).filter_map(|slot| ring.region(slot)).any(|tile| tile.contains(rows(row, 1)));
                    prop_assert!(is_there, "row {row} of {wanted:?}");
                }
            }
        }
    }
}
