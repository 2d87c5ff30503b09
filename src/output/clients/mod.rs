//! The clients of an output: when each gets frame callbacks, and with which target.

pub mod ahead;
pub(super) mod calling_back;
pub(super) mod early;
pub mod front_buffer;
pub(super) mod gates;
pub(super) mod paced_clients;
pub mod pacing;
pub mod rules;
pub(super) mod second_period;
pub(super) mod shows;
pub(super) mod spare_buffer;
pub mod statistics;
pub(super) mod visiting;
