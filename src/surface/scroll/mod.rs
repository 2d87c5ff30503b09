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

mod budget_shares;
mod content_changes;
mod geometry;
mod kept_contents;
mod listener;
mod scrolled_view;
pub mod state;
mod stretched;

pub use budget_shares::{ScrollBudgetShare, ScrollBudgets};
pub use geometry::{by_distance, document_contents, moved_by};
pub use kept_contents::KeptContent;
pub use listener::{ScrollListener, ScrollModeReason, ViewScrollMode};
pub use scrolled_view::{ScrolledView, ViewLatchResult};
pub use state::{
    MOST_CONTENTS, MOST_NESTED, ScrollContent, ScrollInputs, ScrollPhysics, ViewAxis, ViewContentRole, ViewProperties,
    ViewState, offset, set_offset, size_of, update_view, view,
};
pub use stretched::StretchedContent;
