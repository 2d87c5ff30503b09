//! The events that the client of a scroll view gets.

use upbeat_timing::scroll::{DocumentRegion, ScrollSide, ViewPosition};
use upbeat_timing::time::Instant;

/// How a view is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewScrollMode {
    /// It cannot be moved now.
    Still,
    /// Composited at its new offset in each refresh.
    Composited,
    /// Overlay planes show its document contents, each at its new offset in each refresh. Nothing is drawn for that.
    Overlay,
}

/// Why the mode is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollModeReason {
    /// The compositor's choice.
    Policy,
    /// It has no content.
    NoContent,
    /// It is nested in too many views.
    Nesting,
    /// Its contents change in most refreshes, so no content is rendered ahead.
    Changing,
    /// The display has no free plane for a content.
    NoPlane,
    /// No plane can read a content's buffer.
    Buffer,
    /// A content is translucent, clipped or turned.
    Appearance,
    /// Something that is composed lies above a content.
    Covered,
    /// The driver refuses to show a content on a plane.
    Refused,
}

/// The client's protocol object of a view.
pub trait ScrollListener: std::fmt::Debug {
    /// Sends how many pixels of contents the client may have.
    fn send_budget(&self, pixels: i64);
    /// Whether the client knows the mode and the reasons of planes.
    fn knows_planes(&self) -> bool;
    /// Sends how the view is moved, and why.
    fn send_effective(&self, mode: ViewScrollMode, reason: ScrollModeReason);
    /// Sends the region of the document that the client has to render by then.
    fn send_wanted(&self, region: DocumentRegion, by: Instant);
    /// Sends that contents on `side` run out: `left` pixels, which last until `until`.
    fn send_low_water(&self, side: ScrollSide, left: i64, until: Instant);
    /// Sends that the view has come to rest.
    fn send_rest(&self, at: ViewPosition);
    /// Sends the offset that the refresh at `present` showed.
    fn send_offset(&self, at: ViewPosition, present: Instant);
}
