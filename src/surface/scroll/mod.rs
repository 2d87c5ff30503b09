//! Views that the compositor scrolls: the client's state of them, the input that moves them, and the events to the
//! client.
//!
//! A *view* is a surface that shows a part of a larger *document*. Its *contents* are subsurfaces, each with a place in
//! the document.
//!
//! ```text
//!   view's commit ─► ViewState ─────────────┐
//!   input, scroll_to ─► ViewMachine ─ latch ┴─► offset shown ─► placing, hit-testing
//!                                       └─► wanted
//! ```

mod changes;
mod geometry;
mod kept;
mod listener;
mod scrolled;
mod shares;
pub mod state;
mod stretched;

pub use geometry::{by_distance, moved_by};
pub use kept::KeptContent;
pub use listener::{Mode, Reason, ScrollListener};
pub use scrolled::{Answer, Scrolled};
pub use shares::{Share, Shares};
pub use state::{
    Content, Inputs, MOST_CONTENTS, MOST_NESTED, Physics, Role, View, ViewAxis, ViewState, offset, set_offset, size_of,
    update_view, view,
};
pub use stretched::StretchedContent;
