//! `upbeat bench scroll`: compares three ways to scroll a long document, with the same input and the same pixels. The
//! compositor moves it (`view`), the client commits a viewport at each refresh (`viewport`), or the client renders each
//! frame (`frames`).
//!
//! ```text
//!  [driver] ── starts ──▶ upbeat --backend headless … ── starts ──▶ upbeat bench scroller …      prints its figures
//!      └── frame log: refreshes missed; recording: blank rows            └── fingers, by the session's private socket
//! ```
//!
//! Each row of the document has a colour that encodes its number, so that a recording can be decoded. Rendering costs
//! CPU time in proportion to the pixels, as in a toolkit.
//!
//! | file | content |
//! |---|---|
//! | `course` | scripted input (pure) |
//! | `course_player` | plays a course |
//! | `options` | the client's options, errors and state |
//! | `page` | the client: its window and its loop |
//! | `scroller` | the view and its tiles |
//! | `dispatch` | the client's Wayland events |
//! | `full_frames` | the client that renders each frame |
//! | `thread_cpu` | CPU time of the client's thread |
//! | `view_path` | the view's offset at each time, from the input (pure) |
//! | `held_content` | memory of content ahead of the view, behind it, and in spare buffers (pure) |
//! | `figures` | the figures of a run |
//! | `recorded_rows` | blank rows in a recording |
//! | `driver` | the runs |

mod course;
mod course_player;
mod dispatch;
mod driver;
mod figures;
mod full_frames;
mod held_content;
mod options;
mod page;
mod recorded_rows;
mod scroller;
mod thread_cpu;
mod tiles;
mod view_path;

pub use course::{CourseError, ScrollInput};
pub use driver::{ScrollBenchOptions, ScrollReport, table};
pub use figures::ScrollRun;
pub use options::{PageError, PageOptions, ScrollMode};
pub use page::run;
