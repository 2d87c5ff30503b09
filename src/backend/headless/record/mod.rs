//! Recording: every image that was on screen, and when.
//!
//! ```text
//!   display's thread                              recorder thread (nice)
//!   image_done ── copy into a spare buffer ──►  sink: PNG files · one stream file
//!        ▲             none spare? counted,             │
//!        └──────────── never waited for ◄── buffer ─────┘
//! ```
//! An image is handed over when it *leaves* the screen, because only then is it known how long it stayed and that no
//! front-buffer write will change it; the last one when the recording ends. The number of buffers bounds the queue.
//! What is dropped for want of one is counted, in the recording itself too.

mod probe;
mod thread;

pub use probe::{LightProbe, LoggedSample, ProbeLog, ProbeSample};
pub use thread::{Recording, RecordingError};
