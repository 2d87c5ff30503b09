//! `upbeat bench smoothness`: an animation whose frames cost what the simulator's cost, on real frames through real
//! sockets, by vsync and ahead.
//!
//! ```text
//!  [driver] ── starts ──▶ upbeat --backend headless … ── starts ──▶ upbeat bench game …      prints its figures
//! ```
//!
//! The game has the simulator's pipeline: a stage that records and one that renders, each for as long as the load says.
//! They are resources of their own, as a thread and a GPU are, so what they take is waited for and not burned: the
//! figures show the compositor and the policy, and not how many cores the machine has.
//!
//! | file | what it knows |
//! |---|---|
//! | `costs` | what the frames cost |
//! | `pipeline` | which stage works on which frame until when (pure) |
//! | `game` | the client: window, targets or callbacks, buffers |
//! | `dispatch` | its events |
//! | `figures` | drops, hitches, age and error of the content, from what was shown |
//! | `driver` | the runs, beside the simulator's of the same costs |

mod costs;
mod dispatch;
mod driver;
mod figures;
mod game;
mod pipeline;

pub use costs::{CostOptions, NoLoad};
pub use driver::{SmoothnessOptions, SmoothnessReport, table};
pub use figures::SmoothRun;
pub use game::{GameError, GameOptions, run};
