//! Computes where a content is in a view, and which part of it is visible. Pure.

use super::super::{ContentRole, Extent, Region};
use upbeat_timing::scroll::Ranges;

/// The visible part of a content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Placed {
    /// Its region in the view's coordinates.
    pub seen: Region,
    /// Its top left corner in the content's coordinates.
    pub from: (i64, i64),
}

/// The intersection of two regions; `None` if it is empty.
pub(super) fn common(one: Region, other: Region) -> Option<Region> {
    let along = |one: Extent, other: Extent| {
        let (start, end) = (one.start.max(other.start), one.end().min(other.end()));
        (start < end).then_some(Extent { start, length: end - start })
    };
    Some(Region { x: along(one.x, other.x)?, y: along(one.y, other.y)? })
}

/// The region of a content, not clipped, in a view with the offset `shown`.
pub(super) fn lies(region: Region, role: ContentRole, shown: (f64, f64), ranges: Ranges) -> Region {
    let moved = |x: f64, y: f64| Region { x: region.x.moved(x.round() as i64), y: region.y.moved(y.round() as i64) };
    match role {
        ContentRole::Document => moved(-shown.0, -shown.1),
        ContentRole::Fixed => region,
        ContentRole::ThumbAcross { length } => moved(f64::from(length) * ranges.x.share(shown.0), 0.0),
        ContentRole::ThumbDown { length } => moved(0.0, f64::from(length) * ranges.y.share(shown.1)),
    }
}

/// The part of the region `lies` that is visible through `clip`, both in the view's coordinates; `None` if there is
/// none.
pub(super) fn placed(lies: Region, clip: Region) -> Option<Placed> {
    let seen = common(lies, clip)?;
    Some(Placed { seen, from: (seen.x.start - lies.x.start, seen.y.start - lies.y.start) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::scroll::Range;

    fn region(x: i64, y: i64, width: i64, height: i64) -> Region {
        Region { x: Extent { start: x, length: width }, y: Extent { start: y, length: height } }
    }

    fn ranges() -> Ranges {
        Ranges { x: Range::default(), y: Range { first: 0.0, last: 1_000.0 } }
    }

    #[test]
    fn a_tile_is_cut_off_at_the_edges_of_the_view() {
        let clip = region(0, 0, 100, 100);
        let at = |y: i64| placed(lies(region(0, y, 100, 50), ContentRole::Document, (0.0, 80.0), ranges()), clip);
        assert_eq!(at(0), None);
        assert_eq!(at(50), Some(Placed { seen: region(0, 0, 100, 20), from: (0, 30) }));
        assert_eq!(at(100), Some(Placed { seen: region(0, 20, 100, 50), from: (0, 0) }));
        assert_eq!(at(150), Some(Placed { seen: region(0, 70, 100, 30), from: (0, 0) }));
        assert_eq!(at(180), None);
    }

    #[test]
    fn headers_stay_and_thumbs_go_along_their_track() {
        let thumb = ContentRole::ThumbDown { length: 60 };
        let at = |role, shown| lies(region(90, 0, 10, 40), role, (0.0, shown), ranges()).y.start;
        assert_eq!(
            (at(ContentRole::Fixed, 500.0), at(thumb, 0.0), at(thumb, 500.0), at(thumb, 1_000.0)),
            (0, 0, 30, 60)
        );
    }
}
