//! `upbeat bench animations`: how smoothly the compositor's own animations run on a slow renderer, with frames rendered
//! ahead and without.
//!
//! ```text
//!  [driver] ── starts ──▶ upbeat --backend headless --renderer gles --frame-log LOG ── starts ──▶ upbeat bench windows
//!     ▲                                                          │                        prints what both used
//!     └───────────────────────── counts drops ◀─────────────────┘
//! ```
//!
//! A window appears, is maximised, goes back to its place and goes, again and again. It is translucent, what is behind it
//! is blurred, and there are shadows and rounded corners: what a frame costs follows from how large the window is in it.
//! The client does nothing for it but to change a size, so all frames that are counted are the compositor's own.
//!
//! | file | what it knows |
//! |---|---|
//! | `windows` | the client that opens, maximises and closes |
//! | `dispatch` | its events |
//! | `figures` | drops, from the frame log (pure) |
//! | `driver` | the runs, each in a session of its own |

mod dispatch;
mod driver;
mod figures;
mod windows;

pub use driver::{AnimationOptions, AnimationReport, table};
pub use figures::AnimationRun;
pub(crate) use windows::{BEHIND, FRONT, OPACITY, Stage};
pub use windows::{Used, WindowsError, WindowsOptions, run};
