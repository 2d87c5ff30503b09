//! Front-buffer rendering: client memory that is scanned out without a copy (Presto 3.2, JEP).
//!
//! ```text
//!   client writes ahead of the beam ─► its memory ─► read row by row as the beam passes ─► light
//! ```
//!
//! There is no handshake per frame: a row shows the memory's content at the time at which that row is read.

use std::sync::Arc;

use upbeat_timing::beam::PixelRect;
use upbeat_timing::time::{Instant, Span};

/// Memory that a client may be writing to while it is read.
pub trait FrontMemory: std::fmt::Debug + Send + Sync {
    /// Copies rows `first` to `first + height`, counted from the top of the rectangle, into `into`: `XRGB8888`,
    /// `into.len() / height` pixels each. Returns false if the memory can no longer be read; the content of `into`
    /// is then undefined.
    fn read(&self, first: i32, height: i32, into: &mut [u32]) -> bool;
}

/// A rectangle of the screen that shows client memory from the next refresh on.
#[derive(Clone, Debug)]
pub struct SharedFront {
    /// Position on the output, in its pixels.
    pub rect: PixelRect,
    pub memory: Arc<dyn FrontMemory>,
}

/// The report of one refresh that scanned out such a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontScanReport {
    pub refresh: Instant,
    /// Every row was read before it was lit. If false, the rows on screen are unknown, and the refresh counts as
    /// not seen.
    pub is_proven: bool,
}

/// How long before its light a row may be read at the earliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadAhead(pub Span);
