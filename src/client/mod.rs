//! For programs that are clients: what a compositor that keeps time offers them. Nothing in here needs Smithay.

pub mod memory;
pub mod protocol;
pub mod wire;
