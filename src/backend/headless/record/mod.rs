//! Recording: every image that was on screen, with its times.
//!
//! ```text
//!   display's thread                              recorder thread (nice)
//!   image_done ── copy into a spare buffer ──►  sink: PNG files · one stream file
//!        ▲             none spare? counted,             │
//!        └──────────── never waited for ◄── buffer ─────┘
//! ```
//! An image is handed over when it *leaves* the screen, because only then its duration is known, and that no
//! front-buffer write will change it. The last image is handed over when the recording ends. The number of buffers
//! bounds the queue. Images that are dropped for lack of a buffer are counted, in the recording itself too.

mod probe;
mod thread;

pub use probe::{LightProbe, LoggedSample, ProbeLog, ProbeSample};
pub use thread::{Recording, RecordingError};
