//! `upbeat_frame_pacing_v1`: frames that are drawn ahead, each for a refresh of its own.

mod ahead;
mod cancel;
mod errors;
mod stage;
