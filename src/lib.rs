//! Upbeat: a Wayland compositor that keeps time.
//!
//! Instead of repainting at each vblank it decides, per window and per display, when work starts, when it is due and
//! which moment its content shows. `docs/ARCHITECTURE.md` is the map of the house; the words used for points in time
//! are defined in [`timing`].

pub mod backend;
pub mod bench;
pub mod cli;
pub mod client;
pub mod config;
pub mod input;
pub mod ipc;
pub mod output;
pub mod process_clock;
pub mod protocol;
pub mod render;
pub mod session;
pub mod shell;
pub mod simulate;
pub mod state;
pub mod surface;
pub mod time;
pub mod timing;
pub mod trace;
