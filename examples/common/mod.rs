//! Code that the examples share: a window of fixed size on shared memory, a picture to draw into, and figures of drops
//! and latency. Each example itself chooses the moment for which a frame is drawn.
#![allow(dead_code, reason = "each example uses some of it")]

pub mod figures;
pub mod mode;
pub mod picture;
pub mod screen;
pub mod tablet;
pub mod wait;
pub mod window;
