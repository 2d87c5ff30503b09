//! Upbeat: a Wayland compositor that keeps time.
//!
//! Instead of repainting at each vblank it decides, per window and per display, when work starts, when it is due and
//! which moment its content shows. `docs/ARCHITECTURE.md` is the map of the house; the words used for points in time
//! are defined in [`timing`].

pub mod backend;
pub mod bench;
pub mod time;
pub mod timing;
pub mod trace;
