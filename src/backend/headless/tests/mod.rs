//! Tests of the virtual display's guarantees.

mod beam;
mod descriptor;
mod faults;
mod front;
mod kept;
mod overlays;
mod panel;
mod properties;
mod recording;
mod stage;
mod timelines;
