//! [`ScrollView`]: a window into a document that is larger than what is seen of it, on any compositor.
//!
//! ```text
//!   compositor with upbeat_scroll_v1            any other, with wp_viewport
//!   ─────────────────────────────────          ──────────────────────────────────────────────
//!   moves the view while we sleep              input ─► ViewMachine ◄─ frame callbacks   (own)
//!   and says what it wants next                         moves and crops the contents
//!            └──────────────┬───────────────────────────────┘
//!                  next_wanted(): render this by then
//! ```
//!
//! | file | what it knows |
//! |---|---|
//! | `scroll_view` | what programs call |
//! | `served` | requests of a compositor that has the protocol |
//! | `own` | the same by our own hand |
//! | `content` | what a view is made of |
//! | `listener` | events of Wayland objects |
//! | `tile_ring` | which tiles of a document are where (pure) |

mod content;
mod listener;
mod own;
mod scroll_view;
mod served;
mod tile_ring;

pub use self::content::Picture;
pub use self::scroll_view::ScrollView;
pub use self::tile_ring::{Tile, TileRing};
pub use super::protocol::scroll::upbeat_scroll_view_v1::{Mode, Reason};
pub use upbeat_timing::scroll::{Demand, Extent, LowWater, Region, Side};

use upbeat_timing::defaults::{EXTENSION_AHEAD, MOST_EXTENSION, SCROLL_BUDGET};
use upbeat_timing::time::Instant;

/// What a program says of a view. It is in force with [`ScrollView::commit`].
#[derive(Clone, Debug, PartialEq)]
pub struct ScrollOptions {
    /// Width and height of the view, in surface coordinates.
    pub size: (i32, i32),
    /// Where the document begins and ends, in surface coordinates.
    pub document: Region,
    /// Whether input moves it left and right.
    pub horizontal: bool,
    /// Whether input moves it up and down.
    pub vertical: bool,
    /// Whether a finger on a screen drags it.
    pub drag: bool,
    /// Whether a wheel turns it.
    pub wheel: bool,
    /// Whether fingers on a touchpad move it.
    pub finger: bool,
    /// Which part of its speed a fling keeps from one millisecond to the next, in thousandths: 900 to 999.
    pub deceleration: u32,
    /// How far it can be pulled beyond the document, in surface coordinates: 0 to 1000.
    pub rubber_band: u32,
    /// Where it comes to rest left to right, in ascending order; empty: anywhere.
    pub snaps_x: Vec<i32>,
    /// The same top to bottom.
    pub snaps_y: Vec<i32>,
    /// It is shown where the next input is expected, not where the last was.
    pub predicts: bool,
    /// Where content is missing its last row or column is shown stretched, so that the view need not wait yet. On compositors
    /// that serve this, and of views that move along one axis.
    pub stretches: bool,
    /// How many pixels may be rendered at once where no compositor says.
    pub budget: i64,
    /// How many lengths of the view are rendered ahead of its motion where no compositor says, if the budget affords that.
    pub ahead: f64,
}

impl Default for ScrollOptions {
    /// A view of nothing that goes up and down by whatever moves it.
    fn default() -> Self {
        ScrollOptions {
            size: (0, 0),
            document: Region::default(),
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

/// One content of a view: a subsurface that shows a part of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(usize);

/// How a content moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentRole {
    /// With the document.
    #[default]
    Document,
    /// Not at all: its region is that in the view.
    Fixed,
    /// From where its region is in the view by `length` to the right, as the view goes from the left end of the document to the right.
    ThumbAcross {
        /// In surface coordinates.
        length: i32,
    },
    /// The same downwards.
    ThumbDown {
        /// In surface coordinates.
        length: i32,
    },
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScrollEvent {
    /// How it is moved by the compositor, and why so.
    Effective(Mode, Reason),
    /// So many pixels may be rendered at once.
    Budget(i64),
    /// What is there will not last until what is wanted can be expected. Who can should render something smaller first.
    LowWater(LowWater),
    /// It has come to rest.
    Rest {
        /// The left edge of what is seen.
        x: f64,
        /// The top edge.
        y: f64,
        /// Of the last request to scroll that was heeded, or 0.
        serial: u32,
    },
    /// A refresh showed it elsewhere than the one before; only told while asked for.
    Offset {
        /// The left edge of what is seen.
        x: f64,
        /// The top edge.
        y: f64,
        /// When. Where the compositor does not scroll: when that is expected.
        present: Instant,
    },
}

/// There is no way to scroll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScrollError {
    /// The compositor has neither the protocol nor what could stand in for it.
    #[error("the compositor has no {0}")]
    Missing(&'static str),
    /// There is no memory to share with the compositor.
    #[error("no memory can be shared with the compositor")]
    NoMemory,
    /// The surface's connection is gone, or the surface.
    #[error("the surface or its connection is gone")]
    Gone,
}
