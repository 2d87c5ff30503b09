//! The events that the client of a scroll view gets.

use upbeat_timing::scroll::{Region, ShownAt, Side};
use upbeat_timing::time::Instant;

/// How a view is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It cannot be moved now.
    Still,
    /// Composited at its new offset in each refresh.
    Composited,
}

/// Why the mode is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The compositor's choice.
    Policy,
    /// It has no content.
    NoContent,
    /// It is nested in too many views.
    Nesting,
    /// Its contents change in most refreshes, so no content is rendered ahead.
    Changing,
}

/// The client's protocol object of a view.
pub trait ScrollListener: std::fmt::Debug {
    /// Sends how many pixels of contents the client may have.
    fn tell_budget(&self, pixels: i64);
    /// Sends how the view is moved, and why.
    fn tell_effective(&self, mode: Mode, reason: Reason);
    /// Sends the region of the document that the client has to render by then.
    fn tell_wanted(&self, region: Region, by: Instant);
    /// Sends that contents on `side` run out: `left` pixels, which last until `until`.
    fn tell_low_water(&self, side: Side, left: i64, until: Instant);
    /// Sends that the view has come to rest.
    fn tell_rest(&self, at: ShownAt);
    /// Sends the offset that the refresh at `present` showed.
    fn tell_offset(&self, at: ShownAt, present: Instant);
}
