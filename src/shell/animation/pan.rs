//! Scrolling of a strip's columns by a gesture, and the animation after its release.
//!
//! The layout has the places of the columns. A *pan* is the horizontal offset, in logical pixels, at which all columns
//! of a workspace are drawn. At the release the layout scrolls to the new position, and its scroll distance is
//! subtracted from the pan, so that nothing jumps.

use super::animated_value::AnimatedValue;
use super::{EDGE_TOLERANCE, FrameTimes};
use crate::shell::workspaces::WorkspaceId;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::dragged::DraggedValue;
use upbeat_timing::time::Instant;

/// Workspaces whose columns are drawn at an offset.
#[derive(Debug, Default)]
pub struct ColumnPans(Vec<ColumnPan>);

#[derive(Debug)]
struct ColumnPan {
    place: WorkspaceId,
    value: AnimatedValue,
}

impl ColumnPans {
    /// Offset to the right of a workspace's columns in the frame presented at `present`.
    pub fn at(&self, place: WorkspaceId, present: Instant) -> f64 {
        self.find(place).map_or(0.0, |pan| pan.value.at(0.0, present))
    }

    /// Whether the offset changes after that frame.
    pub fn moves_after(&self, place: WorkspaceId, present: Instant) -> bool {
        self.find(place).is_some_and(|pan| pan.value.moves_after(present))
    }

    fn find(&self, place: WorkspaceId) -> Option<&ColumnPan> {
        self.0.iter().find(|pan| pan.place == place)
    }

    /// A gesture starts to hold the columns.
    pub fn hold(&mut self, place: WorkspaceId, gesture: DraggedValue) {
        self.0.retain(|pan| pan.place != place);
        self.0.push(ColumnPan { place, value: AnimatedValue::HeldByGesture(Box::new(gesture)) });
    }

    /// The gesture that holds the columns.
    pub fn gesture(&mut self, place: WorkspaceId) -> Option<&mut DraggedValue> {
        self.0.iter_mut().find(|pan| pan.place == place)?.value.gesture()
    }

    /// The gesture releases the columns at time `at`.
    pub fn release(&mut self, place: WorkspaceId, at: Instant) {
        self.0.iter_mut().filter(|pan| pan.place == place).for_each(|pan| pan.value.release(at));
    }

    /// Called when workspaces have new numbers: no columns move.
    pub(in crate::shell) fn forget(&mut self) {
        self.0.clear();
    }

    /// Starts animations of released columns and drops those that have settled.
    pub(super) fn update(&mut self, style: Option<MotionStyle>, shown: FrameTimes) {
        self.0.iter_mut().for_each(|pan| pan.value.update(style, shown, 0.0, 0.0, EDGE_TOLERANCE));
        self.0.retain(|pan| !pan.value.is_at_rest());
    }

    /// Ends the animations, except where a gesture holds the columns.
    pub(super) fn finish(&mut self) {
        self.0.iter_mut().for_each(|pan| pan.value.finish());
    }

    /// Whether no columns are drawn at an offset.
    pub const fn is_still(&self) -> bool {
        self.0.is_empty()
    }
}
