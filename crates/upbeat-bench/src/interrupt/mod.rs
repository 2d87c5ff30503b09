//! `upbeat bench interrupt`: how soon an animation that is drawn ahead answers to a press. The baselines are an
//! animation drawn just in time, and a queue that cannot be changed any more.
//!
//! ```text
//!                      press
//!  just-in-time     4 ───┼── 5 ═══ 5'                          the next frame answers
//!  superseded     4 5 6 7│ 8 └─▶ 5' 6'                         cancels frames that a fresh one can replace in time
//!  flushed        4 5 6 7│ 8 └─▶ –  5'                         cancels all waiting frames, even without a replacement
//!  queued         4 5 6 7│ 8 └─▶ 5  6  7  8  9'                shows all waiting frames first
//! ```
//!
//! | file | content |
//! |---|---|
//! | `player` | the client: an animation, and its answers to presses |
//! | `overview` | two windows, and presses that open and close the compositor's own overview |
//! | `own_animation` | the runs with the overview, and their figures from the frame log |
//! | `dispatch` | the client's Wayland events |
//! | `presser` | a thread that presses at random times |
//! | `device` | its devices: a key, a button, a finger |
//! | `figures` | how soon frames answered to presses, and the stale frames until then (pure) |
//! | `driver` | the runs, each in a session of its own |

mod device;
mod dispatch;
mod driver;
mod figures;
mod overview;
mod own_animation;
mod player;
mod presser;

pub use device::PressKind;
pub use driver::{InterruptOptions, InterruptReport, table};
pub use figures::InterruptRun;
pub use overview::{OverviewError, OverviewOptions, PressReport, run as run_overview};
pub use player::{PlayerError, PlayerOptions, PressPolicy, run};
