//! `upbeat_frame_pacing_v1`: frames that are drawn ahead, each for its own refresh.

mod ahead;
mod cancel;
mod errors;
mod fuzz;
mod interrupt;
mod lifetimes;
mod paced_window;
mod second_shot;
