//! Upbeat: a Wayland compositor that keeps time.
//!
//! Instead of repainting at each vblank it decides, per window and per display, when work starts, when it is due and
//! which moment its content shows. `docs/ARCHITECTURE.md` describes the modules. The terms for points in time are
//! defined in [`upbeat_timing`].

pub mod allocator_settings;
pub mod backend;
pub mod bindings;
pub mod bounds;
pub mod cli;
pub mod client_files;
pub mod config;
pub mod deferred_calls;
mod descriptors;
pub mod guard;
pub mod input;
pub mod ipc;
pub mod log_filter;
pub mod log_rate_limit;
pub mod nonblocking_close;
pub mod output;
pub mod output_transform;
pub mod protocol;
pub mod real_time;
pub mod render;
pub mod revision;
pub mod scene;
pub mod session;
pub mod shell;
pub mod state;
pub mod surface;
