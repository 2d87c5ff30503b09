//! For programs that are clients: what a compositor that keeps time offers them. Nothing in here needs Smithay: with
//! `default-features = false, features = ["client"]` nothing else of the crate is built.
//!
//! [`FramePacer`] is all that most programs want. [`protocol`] has the bindings for those that want to speak the protocol
//! themselves.

pub mod memory;
mod pacer;
pub mod protocol;
pub mod wire;

pub use pacer::{
    DiscardReason, Effective, FramePacer, FrameTarget, NotHeld, Outcome, PacerEvent, Pacing, PacingOptions, Path,
    Reason, RevokeReason, TargetId,
};
