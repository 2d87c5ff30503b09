//! The frame log: writing, reading and converting it, and sentences about late frames.

pub mod frame_log;
pub mod kernel_times;
pub mod line;
pub mod perfetto;
pub mod reader;
pub mod why_late;

pub use frame_log::{FrameLog, FrameLogError};
