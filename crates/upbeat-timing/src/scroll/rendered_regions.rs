//! The rendered parts of a document: one large buffer, a ring of tiles, or pieces in any order.
//!
//! Adjacent pieces that form a rectangle are joined, so that a ring of tiles is searched as fast as one large buffer.

use super::{DocumentExtent, DocumentRegion};

/// The most pieces that a document may be shown in.
pub const MOST_REGIONS: usize = 64;

/// A side of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollSide {
    /// The side towards smaller x.
    Left,
    /// The side towards larger x.
    Right,
    /// The side towards smaller y.
    Up,
    /// The side towards larger y.
    Down,
}

impl ScrollSide {
    /// The four sides of a region.
    pub const ALL: [ScrollSide; 4] = [ScrollSide::Left, ScrollSide::Right, ScrollSide::Up, ScrollSide::Down];

    /// `region` turned so that this side is at the bottom.
    const fn turned_down(self, region: DocumentRegion) -> DocumentRegion {
        const fn mirrored(extent: DocumentExtent) -> DocumentExtent {
            DocumentExtent { start: -extent.end(), length: extent.length }
        }
        let DocumentRegion { x, y } = region;
        match self {
            ScrollSide::Down => region,
            ScrollSide::Up => DocumentRegion { x, y: mirrored(y) },
            ScrollSide::Right => DocumentRegion { x: y, y: x },
            ScrollSide::Left => DocumentRegion { x: y, y: mirrored(x) },
        }
    }
}

/// The rendered parts of a document.
#[derive(Clone, Debug)]
pub struct RenderedRegions {
    regions: [DocumentRegion; MOST_REGIONS],
    count: usize,
}

impl Default for RenderedRegions {
    fn default() -> Self {
        RenderedRegions { regions: [DocumentRegion::default(); MOST_REGIONS], count: 0 }
    }
}

impl RenderedRegions {
    /// A cover of these regions; regions beyond [`MOST_REGIONS`] are left out.
    pub fn of(regions: impl IntoIterator<Item = DocumentRegion>) -> Self {
        let mut cover = RenderedRegions::default();
        regions.into_iter().for_each(|region| {
            cover.add(region);
        });
        cover
    }

    /// Adds a region. Returns whether there was room.
    pub fn add(&mut self, region: DocumentRegion) -> bool {
        let mut region = region;
        // Tiles come in rows or columns, and a complete row forms a rectangle with the rows before.
        while let Some(joined) = self.regions().last().and_then(|last| joined(*last, region)) {
            (self.count, region) = (self.count - 1, joined);
        }
        let Some(place) = self.regions.get_mut(self.count) else { return false };
        *place = region;
        self.count += 1;
        true
    }

    /// The pieces, with adjacent pieces joined.
    pub fn regions(&self) -> &[DocumentRegion] {
        &self.regions[..self.count]
    }

    /// Whether every pixel of `region` is rendered.
    pub fn covers(&self, region: DocumentRegion) -> bool {
        self.filled(region, ScrollSide::Down) == region.y.length || region.x.length <= 0
    }

    /// How many pixels the rendered `view` can move to this side until content is missing; at most `most`.
    pub fn reach(&self, view: DocumentRegion, side: ScrollSide, most: i64) -> i64 {
        let ahead = |extent: DocumentExtent, forward: bool| {
            let start = if forward { extent.end() } else { extent.start - most };
            DocumentExtent { start, length: most }
        };
        let strip = match side {
            ScrollSide::Left | ScrollSide::Right => {
                DocumentRegion { x: ahead(view.x, side == ScrollSide::Right), y: view.y }
            }
            ScrollSide::Up | ScrollSide::Down => {
                DocumentRegion { x: view.x, y: ahead(view.y, side == ScrollSide::Down) }
            }
        };
        self.filled(strip, side)
    }

    /// How many lines of `region` are rendered without a gap, beginning opposite to `side`.
    fn filled(&self, region: DocumentRegion, side: ScrollSide) -> i64 {
        let region = side.turned_down(region);
        let mut row = region.y.start;
        while row < region.y.end() {
            // Pieces that hold this row also hold the rows below, up to the first end of a piece.
            let (mut column, mut end) = (region.x.start, region.y.end());
            while column < region.x.end() {
                let here = |piece: &DocumentRegion| {
                    (piece.x.start..piece.x.end()).contains(&column) && (piece.y.start..piece.y.end()).contains(&row)
                };
                let pieces = self.regions().iter().map(|piece| side.turned_down(*piece));
                let Some(widest) = pieces.filter(here).max_by_key(|piece| piece.x.end()) else {
                    return row - region.y.start;
                };
                column = widest.x.end();
                end = end.min(widest.y.end());
            }
            row = end;
        }
        region.y.length.max(0)
    }
}

/// The union of both regions, if it is a rectangle.
fn joined(one: DocumentRegion, other: DocumentRegion) -> Option<DocumentRegion> {
    fn touch(one: DocumentExtent, other: DocumentExtent) -> bool {
        one.start <= other.end() && other.start <= one.end()
    }
    fn both(one: DocumentExtent, other: DocumentExtent) -> DocumentExtent {
        let start = one.start.min(other.start);
        DocumentExtent { start, length: one.end().max(other.end()) - start }
    }
    let is_column = one.x == other.x && touch(one.y, other.y);
    let is_row = one.y == other.y && touch(one.x, other.x);
    (is_column || is_row).then(|| DocumentRegion { x: both(one.x, other.x), y: both(one.y, other.y) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn region(x: i64, y: i64, width: i64, height: i64) -> DocumentRegion {
        DocumentRegion { x: DocumentExtent { start: x, length: width }, y: DocumentExtent { start: y, length: height } }
    }

    #[test]
    fn tiles_side_by_side_cover_what_lies_across_them() {
        let cover = RenderedRegions::of([region(0, 0, 10, 10), region(10, 0, 10, 10), region(0, 10, 10, 10)]);
        assert!(cover.covers(region(5, 2, 10, 8)));
        assert!(cover.covers(region(0, 0, 10, 20)));
        assert!(!cover.covers(region(5, 5, 10, 10)), "the tile at the corner is missing");
        assert_eq!(cover.reach(region(0, 0, 10, 5), ScrollSide::Down, 100), 15);
        assert_eq!(cover.reach(region(5, 0, 10, 5), ScrollSide::Down, 100), 5);
        assert_eq!(cover.reach(region(0, 0, 5, 10), ScrollSide::Right, 100), 15);
        assert_eq!(cover.reach(region(15, 2, 5, 5), ScrollSide::Left, 9), 9);
        assert_eq!(cover.reach(region(0, 12, 10, 5), ScrollSide::Up, 100), 12);
    }

    #[test]
    fn one_piece_more_than_there_is_room_for_is_not_there() {
        let mut cover = RenderedRegions::of((0..MOST_REGIONS as i64).map(|row| region(0, row * 20, 10, 10)));
        assert!(!cover.add(region(0, 5_000, 10, 10)));
        assert!(cover.covers(region(0, 1_260, 10, 10)) && !cover.covers(region(0, 5_000, 10, 10)));
        assert!(cover.add(region(0, 1_270, 10, 10)), "what is one with the last needs no room");
        assert!(cover.covers(region(0, 1_260, 10, 20)));
    }

    #[test]
    fn a_ring_of_tiles_is_one_piece_in_rows_and_in_columns() {
        let rows = RenderedRegions::of((0..64).map(|tile| region(tile % 8 * 10, tile / 8 * 10, 10, 10)));
        assert_eq!(rows.regions(), [region(0, 0, 80, 80)]);
        let columns = RenderedRegions::of((0..64).map(|tile| region(tile / 8 * 10, tile % 8 * 10, 10, 10)));
        assert_eq!(columns.regions(), [region(0, 0, 80, 80)]);
        let turned = RenderedRegions::of([8, 9, 2, 3, 4, 5, 6, 7].map(|tile| region(0, tile * 10, 10, 10)));
        assert_eq!(turned.regions(), [region(0, 20, 10, 80)], "a ring whose first tiles were reused");
    }

    proptest! {
        #[test]
        fn what_is_covered_is_what_pixel_by_pixel_is(
            pieces in proptest::collection::vec((0_i64..12, 0_i64..12, 1_i64..8, 1_i64..8), 0..12),
            (x, y, width, height) in (0_i64..12, 0_i64..12, 1_i64..6, 1_i64..6),
        ) {
            let cover = RenderedRegions::of(pieces.iter().map(|(x, y, width, height)| region(*x, *y, *width, *height)));
            let is_there = |x: i64, y: i64| {
                pieces.iter().any(|(left, top, width, height)| region(*left, *top, *width, *height).contains(region(x, y, 1, 1)))
            };
            let all_there = |area: DocumentRegion| {
                (area.y.start..area.y.end()).all(|y| (area.x.start..area.x.end()).all(|x| is_there(x, y)))
            };
            let view = region(x, y, width, height);
            prop_assert_eq!(cover.covers(view), all_there(view));
            if cover.covers(view) {
                for side in ScrollSide::ALL {
                    let reach = cover.reach(view, side, 20);
                    let moved = |by: i64| match side {
                        ScrollSide::Left => DocumentRegion { x: view.x.moved(-by), y: view.y },
                        ScrollSide::Right => DocumentRegion { x: view.x.moved(by), y: view.y },
                        ScrollSide::Up => DocumentRegion { x: view.x, y: view.y.moved(-by) },
                        ScrollSide::Down => DocumentRegion { x: view.x, y: view.y.moved(by) },
                    };
                    prop_assert!((0..=reach).all(|by| all_there(moved(by))), "{side:?} {reach}");
                    prop_assert!(reach == 20 || !all_there(moved(reach + 1)), "{side:?} {reach}");
                }
            }
        }
    }
}
