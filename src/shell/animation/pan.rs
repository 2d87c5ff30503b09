//! Scrolling of a strip's columns by a gesture, and the animation after its release.
//!
//! The layout has the places of the columns. A *pan* is the horizontal offset, in logical pixels, at which all columns
//! of a workspace are drawn. At the release the layout scrolls to the new position, and its scroll distance is
//! subtracted from the pan, so that nothing jumps.

use super::course::Course;
use super::{EDGE_TOLERANCE, Shown};
use crate::shell::workspaces::Place;
use upbeat_timing::motion::Style;
use upbeat_timing::motion::pulled::Pulled;
use upbeat_timing::time::Instant;

/// Workspaces whose columns are drawn at an offset.
#[derive(Debug, Default)]
pub struct Pans(Vec<Pan>);

#[derive(Debug)]
struct Pan {
    place: Place,
    course: Course,
}

impl Pans {
    /// Offset to the right of a workspace's columns in the frame presented at `present`.
    pub fn at(&self, place: Place, present: Instant) -> f64 {
        self.find(place).map_or(0.0, |pan| pan.course.at(0.0, present))
    }

    /// Whether the offset changes after that frame.
    pub fn moves_after(&self, place: Place, present: Instant) -> bool {
        self.find(place).is_some_and(|pan| pan.course.moves_after(present))
    }

    fn find(&self, place: Place) -> Option<&Pan> {
        self.0.iter().find(|pan| pan.place == place)
    }

    /// A gesture starts to hold the columns.
    pub fn hold(&mut self, place: Place, hand: Pulled) {
        self.0.retain(|pan| pan.place != place);
        self.0.push(Pan { place, course: Course::Held(Box::new(hand)) });
    }

    /// The gesture that holds the columns.
    pub fn hand(&mut self, place: Place) -> Option<&mut Pulled> {
        self.0.iter_mut().find(|pan| pan.place == place)?.course.hand()
    }

    /// The gesture releases the columns at time `at`.
    pub fn let_go(&mut self, place: Place, at: Instant) {
        self.0.iter_mut().filter(|pan| pan.place == place).for_each(|pan| pan.course.let_go(at));
    }

    /// Starts animations of released columns and drops those that have settled.
    pub(super) fn follow(&mut self, style: Option<Style>, shown: Shown) {
        self.0.iter_mut().for_each(|pan| pan.course.follow(style, shown, 0.0, 0.0, EDGE_TOLERANCE));
        self.0.retain(|pan| !pan.course.rests());
    }

    /// Ends the animations, except where a gesture holds the columns.
    pub(super) fn end(&mut self) {
        self.0.iter_mut().for_each(|pan| pan.course.end());
    }

    /// Whether no columns are drawn at an offset.
    pub const fn is_still(&self) -> bool {
        self.0.is_empty()
    }
}
