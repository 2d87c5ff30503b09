//! [`ScrollView`]: a viewport on a document that is larger than the view, on any compositor.
//!
//! ```text
//!   compositor with upbeat_scroll_v1            any other, with wp_viewport
//!   ─────────────────────────────────          ──────────────────────────────────────────────
//!   moves the view while we sleep              input ─► ViewMachine ◄─ frame callbacks   (client_side)
//!   and reports what to render next                     moves and crops the contents
//!            └──────────────┬───────────────────────────────┘
//!                  next_wanted(): render this region before this time
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `view` | the public type |
//! | `compositor_side` | requests to a compositor with the protocol |
//! | `client_side` | scrolling on the client side, without the protocol |
//! | `content` | the contents of a view |
//! | `listener` | events of Wayland objects |
//! | `tile_ring` | assigns the tiles of a document to contents (pure) |

mod client_side;
mod compositor_side;
mod content;
mod listener;
mod tile_ring;
mod view;

pub use self::content::ContentPicture;
pub use self::tile_ring::{Tile, TileRing};
pub use self::view::ScrollView;
pub use super::protocol::scroll::upbeat_scroll_view_v1::{Mode, Reason};
pub use upbeat_timing::scroll::{DocumentExtent, DocumentRegion, LowWater, RenderDemand, ScrollSide};

use upbeat_timing::defaults::{EXTENSION_AHEAD, MOST_EXTENSION, SCROLL_BUDGET};
use upbeat_timing::time::Instant;

/// The properties of a view. They take effect with [`ScrollView::commit`].
#[derive(Clone, Debug, PartialEq)]
pub struct ScrollOptions {
    /// Width and height of the view, in surface coordinates.
    pub size: (i32, i32),
    /// Bounds of the document, in surface coordinates.
    pub document: DocumentRegion,
    /// Whether input scrolls it horizontally.
    pub horizontal: bool,
    /// Whether input scrolls it vertically.
    pub vertical: bool,
    /// Whether a finger on a touchscreen drags it.
    pub drag: bool,
    /// Whether a wheel scrolls it.
    pub wheel: bool,
    /// Whether fingers on a touchpad scroll it.
    pub finger: bool,
    /// The fraction of its speed that a fling keeps from one millisecond to the next, in thousandths: 900 to 999.
    pub deceleration: u32,
    /// How far the view can be pulled beyond the document, in surface coordinates: 0 to 1000.
    pub rubber_band: u32,
    /// Horizontal offsets at which it comes to rest, in ascending order. If empty, it rests anywhere.
    pub snaps_x: Vec<i32>,
    /// Vertical offsets at which it comes to rest, like `snaps_x`.
    pub snaps_y: Vec<i32>,
    /// Whether the view follows the predicted input instead of the last reported input.
    pub predicts: bool,
    /// Whether missing content is replaced by its stretched last row or column, so that the view need not wait yet.
    /// Only on compositors that support it, and for views that scroll along one axis.
    pub stretches: bool,
    /// The number of pixels that may be rendered at once, unless the compositor sends a budget.
    pub budget: i64,
    /// How far ahead of its motion the document is rendered, in lengths of the view, as far as the budget permits.
    /// Used if the compositor does not scroll.
    pub ahead: f64,
}

impl Default for ScrollOptions {
    /// An empty view that scrolls vertically by all kinds of input.
    fn default() -> Self {
        ScrollOptions {
            size: (0, 0),
            document: DocumentRegion::default(),
            horizontal: false,
            vertical: true,
            drag: true,
            wheel: true,
            finger: true,
            deceleration: 998,
            rubber_band: 0,
            snaps_x: Vec::new(),
            snaps_y: Vec::new(),
            predicts: true,
            stretches: false,
            budget: SCROLL_BUDGET,
            ahead: MOST_EXTENSION * EXTENSION_AHEAD,
        }
    }
}

/// A content of a view: a subsurface that shows a part of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(usize);

/// How a content moves when the view scrolls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentRole {
    /// It scrolls with the document.
    #[default]
    Document,
    /// It does not move: its region is a position in the view.
    Fixed,
    /// A horizontal scroll bar's thumb: it moves `length` to the right, from its region in the view, while the view
    /// scrolls from the left end of the document to the right end.
    ThumbAcross {
        /// Length of its way, in surface coordinates.
        length: i32,
    },
    /// A vertical scroll bar's thumb, which moves down in the same way.
    ThumbDown {
        /// Length of its way, in surface coordinates.
        length: i32,
    },
}

/// An event of a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScrollEvent {
    /// How the compositor moves the view, and why.
    Effective(Mode, Reason),
    /// The number of pixels that may be rendered at once.
    Budget(i64),
    /// The rendered content will probably run out before the wanted region can be ready. A program that can should
    /// render something smaller first.
    LowWater(LowWater),
    /// The view has come to rest.
    Rest {
        /// Left edge of the visible part of the document.
        x: f64,
        /// Top edge of the visible part of the document.
        y: f64,
        /// Serial of the last scroll request that took effect, or 0.
        serial: u32,
    },
    /// A refresh showed the view at a new offset. Only sent after [`ScrollView::report_offsets`].
    Offset {
        /// Left edge of the visible part of the document.
        x: f64,
        /// Top edge of the visible part of the document.
        y: f64,
        /// Time of the refresh. If the compositor does not scroll, it is the predicted time.
        present: Instant,
    },
}

/// Why a view cannot be created or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScrollError {
    /// The compositor has neither the scroll protocol nor this global, which the fallback needs.
    #[error("the compositor has no {0}")]
    Missing(&'static str),
    /// Shared memory could not be allocated.
    #[error("no memory can be shared with the compositor")]
    NoMemory,
    /// The surface was destroyed, or its connection is closed.
    #[error("the surface or its connection is gone")]
    Gone,
}
