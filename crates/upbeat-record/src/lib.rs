//! The records and messages that the compositor shares with the programs around it: benchmarks, the simulator, scripts.
//!
//! - [`trace`]: the frame log, written and read; why a frame was late; a log as a trace for Perfetto.
//! - [`recording`]: the pictures that a virtual display showed, in one file or as PNG files.
//! - [`ipc`]: the requests and answers of the private socket, and a client that sends and reads them.
//! - [`pixels`]: a picture in memory.
//! - [`process_clock`]: the CPU time of another process.
//! - [`files`]: opening files that a user names. [`faults`]: failures on purpose, in tests.

#![warn(missing_docs)]

pub mod faults;
pub mod files;
pub mod ipc;
pub mod pixels;
pub mod process_clock;
pub mod recording;
pub mod trace;
