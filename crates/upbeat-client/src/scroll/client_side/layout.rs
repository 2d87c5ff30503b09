//! Computes where a content is in a view, and which part of it is visible. Pure.

use super::super::{ContentRole, DocumentExtent, DocumentRegion};
use upbeat_timing::scroll::OffsetRanges;

/// The visible part of a content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VisiblePart {
    /// Its region in the view's coordinates.
    pub region: DocumentRegion,
    /// Its top left corner in the content's coordinates.
    pub from: (i64, i64),
}

/// The intersection of two regions; `None` if it is empty.
pub(super) fn intersection(one: DocumentRegion, other: DocumentRegion) -> Option<DocumentRegion> {
    let along = |one: DocumentExtent, other: DocumentExtent| {
        let (start, end) = (one.start.max(other.start), one.end().min(other.end()));
        (start < end).then_some(DocumentExtent { start, length: end - start })
    };
    Some(DocumentRegion { x: along(one.x, other.x)?, y: along(one.y, other.y)? })
}

/// The region of a content, not clipped, in a view with the offset `shown`.
pub(super) fn content_region(
    region: DocumentRegion,
    role: ContentRole,
    shown: (f64, f64),
    ranges: OffsetRanges,
) -> DocumentRegion {
    let moved =
        |x: f64, y: f64| DocumentRegion { x: region.x.moved(x.round() as i64), y: region.y.moved(y.round() as i64) };
    match role {
        ContentRole::Document => moved(-shown.0, -shown.1),
        ContentRole::Fixed => region,
        ContentRole::ThumbAcross { length } => moved(f64::from(length) * ranges.x.share(shown.0), 0.0),
        ContentRole::ThumbDown { length } => moved(0.0, f64::from(length) * ranges.y.share(shown.1)),
    }
}

/// The part of the region `lies` that is visible through `clip`, both in the view's coordinates; `None` if there is
/// none.
pub(super) fn visible_part(lies: DocumentRegion, clip: DocumentRegion) -> Option<VisiblePart> {
    let seen = intersection(lies, clip)?;
    Some(VisiblePart { region: seen, from: (seen.x.start - lies.x.start, seen.y.start - lies.y.start) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::scroll::OffsetRange;

    fn region(x: i64, y: i64, width: i64, height: i64) -> DocumentRegion {
        DocumentRegion { x: DocumentExtent { start: x, length: width }, y: DocumentExtent { start: y, length: height } }
    }

    fn ranges() -> OffsetRanges {
        OffsetRanges { x: OffsetRange::default(), y: OffsetRange { first: 0.0, last: 1_000.0 } }
    }

    #[test]
    fn a_tile_is_cut_off_at_the_edges_of_the_view() {
        let clip = region(0, 0, 100, 100);
        let at = |y: i64| {
            visible_part(content_region(region(0, y, 100, 50), ContentRole::Document, (0.0, 80.0), ranges()), clip)
        };
        assert_eq!(at(0), None);
        assert_eq!(at(50), Some(VisiblePart { region: region(0, 0, 100, 20), from: (0, 30) }));
        assert_eq!(at(100), Some(VisiblePart { region: region(0, 20, 100, 50), from: (0, 0) }));
        assert_eq!(at(150), Some(VisiblePart { region: region(0, 70, 100, 30), from: (0, 0) }));
        assert_eq!(at(180), None);
    }

    #[test]
    fn headers_stay_and_thumbs_go_along_their_track() {
        let thumb = ContentRole::ThumbDown { length: 60 };
        let at = |role, shown| content_region(region(90, 0, 10, 40), role, (0.0, shown), ranges()).y.start;
        assert_eq!(
            (at(ContentRole::Fixed, 500.0), at(thumb, 0.0), at(thumb, 500.0), at(thumb, 1_000.0)),
            (0, 0, 30, 60)
        );
    }
}
