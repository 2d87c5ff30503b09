//! Figures of running sessions.

mod animations;
mod idle;
mod interrupt;
mod memory;
mod programs;
mod scroll;
mod smoothness;
