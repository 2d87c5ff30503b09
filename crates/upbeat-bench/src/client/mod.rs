//! The measuring client: a window of its own process that draws like a given kind of program and notes when things
//! happen to it.
//!
//! [`run`] measures one window. [`run_with_others`] first starts the other windows, each in a process of its own, so
//! that the compositor sees separate clients; the measured window is mapped last and so has the focus.
//!
//! | file | what it knows |
//! |---|---|
//! | `options` | the command line, and the same options as arguments for the other windows |
//! | `personality` | when a client of each kind draws and when it commits (pure) |
//! | `burn` | how to spend CPU time |
//! | `buffers` | memory with the frames' pixels |
//! | `gpu` | what stands for a GPU that finishes frames after their commit |
//! | `input` | how an event number hides in a pointer position (pure) |
//! | `injector` | the second connection that plays the user's hand |
//! | `journal` | what happened to each frame, and the figures that follow (pure) |
//! | `connection`, `dispatch` | Wayland: globals, the window, the events |
//! | `session` | the phases of a run |
//! | `others` | the windows behind |
//! | `error` | why a run gave no figures |
//! | `flood` | a client that sends as much as it can |
//! | `resting` | windows that do nothing |

pub(crate) mod buffers;
mod burn;
mod connection;
mod dispatch;
mod error;
mod flood;
mod gpu;
mod injector;
mod input;
mod journal;
mod options;
mod others;
mod personality;
mod resting;
mod session;

use crate::report::RunReport;
pub use burn::burn;
pub(crate) use burn::fill_up;
pub use error::ClientError;
pub(crate) use injector::Pointer;
pub(crate) use input::WINDOW;
pub use options::{ClientOptions, DEVICE, Flood};
pub use others::run_with_others;
pub use personality::Kind;
pub use session::run;

/// Runs one of the windows behind the measured one, one of the clients that flood, or those that rest, if `options` say so. Says `ready` on
/// stdout when it is mapped, goes on until stdin closes, and reports on what it did in between.
pub fn run_companion(options: &ClientOptions) -> Result<RunReport, ClientError> {
    if let Some(count) = options.resting {
        return resting::rest(count, options.idle_per_client);
    }
    match options.flooding {
        Some(flood) => flood::run_flooder(options, flood),
        None => session::draw_behind(options),
    }
}
