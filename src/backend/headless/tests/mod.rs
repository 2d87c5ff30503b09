//! What the virtual display promises.

mod descriptor;
mod properties;
mod stage;
mod timelines;
