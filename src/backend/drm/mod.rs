//! Displays of this machine, through atomic KMS (or legacy modesetting, where the driver has no better).
//!
//! | file | is |
//! |---|---|
//! | `card` | one device, as the main thread has it: what is plugged in |
//! | `worker`, `workshop` | the thread that asks the device whatever may take a while |
//! | `connector`, `mode` | which CRTC and which video mode a monitor gets |
//! | `pipe`, `mirror` | one CRTC as the main thread has it: plans in, events out, and what it knows without asking |
//! | `presenter` | the real-time thread of one output, which hears of flips and commits |
//! | `flipper`, `flip_queue`, `caution` | what it owns: one flip under way, others that wait, and until when |
//! | `messages`, `post` | what these threads say to each other, and how |
//! | `crtc`, `atomic`, `told` | commits, of what is new, and tests of commits |
//! | `output` | a pipe as a [`Display`](super::Display) |
//! | `scanout`, `memory` | the pictures that the primary plane shows, of the best of the next kinds |
//! | `frames` | buffers that are drawn into in place, by a GPU or the CPU: which are free, and how old they are |
//! | `gbm`, `fence` | buffers of the device that a GPU draws into, handed over before it is done |
//! | `shadow`, `cursor`, `dumb`, `mapping` | memory that the CPU copies into |
//! | `drawer`, `node` | whoever composes, as a device sees it, and the file that is drawn on |
//! | `damage`, `stale` | what drivers are told of what is new in a picture |
//! | `property`, `refusal`, `patience` | properties of the kernel's objects; what its refusals mean, and when it is asked again |
//! | `planes`, `verdicts` | planes that show clients' buffers, and what the driver is known to take |
//! | `client`, `readback` | clients' buffers as framebuffers, and as pixels |
//! | `plane_config` | what planes are told |
//! | `vrr` | whether the rate varies with the frames |
//! | `gamma` | the CRTC's colour table |
//! | `clock` | whether the driver's timestamps can be believed, and what stands in for them |
//!
//! ```text
//!  Plan ─► Pipe ─► Submit ─► Flipper ─► atomic commit ─► … vblank ─► flip event ─► FlipClock ─► Presented ─► Pipe
//!                               └ while one is under way ─► queue ─► commit            └ no vblank: a tick later
//! ```
//!
//! What every ioctl is for, and on which thread it is, stands in `docs/DRM.md`.

mod atomic;
pub mod card;
mod caution;
mod client;
pub mod clock;
mod connector;
mod crtc;
mod cursor;
mod damage;
mod drawer;
mod dumb;
mod edid;
mod fence;
mod flip_queue;
mod flipper;
mod frames;
mod gamma;
mod gbm;
mod mapping;
mod memory;
mod messages;
mod mirror;
pub mod mode;
mod node;
pub mod output;
mod patience;
mod pipe;
mod plane_config;
mod planes;
mod post;
mod presenter;
mod property;
mod readback;
mod refusal;
mod scanout;
mod shadow;
mod stale;
mod told;
mod verdicts;
mod vrr;
mod worker;
mod workshop;

pub use card::{Card, Change};
pub use drawer::Drawer;
pub use edid::identify;
pub use mode::ModeWish;
pub use node::DrawOn;
pub use output::DrmOutput;
pub use vrr::slowest_rate;

/// What can go wrong with a display device. Each says what was wanted and what the kernel answered.
#[derive(Debug, thiserror::Error)]
pub enum DrmError {
    /// The device does not answer.
    #[error("the device does not tell {what}: {error}")]
    Device {
        /// What was asked for.
        what: &'static str,
        /// The kernel's answer.
        error: std::io::Error,
    },
    /// The device cannot be used for display.
    #[error("{what}: {error}")]
    Kms {
        /// What was tried.
        what: &'static str,
        /// What went wrong, in Smithay's words.
        error: Box<smithay::backend::drm::DrmError>,
    },
    /// No memory, or none that a plane can show.
    #[error("no {what} for a picture of {width}x{height}: {error}")]
    Memory {
        /// What is missing.
        what: &'static str,
        /// Pixels.
        width: i32,
        /// Pixels.
        height: i32,
        /// The kernel's answer.
        error: std::io::Error,
    },
    /// The monitor has no mode at all.
    #[error("{name} has no video mode")]
    NoMode {
        /// The connector.
        name: String,
    },
    /// The monitor does not have the mode that somebody wants.
    #[error("{name} has no mode {wanted}; it has {available}")]
    UnknownMode {
        /// The connector.
        name: String,
        /// What was asked for.
        wanted: String,
        /// All that there is.
        available: String,
    },
    /// All CRTCs are in use.
    #[error("{name} cannot be driven: all CRTCs that could are in use")]
    NoCrtc {
        /// The connector.
        name: String,
    },
}

fn kms(what: &'static str) -> impl FnOnce(smithay::backend::drm::DrmError) -> DrmError {
    move |error| DrmError::Kms { what, error: Box::new(error) }
}
