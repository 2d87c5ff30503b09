//! Upbeat: a Wayland compositor that keeps time.
//!
//! Instead of repainting at each vblank it decides, per window and per display, when work starts, when it is due and
//! which moment its content shows. `docs/ARCHITECTURE.md` describes the modules. The terms for points in time are
//! defined in [`upbeat_timing`].

pub mod backend;
pub mod bindings;
pub mod bounds;
pub mod cli;
pub mod closing;
pub mod config;
mod descriptors;
pub mod guard;
pub mod heap;
pub mod input;
pub mod ipc;
pub mod later;
pub mod lent_files;
pub mod log_limits;
pub mod log_noise;
pub mod output;
pub mod protocol;
pub mod real_time;
pub mod render;
pub mod revision;
pub mod scene;
pub mod session;
pub mod shell;
pub mod state;
pub mod surface;
pub mod turn;
