//! Columns that a hand moves along their strip, and that come to rest where it let them go or near that.
//!
//! The layout says where columns are; a *pan* is how far all of a workspace are seen from there, in logical pixels. When it is
//! let go the layout is told where to be looked at, and what that makes of all columns at once is taken off the pan: nothing
//! jumps.

use super::course::Course;
use super::{EDGE_TOLERANCE, Shown};
use crate::shell::workspaces::Place;
use upbeat_timing::motion::Style;
use upbeat_timing::motion::pulled::Pulled;
use upbeat_timing::time::Instant;

/// Workspaces whose columns are seen elsewhere than they are.
#[derive(Debug, Default)]
pub struct Pans(Vec<Pan>);

#[derive(Debug)]
struct Pan {
    place: Place,
    course: Course,
}

impl Pans {
    /// How far right of their places the columns of a workspace are seen in the frame presented at `present`.
    pub fn at(&self, place: Place, present: Instant) -> f64 {
        self.find(place).map_or(0.0, |pan| pan.course.at(0.0, present))
    }

    /// Whether they move after that frame.
    pub fn moves_after(&self, place: Place, present: Instant) -> bool {
        self.find(place).is_some_and(|pan| pan.course.moves_after(present))
    }

    fn find(&self, place: Place) -> Option<&Pan> {
        self.0.iter().find(|pan| pan.place == place)
    }

    /// A hand has them.
    pub fn hold(&mut self, place: Place, hand: Pulled) {
        self.0.retain(|pan| pan.place != place);
        self.0.push(Pan { place, course: Course::Held(Box::new(hand)) });
    }

    /// The hand that has them.
    pub fn hand(&mut self, place: Place) -> Option<&mut Pulled> {
        self.0.iter_mut().find(|pan| pan.place == place)?.course.hand()
    }

    /// The hand lets them go, at `at`.
    pub fn let_go(&mut self, place: Place, at: Instant) {
        self.0.iter_mut().filter(|pan| pan.place == place).for_each(|pan| pan.course.let_go(at));
    }

    /// Starts what was let go, and drops what is at its end.
    pub(super) fn follow(&mut self, style: Option<Style>, shown: Shown) {
        self.0.iter_mut().for_each(|pan| pan.course.follow(style, shown, 0.0, 0.0, EDGE_TOLERANCE));
        self.0.retain(|pan| !pan.course.rests());
    }

    /// Everything is where it is going.
    pub(super) fn end(&mut self) {
        self.0.iter_mut().for_each(|pan| pan.course.end());
    }

    /// Whether all columns are seen where they are.
    pub const fn is_still(&self) -> bool {
        self.0.is_empty()
    }
}
