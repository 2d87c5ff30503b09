//! `upbeat bench animations`: how smoothly the compositor's own animations run on a slow renderer, with frames rendered
//! ahead and without.
//!
//! ```text
//!  [driver] ── starts ──▶ upbeat --backend headless --renderer gles --frame-log LOG ── starts ──▶ upbeat bench windows
//!     ▲                                                          │                 prints the CPU time of both
//!     └───────────────────────── counts drops ◀─────────────────┘
//! ```
//!
//! A window opens, is maximised, restored and closed, again and again. It is translucent, with a blurred background,
//! shadows and rounded corners, so the cost of a frame follows from the size of the window. The client itself only
//! changes the size, so all counted frames are the compositor's own.
//!
//! | file | content |
//! |---|---|
//! | `windows` | the client that opens, maximises and closes |
//! | `dispatch` | the client's Wayland events |
//! | `figures` | drops, from the frame log (pure) |
//! | `driver` | the runs, each in a session of its own |

mod dispatch;
mod driver;
mod figures;
mod windows;

pub use driver::{AnimationOptions, AnimationReport, table};
pub use figures::AnimationRun;
pub(crate) use windows::{BEHIND, FRONT, OPACITY, WindowsClient};
pub use windows::{CpuTimeUsed, WindowsError, WindowsOptions, run};
