//! Records and messages that the compositor shares with other programs: benchmarks, the simulator, scripts.
//!
//! - [`trace`]: writes and reads the frame log, explains late frames, and converts a log to a Perfetto trace.
//! - [`recording`]: the pictures that a virtual display showed, in one file or as PNG files.
//! - [`ipc`]: the protocol of the private socket, and a client for it.
//! - [`pixels`]: a picture in memory.
//! - [`process_clock`]: the CPU time of another process.
//! - [`files`]: opens files that a user names. [`faults`]: fault injection for tests.

#![warn(missing_docs)]

pub mod faults;
pub mod files;
pub mod ipc;
pub mod pixels;
pub mod process_clock;
pub mod recording;
pub mod trace;
