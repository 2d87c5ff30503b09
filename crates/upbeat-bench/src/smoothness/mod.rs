//! `upbeat bench smoothness`: an animation with the frame costs of the simulator, but with real frames through real
//! sockets, by vsync and ahead.
//!
//! ```text
//!  [driver] ── starts ──▶ upbeat --backend headless … ── starts ──▶ upbeat bench game …      prints its figures
//! ```
//!
//! The game has the simulator's pipeline: a stage that records and a stage that renders, each for as long as the load
//! says. The stages stand for a thread and a GPU, so the game sleeps for their costs instead of burning CPU time. The
//! figures show the compositor and the policy, and not the number of the machine's cores.
//!
//! | file | content |
//! |---|---|
//! | `costs` | the frame costs |
//! | `pipeline` | the two stages of each frame (pure) |
//! | `game` | the client: window, targets or callbacks, buffers |
//! | `dispatch` | the client's Wayland events |
//! | `figures` | drops, hitches, age and error of the content |
//! | `driver` | the runs, beside the simulator's of the same costs |

mod costs;
mod dispatch;
mod driver;
mod figures;
mod game;
mod pipeline;

pub use costs::{CostOptions, UnknownLoad};
pub use driver::{SmoothnessOptions, SmoothnessReport, table};
pub use figures::SmoothRun;
pub use game::{GameError, GameOptions, run};
