//! What the examples have in common: a window of fixed size on shared memory, a picture to draw into, and figures of how
//! it goes. What they are about, which moment a frame is drawn for, is in each of them.
#![allow(dead_code, reason = "each example uses some of it")]

pub mod figures;
pub mod mode;
pub mod picture;
pub mod screen;
pub mod waiting;
pub mod window;
