//! What the virtual display promises.

mod descriptor;
mod faults;
mod panel;
mod properties;
mod stage;
mod timelines;
