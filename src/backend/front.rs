//! Memory of a client that is scanned out as it stands: the front buffer (Presto 3.2, JEP).
//!
//! ```text
//!   client writes ahead of the beam ─► its memory ─► read row by row as the beam passes ─► light
//! ```
//!
//! Nothing is copied in between and nobody is asked: what is in memory when a row is read is what is seen there.

use std::sync::Arc;

use upbeat_timing::beam::PixelRect;
use upbeat_timing::time::{Instant, Span};

/// Memory that somebody else may be writing to.
pub trait FrontMemory: std::fmt::Debug + Send + Sync {
    /// Copies rows `first` to `first + height` of what is shown, from the top of the rectangle on: `XRGB8888`, `into.len() / height`
    /// pixels each. Returns whether it can still be read; if not, `into` says nothing.
    fn read(&self, first: i32, height: i32, into: &mut [u32]) -> bool;
}

/// A rectangle of the screen that shows such memory from the next refresh on.
#[derive(Clone, Debug)]
pub struct Front {
    /// Where, in the output's pixels.
    pub rect: PixelRect,
    /// What.
    pub memory: Arc<dyn FrontMemory>,
}

/// One scan-out of such a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// When the refresh began.
    pub refresh: Instant,
    /// Every row was read before it was lit. If not, nobody knows what of it was seen, and nothing counts as seen.
    pub is_proven: bool,
}

/// How long before its light a row may be read at the earliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadAhead(pub Span);
