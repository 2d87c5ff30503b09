//! Memory of the content that a client holds: ahead of its view, behind it, and in spare buffers. Pure.

use super::view_path::ViewPath;
use upbeat_timing::scroll::DocumentExtent;
use upbeat_timing::time::{Instant, Span};

/// Tiles of a client right after a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeldContent {
    /// Time of the commit.
    pub at: Instant,
    /// The tiles that contents show, along the scroll axis.
    pub tiles: Vec<DocumentExtent>,
    /// Number of buffers that have been drawn to and that no content shows.
    pub spare: usize,
}

/// Memory in pixels. All three together with the visible content are the memory that the client uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeldPixels {
    pub ahead: i64,
    pub behind: i64,
    pub spare: i64,
}

impl HeldContent {
    /// The memory when a view of `length` pixels has this offset. `to_larger`: the view moves to larger offsets.
    /// `tile`: length of a tile. All lengths are along the scroll axis, and so are the pixels of the result.
    pub fn pixels(&self, offset: i64, to_larger: bool, length: i64, tile: i64) -> HeldPixels {
        let within =
            |extent: &DocumentExtent, from: i64, to: i64| (extent.end().min(to) - extent.start.max(from)).max(0);
        let sum = |from: i64, to: i64| self.tiles.iter().map(|extent| within(extent, from, to)).sum();
        let (before, after) = (sum(i64::MIN, offset), sum(offset + length, i64::MAX));
        let (ahead, behind) = if to_larger { (after, before) } else { (before, after) };
        HeldPixels { ahead, behind, spare: self.spare as i64 * tile }
    }
}

/// The largest memory of each kind in a run whose course began at `began`; parameters as in [`HeldContent::pixels`].
pub(super) fn peak(held: &[HeldContent], path: &ViewPath, began: Instant, length: i64, tile: i64) -> HeldPixels {
    let pixels = held.iter().map(|held| {
        let after = if held.at < began { Span::ZERO } else { held.at - began };
        held.pixels(path.offset(after) as i64, path.goes_on_to_larger(after), length, tile)
    });
    pixels.fold(HeldPixels::default(), |most, now| HeldPixels {
        ahead: most.ahead.max(now.ahead),
        behind: most.behind.max(now.behind),
        spare: most.spare.max(now.spare),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_ahead_or_behind_by_the_direction_of_the_view() {
        let tiles = (0..6).map(|tile| DocumentExtent { start: tile * 100, length: 100 }).collect();
        let held = HeldContent { at: Instant::ZERO, tiles, spare: 3 };
        // The view shows 150 to 350.
        let down = HeldPixels { ahead: 250, behind: 150, spare: 300 };
        assert_eq!(held.pixels(150, true, 200, 100), down);
        assert_eq!(held.pixels(150, false, 200, 100), HeldPixels { ahead: 150, behind: 250, ..down });
    }
}
