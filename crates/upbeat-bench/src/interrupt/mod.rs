//! `upbeat bench interrupt`: how soon an animation that is drawn ahead answers to a press, against one that is drawn just
//! in time and against a queue that cannot be changed any more.
//!
//! ```text
//!                      press
//!  just-in-time     4 ───┼── 5 ═══ 5'                          the next frame answers
//!  superseded     4 5 6 7│ 8 └─▶ 5' 6'                         from the first that a fresh frame can be in time for
//!  flushed        4 5 6 7│ 8 └─▶ –  5'                         all that wait go, also those that nothing can replace
//!  queued         4 5 6 7│ 8 └─▶ 5  6  7  8  9'                all that wait are shown first
//! ```
//!
//! | file | what it knows |
//! |---|---|
//! | `player` | the client: an animation, and how it answers |
//! | `overview` | two windows, and presses that make the compositor's own overview come and go |
//! | `own` | the runs with that one, and their figures from the frame log |
//! | `dispatch` | its events |
//! | `presser` | a thread that presses at random times |
//! | `device` | what it presses with: a key, a button, a finger |
//! | `figures` | how soon presses were answered, and what was seen until then (pure) |
//! | `driver` | the runs, each in a session of its own |

mod device;
mod dispatch;
mod driver;
mod figures;
mod overview;
mod own;
mod player;
mod presser;

pub use device::Press;
pub use driver::{InterruptOptions, InterruptReport, table};
pub use figures::InterruptRun;
pub use overview::{OverviewError, OverviewOptions, Pressed, run as run_overview};
pub use player::{Answer, PlayerError, PlayerOptions, run};
