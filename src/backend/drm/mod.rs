//! The DRM backend: this machine's displays, through atomic KMS (or legacy modesetting, where the driver has nothing
//! else).
//!
//! | file | contents |
//! |---|---|
//! | `card` | one device, as the main thread sees it: its monitors |
//! | `worker`, `device_jobs` | the thread for ioctls that may block |
//! | `connector`, `mode` | the CRTC and the video mode of a monitor |
//! | `pipe`, `presenter_mirror` | one CRTC on the main thread: plans in, events out; a copy of the presenter's state |
//! | `presenter` | the real-time thread of one output: it commits and receives flip events |
//! | `flipper`, `flip_queue`, `commit_slack` | its state: the flip in flight, the waiting frames, their commit times |
//! | `front_scan` | when the beam lights pixels that are written into the picture on screen |
//! | `messages`, `command_queue` | the messages between these threads, and their queue |
//! | `crtc`, `atomic`, `committed_state` | commits of changed properties, and test commits |
//! | `edid` | a monitor's identity |
//! | `output` | a pipe as a [`Display`](super::Display) |
//! | `scanout`, `memory` | the primary plane's buffers, of the best kind that works (next lines) |
//! | `device_buffer_pool` | buffers that a GPU or the CPU draws into in place: free buffers and ages |
//! | `gbm`, `fence` | device buffers that a GPU draws into, submitted before they are finished |
//! | `shadow`, `cursor`, `dumb`, `mapping` | memory that the CPU copies into |
//! | `node` | the device node that the renderer opens |
//! | `damage`, `stale_region` | damage clips for drivers |
//! | `driver_features` | asynchronous flips, cursor moves and `DIRTYFB`: those of each driver |
//! | `property` | properties of KMS objects |
//! | `commit_error`, `retry_backoff` | the meaning of commit errors, and the time of a retry |
//! | `planes`, `test_commit_cache` | planes for clients' buffers, and the results of test commits |
//! | `client_framebuffer`, `readback` | clients' buffers as framebuffers, and as pixels |
//! | `plane_config` | plane states, in Smithay's types |
//! | `vblank` | the kernel's vblank counter |
//! | `vrr` | variable refresh rate |
//! | `gamma` | the CRTC's gamma table |
//! | `flip_clock` | whether the driver's timestamps are plausible, and their replacement |
//!
//! ```text
//!  FramePlan ─► Pipe ─► Submit ─► Flipper ─► atomic commit ─► … vblank ─► flip event ─► FlipClock ─► Presented ─► Pipe
//!                                    └ while one is in flight ─► queue ─► commit            └ no vblank: a tick later
//! ```
//!
//! `docs/DRM.md` lists every ioctl, its purpose and its thread.

mod atomic;
pub mod card;
mod client_framebuffer;
mod command_queue;
mod commit_error;
mod commit_slack;
mod committed_state;
mod connector;
mod crtc;
mod cursor;
mod damage;
mod device_buffer_pool;
mod device_jobs;
mod driver_features;
mod dumb;
mod edid;
mod fence;
pub mod flip_clock;
mod flip_queue;
mod flipper;
mod front_scan;
mod gamma;
mod gbm;
mod mapping;
mod memory;
mod messages;
pub mod mode;
mod monitor_check;
mod node;
pub mod output;
mod pipe;
mod plane_config;
mod planes;
mod presenter;
mod presenter_mirror;
mod property;
mod readback;
mod retry_backoff;
mod scanout;
mod shadow;
mod stale_region;
mod test_commit_cache;
mod vblank;
mod vrr;
mod worker;

pub use card::{CardEvent, DrmCard};
pub use edid::identify;
pub use mode::ConfiguredMode;
pub use node::{RendererNode, open_node};
pub use output::DrmOutput;
pub use vrr::slowest_rate;

/// An error of a DRM device: the attempted operation and the kernel's error.
#[derive(Debug, thiserror::Error)]
pub enum DrmError {
    /// An ioctl on the device failed.
    #[error("{what}: {error}")]
    Device {
        /// The operation, as a part of the message.
        what: &'static str,
        error: std::io::Error,
    },
    /// The device cannot be used for display.
    #[error("{what}: {error}")]
    Kms {
        /// The operation, as a part of the message.
        what: &'static str,
        error: Box<smithay::backend::drm::DrmError>,
    },
    /// There is no memory, or none that a plane can show.
    #[error("no {what} for a picture of {width}x{height}: {error}")]
    Memory {
        /// The kind of memory, as a part of the message.
        what: &'static str,
        width: i32,
        height: i32,
        error: std::io::Error,
    },
    /// The monitor has no mode at all.
    #[error("{name} has no video mode")]
    NoMode { name: String },
    /// The monitor does not have the configured mode.
    #[error("{name} has no mode {wanted}; it has {available}")]
    UnknownMode { name: String, wanted: String, available: String },
    /// All CRTCs are in use.
    #[error("{name} cannot be driven: all CRTCs that can drive it are in use")]
    NoCrtc { name: String },
}

fn kms(what: &'static str) -> impl FnOnce(smithay::backend::drm::DrmError) -> DrmError {
    move |error| DrmError::Kms { what, error: Box::new(error) }
}
