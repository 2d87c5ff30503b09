//! The virtual display: a headless backend that is as strict as hardware.
//!
//! Most headless outputs show whatever was submitted when their timer happens to fire. This one decides as a panel
//! does: vblank `n` lies at `epoch + n · interval` exactly, a frame is shown by the first vblank that it was complete
//! for, one flip may wait, and nobody can change what is being scanned out.
//!
//! | part | what it is |
//! |---|---|
//! | [`display`] | the state machine: no I/O, no clock |
//! | [`grid`], [`blanking`] | when refreshes are, and how long before them a frame must be complete |
//! | [`pool`] | buffers and their ages |
//! | [`fence`](super::fence) | when rendering was done |
//! | [`panel`], [`scan`], [`image`] | what is read when, row by row; what a camera would see |
//! | `front` | memory of a client that is read as the beam passes |
//! | [`report`], [`fault`] | what is told: the truth, or what a script wants |
//! | [`watch`], [`record`] | whoever looks at the panel: recordings and light probes |
//! | `self_test` | shows that it is honest |
//! | [`output`], [`backend`], [`timer`](super::timer) | the glue: a handle per output, hotplug, one descriptor to wait for |

pub mod backend;
pub mod blanking;
pub mod display;
pub mod fault;
mod front;
pub mod grid;
pub mod image;
pub mod limits;
pub mod options;
pub mod output;
pub mod panel;
mod pixels;
pub mod pool;
pub mod record;
pub mod report;
pub mod scan;
#[cfg(test)]
mod self_test;
pub mod watch;

#[cfg(test)]
mod tests;

pub use backend::{HeadlessBackend, HeadlessError, HotplugEvent};
pub use fault::{FaultScript, FaultScriptError};
pub use options::OutputOptions;
pub use output::HeadlessOutput;
