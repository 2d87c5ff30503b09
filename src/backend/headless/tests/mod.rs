//! What the virtual display promises.

mod beam;
mod descriptor;
mod faults;
mod front;
mod panel;
mod properties;
mod recording;
mod stage;
mod timelines;
