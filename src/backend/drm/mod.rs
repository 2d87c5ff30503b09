//! Displays of this machine, through atomic KMS (or legacy modesetting, where the driver has no better).
//!
//! | file | is |
//! |---|---|
//! | `card` | one device: what is plugged in, its flip events |
//! | `connector`, `mode` | which CRTC and which video mode a monitor gets |
//! | `pipe` | one CRTC as the main thread has it: plans in, events out |
//! | `flipper`, `flip_queue`, `caution` | the same as the kernel has it: one flip under way, others that wait, and until when; shared by both threads |
//! | `presenter`, `watchdog` | the thread that hears of flips and commits what waits |
//! | `output` | a pipe as a [`Display`](super::Display) |
//! | `scanout` | the memory that the primary plane shows: the better of the next two |
//! | `gbm`, `fence` | buffers of the device that a GPU draws into, handed over before it is done |
//! | `shadow`, `cursor`, `dumb`, `mapping` | memory that the CPU copies into |
//! | `damage` | what drivers are told of what is new in a picture |
//! | `property`, `refusal` | properties of the kernel's objects; what its refusals mean |
//! | `planes`, `client`, `readback` | planes that show clients' buffers; those as framebuffers, and as pixels |
//! | `plane_config` | what planes are told |
//! | `vrr` | whether the rate varies with the frames |
//! | `gamma`, `request` | the CRTC's colour table, and the flip that carries it |
//! | `clock` | whether the driver's timestamps can be believed, and what stands in for them |
//!
//! ```text
//!  Plan ─► Pipe::submit ─► atomic commit (non-blocking) ─► … vblank ─► flip event ─► FlipClock ─► Presented
//!                   └ while one is under way ─► queue ─► commit, by the presenter        └ no vblank: a tick later
//! ```

pub mod card;
mod caution;
mod client;
pub mod clock;
mod connector;
mod cursor;
mod damage;
mod dumb;
mod fence;
mod flip_queue;
mod flipper;
mod framebuffer;
mod gamma;
mod gbm;
mod mapping;
pub mod mode;
pub mod output;
mod pipe;
mod plane_config;
mod planes;
mod presenter;
mod property;
mod readback;
mod refusal;
mod request;
mod scanout;
mod shadow;
mod stale;
mod vrr;
mod watchdog;

pub use card::{Card, Change};
pub use framebuffer::Drawer;
pub use mode::ModeWish;
pub use output::DrmOutput;

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
