//! Upbeat: a Wayland compositor that keeps time.
//!
//! Instead of repainting at each vblank it decides, per window and per display, when work starts, when it is due and
//! which moment its content shows. `docs/ARCHITECTURE.md` is the map of the house; the words used for points in time
//! are defined in [`timing`].

#[cfg(feature = "compositor")]
pub mod backend;
#[cfg(feature = "compositor")]
pub mod bench;
#[cfg(feature = "compositor")]
pub mod bindings;
#[cfg(feature = "compositor")]
pub mod bounds;
#[cfg(feature = "compositor")]
pub mod cli;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "compositor")]
pub mod closing;
#[cfg(feature = "compositor")]
pub mod config;
#[cfg(feature = "compositor")]
mod descriptors;
#[cfg(feature = "compositor")]
pub mod faults;
#[cfg(feature = "compositor")]
mod files;
#[cfg(feature = "compositor")]
pub mod guard;
#[cfg(feature = "compositor")]
pub mod heap;
#[cfg(feature = "compositor")]
pub mod input;
#[cfg(feature = "compositor")]
pub mod ipc;
#[cfg(feature = "compositor")]
pub mod later;
#[cfg(feature = "compositor")]
pub mod lent_files;
#[cfg(feature = "compositor")]
pub mod log_limits;
pub mod log_noise;
#[cfg(feature = "compositor")]
pub mod output;
#[cfg(feature = "compositor")]
pub mod process_clock;
#[cfg(feature = "compositor")]
pub mod protocol;
#[cfg(feature = "compositor")]
pub mod real_time;
#[cfg(feature = "compositor")]
pub mod render;
#[cfg(feature = "compositor")]
pub mod scene;
#[cfg(feature = "compositor")]
pub mod session;
#[cfg(feature = "compositor")]
pub mod shell;
#[cfg(feature = "compositor")]
pub mod simulate;
#[cfg(feature = "compositor")]
pub mod state;
#[cfg(feature = "compositor")]
pub mod surface;
pub mod time;
#[cfg(feature = "client")]
pub mod timing;
#[cfg(feature = "compositor")]
pub mod trace;
#[cfg(feature = "compositor")]
pub mod turn;
