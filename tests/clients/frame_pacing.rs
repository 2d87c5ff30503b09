//! `upbeat_frame_pacing_v1`: frames that are drawn ahead, each for a refresh of its own.

mod ahead;
mod cancel;
mod errors;
mod fuzz;
mod interrupt;
mod life;
mod second_shot;
mod stage;
