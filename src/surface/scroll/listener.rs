//! What the client of a view is told.

use upbeat_timing::scroll::{Region, ShownAt, Side};
use upbeat_timing::time::Instant;

/// How a view is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not at all.
    Still,
    /// Drawn anew at each refresh.
    Composited,
}

/// Why it is moved in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The compositor chose so.
    Policy,
    /// It has no content.
    NoContent,
    /// It lies inside of too many views.
    Nesting,
    /// What is seen changes in most refreshes: nothing is rendered ahead of it.
    Changing,
}

/// The client's end of a view.
pub trait ScrollListener: std::fmt::Debug {
    /// So many pixels may be rendered.
    fn tell_budget(&self, pixels: i64);
    /// How it is moved, and why so.
    fn tell_effective(&self, mode: Mode, reason: Reason);
    /// This is to be rendered by then.
    fn tell_wanted(&self, region: Region, by: Instant);
    /// So much is left on a side, until then.
    fn tell_low_water(&self, side: Side, left: i64, until: Instant);
    /// It has come to rest.
    fn tell_rest(&self, at: ShownAt);
    /// A refresh showed it there.
    fn tell_offset(&self, at: ShownAt, present: Instant);
}
