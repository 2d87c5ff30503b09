//! What the virtual display promises.

mod descriptor;
mod faults;
mod panel;
mod properties;
mod recording;
mod stage;
mod timelines;
