//! The client's settings of a view that determine its possible positions.

use super::motion::{OffsetRange, OffsetRanges};
use super::view_course::ScrollDistance;
use super::{DocumentExtent, DocumentRegion};
use crate::defaults::MOST_STRETCH;

/// The settings of a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewTerms<'a> {
    /// Width and height of the view, in pixels.
    pub size: (i64, i64),
    /// The extent of its document.
    pub document: DocumentRegion,
    /// Whether input moves the view (left and right, up and down).
    pub axes: (bool, bool),
    /// The part of its speed that a fling keeps from one millisecond to the next.
    pub keeps: f64,
    /// How far the view can be dragged beyond the document, in pixels.
    pub band: f64,
    /// Snap positions (left to right, top to bottom), in ascending order; empty: the view rests anywhere.
    pub snaps: (&'a [i32], &'a [i32]),
    /// Whether the fingers' positions are predicted for the time at which a frame is seen.
    pub predicts: bool,
    /// Where content is missing, the last rendered row or column is stretched, so that the view need not wait yet.
    /// Not for a view that moves both ways, since a corner has no last row.
    pub stretches: bool,
}

impl ViewTerms<'_> {
    /// The allowed offsets; only the document's beginning if the document is smaller than the view.
    pub fn ranges(&self) -> OffsetRanges {
        let axis = |document: DocumentExtent, length: i64| {
            let last = (document.end() - length).max(document.start);
            OffsetRange { first: document.start as f64, last: last as f64 }
        };
        OffsetRanges { x: axis(self.document.x, self.size.0), y: axis(self.document.y, self.size.1) }
    }

    /// The part of a distance along the axes on which input moves the view.
    pub fn along(&self, way: ScrollDistance) -> ScrollDistance {
        ScrollDistance { x: if self.axes.0 { way.x } else { 0.0 }, y: if self.axes.1 { way.y } else { 0.0 } }
    }

    /// The region of the document that is visible at this offset, to whole pixels.
    pub fn seen(&self, (x, y): (f64, f64)) -> DocumentRegion {
        let extent = |offset: f64, length: i64| {
            let start = offset.floor() as i64;
            DocumentExtent { start, length: (offset + length as f64).ceil() as i64 - start }
        };
        DocumentRegion { x: extent(x, self.size.0), y: extent(y, self.size.1) }
    }

    /// The visible region, clipped to the document.
    pub fn shown(&self, offset: (f64, f64)) -> DocumentRegion {
        let inside = |seen: DocumentExtent, document: DocumentExtent| {
            let start = seen.start.max(document.start);
            DocumentExtent { start, length: (seen.end().min(document.end()) - start).max(0) }
        };
        let seen = self.seen(offset);
        DocumentRegion { x: inside(seen.x, self.document.x), y: inside(seen.y, self.document.y) }
    }

    /// The part of the visible region that must be rendered: all of it, except for ends that may be stretched.
    pub fn needed(&self, offset: (f64, f64)) -> DocumentRegion {
        let seen = self.seen(offset);
        let inner = |extent: DocumentExtent| {
            let end = (extent.length as f64 * MOST_STRETCH) as i64;
            DocumentExtent { start: extent.start + end, length: (extent.length - 2 * end).max(1) }
        };
        match (self.stretches, self.axes) {
            (true, (true, false)) => DocumentRegion { x: inner(seen.x), y: seen.y },
            (true, (false, true)) => DocumentRegion { x: seen.x, y: inner(seen.y) },
            _ => seen,
        }
    }

    /// Where a motion to `goal` comes to rest: at the nearest snap position, along the axes on which it moves.
    pub fn snapped(&self, goal: (f64, f64), way: ScrollDistance) -> (f64, f64) {
        let snap = |list: &[i32], goal: f64, way: f64| {
            let after = list.partition_point(|position| f64::from(*position) < goal);
            let near = [after.checked_sub(1), Some(after)].into_iter().flatten().filter_map(|index| list.get(index));
            let nearest =
                near.map(|position| f64::from(*position)).min_by(|a, b| (a - goal).abs().total_cmp(&(b - goal).abs()));
            nearest.filter(|_| way != 0.0).unwrap_or(goal)
        };
        (snap(self.snaps.0, goal.0, way.x), snap(self.snaps.1, goal.1, way.y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> ViewTerms<'static> {
        ViewTerms {
            size: (400, 600),
            document: DocumentRegion::default(),
            axes: (true, true),
            keeps: 0.998,
            band: 0.0,
            snaps: (&[], &[]),
            predicts: true,
            stretches: false,
        }
    }

    #[test]
    fn the_ends_of_a_view_that_stretches_need_not_be_there_along_the_one_axis_that_it_moves_on() {
        let offset = (0.0, 1_000.0);
        let whole = terms().seen(offset);
        let down = ViewTerms { axes: (false, true), stretches: true, ..terms() };
        assert_eq!(down.needed(offset), DocumentRegion { x: whole.x, y: DocumentExtent { start: 1_150, length: 300 } });
        let across = ViewTerms { axes: (true, false), ..down };
        assert_eq!(across.needed(offset), DocumentRegion { x: DocumentExtent { start: 100, length: 200 }, y: whole.y });
        assert_eq!(ViewTerms { axes: (true, true), ..down }.needed(offset), whole);
        assert_eq!(ViewTerms { stretches: false, ..down }.needed(offset), whole);
    }

    #[test]
    fn a_motion_ends_at_the_snap_next_to_its_goal_along_the_axes_that_it_goes() {
        let view = ViewTerms { snaps: (&[0, 500], &[0, 100, 300]), ..terms() };
        let down = ScrollDistance { x: 0.0, y: 1.0 };
        assert_eq!(view.snapped((240.0, 90.0), down), (240.0, 100.0));
        assert_eq!(view.snapped((240.0, 190.0), down), (240.0, 100.0));
        assert_eq!(view.snapped((240.0, 9_000.0), ScrollDistance { x: 1.0, y: 1.0 }), (0.0, 300.0));
        assert_eq!(terms().snapped((1.0, 2.0), down), (1.0, 2.0));
    }

    #[test]
    fn a_view_between_pixels_needs_those_on_both_of_its_sides() {
        let region = ViewTerms { size: (100, 50), ..terms() }.seen((0.0, 10.5));
        assert_eq!((region.x.length, region.y.start, region.y.length), (100, 10, 51));
    }

    #[test]
    fn a_view_stays_in_its_document_and_at_the_beginning_of_a_short_one() {
        let document = DocumentRegion {
            x: DocumentExtent { start: -100, length: 300 },
            y: DocumentExtent { start: 50, length: 5_000 },
        };
        let ranges = ViewTerms { document, ..terms() }.ranges();
        assert_eq!((ranges.x.first, ranges.x.last), (-100.0, -100.0));
        assert_eq!((ranges.y.first, ranges.y.last), (50.0, 4_450.0));
    }
}
