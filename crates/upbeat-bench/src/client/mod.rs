//! The probe: a client in its own process that draws like a given kind of program and records the times of its events.
//!
//! [`run`] measures one window. [`run_with_others`] first starts the other windows, each in a process of its own, so
//! that the compositor sees separate clients. The measured window is mapped last and so has the focus.
//!
//! | file | content |
//! |---|---|
//! | `options` | the command line, and the same options as arguments for the other windows |
//! | `personality` | when a client of each kind draws and when it commits (pure) |
//! | `burn` | spends CPU time |
//! | `buffers` | buffers and the pictures in them |
//! | `gpu` | a simulated GPU that finishes frames after their commit |
//! | `input` | an event number encoded in a pointer position (pure) |
//! | `injector` | a second connection that injects pointer input |
//! | `journal` | records of all frames, and the figures computed from them (pure) |
//! | `connection`, `dispatch` | Wayland: globals, the window, the events |
//! | `session` | the phases of a run |
//! | `companions` | starts the windows behind |
//! | `error` | errors of a run |
//! | `flood` | a client that sends as much as it can |
//! | `resting` | windows that do nothing |

pub(crate) mod buffers;
mod burn;
mod companions;
mod connection;
mod dispatch;
mod error;
mod flood;
mod gpu;
mod injector;
mod input;
mod journal;
mod options;
mod personality;
mod resting;
mod session;

use crate::report::RunReport;
pub use burn::burn;
pub(crate) use burn::burn_rest;
pub use companions::run_with_others;
pub use error::ClientError;
pub(crate) use injector::VirtualPointerClient;
pub(crate) use input::WINDOW;
pub use options::{ClientOptions, DEVICE, FloodKind};
pub use personality::ProbeKind;
pub use session::run;

/// Runs one of the other clients of a run, as `options` say: a window behind the measured one, a flooding client, or
/// windows at rest. Prints `ready` on stdout when it is mapped, runs until stdin closes, and reports on that time.
pub fn run_companion(options: &ClientOptions) -> Result<RunReport, ClientError> {
    if let Some(count) = options.resting {
        return resting::run_resting(count, options.idle_per_client, options.leave_decoration);
    }
    match options.flooding {
        Some(flood) => flood::run_flooder(options, flood),
        None => session::draw_behind(options),
    }
}
