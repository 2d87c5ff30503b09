//! `upbeat bench scroll`: a long document, scrolled by the compositor (`view`), by its client with a viewport committed at each
//! refresh (`viewport`), and by rendering each frame (`frames`); the same fingers, the same pixels.
//!
//! ```text
//!  [driver] ── starts ──▶ upbeat --backend headless … ── starts ──▶ upbeat bench scroller …      prints its figures
//!      └── frame log: refreshes missed; recording: blank rows            └── fingers, by the session's private socket
//! ```
//!
//! Each row of the document has a colour that says which it is, so that what a recording shows can be read. What is rendered
//! costs what its pixels say, burned on a CPU as a toolkit does.
//!
//! | file | what it knows |
//! |---|---|
//! | `course` | what the fingers do when (pure) |
//! | `finger` | does it |
//! | `options` | what the client is asked to do, and what it hears |
//! | `page` | the client: window, its loop |
//! | `scroller` | what is on the window, and its tiles |
//! | `dispatch` | its events |
//! | `own_frames` | the client that renders each frame |
//! | `figures` | what came of it |
//! | `seen` | blank rows in a recording |
//! | `driver` | the runs |

mod course;
mod dispatch;
mod driver;
mod figures;
mod finger;
mod options;
mod own_frames;
mod page;
mod scroller;
mod seen;
mod tiles;

pub use course::{CourseError, ScrollInput};
pub use driver::{ScrollBenchOptions, ScrollReport, table};
pub use figures::ScrollRun;
pub use options::{PageError, PageOptions, ScrollMode};
pub use page::run;
