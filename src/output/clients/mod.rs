//! The clients of an output: when each gets frame callbacks, and with which target.

pub(super) mod blockers;
pub(super) mod early_callbacks;
pub(super) mod enter_leave;
pub(super) mod frame_callbacks;
pub mod frame_targets;
pub mod front_buffer;
pub(super) mod paced_clients;
pub mod pacing;
pub mod rules;
pub(super) mod second_period;
pub(super) mod spare_buffer;
pub mod statistics;
pub(super) mod surface_queries;
