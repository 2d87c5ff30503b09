//! Views that the compositor scrolls: what their clients say of them, what moves them, and what their clients are told.
//!
//! ```text
//!   view's commit ─► ViewState ─────────────┐
//!   input, scroll_to ─► ViewMotion ─ latch ─┴─► offset shown ─► placing, hit-testing
//!                                      └─► Supply ─► wanted
//! ```

mod geometry;
mod kept;
mod listener;
mod scrolled;
pub mod state;

pub use geometry::moved_by;
pub use kept::KeptContent;
pub use listener::{Mode, Movement, Reason, ScrollListener, ShownAt};
pub use scrolled::{Answer, Scrolled};
pub use state::{
    Content, Inputs, MOST_CONTENTS, MOST_NESTED, Physics, Role, View, ViewAxis, ViewState, offset, set_offset, size_of,
    update_view, view,
};
