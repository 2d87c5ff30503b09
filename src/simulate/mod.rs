//! A simulated display pipeline that drives the timing core: what a way of pacing would do with a load.

pub mod animation;
pub mod bounds;
pub mod interaction;
pub mod load;
pub mod random;
pub mod tally;
