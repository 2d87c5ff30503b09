//! The virtual display: a headless backend that is as strict as hardware.
//!
//! Most headless outputs show each submitted frame when their timer happens to fire. This display decides as a panel
//! does. Vblank `n` lies at `epoch + n · interval` exactly. A frame is shown by the first vblank for which it was
//! complete. One flip may wait, and the buffer that is scanned out cannot be changed.
//!
//! | part | contents |
//! |---|---|
//! | [`display`] | the state machine: no I/O, no clock |
//! | [`grid`], [`blanking`] | the times of refreshes, and how long before them a frame must be complete |
//! | [`pool`] | buffers and their ages |
//! | [`fence`](super::fence) | when rendering was done |
//! | [`panel`], [`scan`], [`image`] | scan-out row by row; the image that a camera would see |
//! | `overlay_planes` | clients' buffers above the composed picture |
//! | `front` | client memory that is read as the beam passes |
//! | [`event_queue`], [`fault`] | the reported events: correct, or changed by a fault script |
//! | [`panel_watch`], [`record`] | observers of the panel: recordings and light probes |
//! | `self_test` | proves that the display is honest |
//! | [`output`], [`backend`], [`timer`](super::timer) | a handle per output, hotplug, one pollable descriptor |

pub mod backend;
pub mod blanking;
pub mod display;
pub mod event_queue;
pub mod fault;
mod front;
pub mod grid;
pub mod image;
pub mod limits;
pub mod options;
pub mod output;
mod overlay_planes;
pub mod panel;
pub mod panel_watch;
mod pixels;
pub mod pool;
pub mod record;
pub mod scan;
#[cfg(test)]
mod self_test;

#[cfg(test)]
mod tests;

pub use backend::{HeadlessBackend, HeadlessError, HotplugEvent};
pub use fault::{FaultScript, FaultScriptError};
pub use options::OutputOptions;
pub use output::HeadlessOutput;
