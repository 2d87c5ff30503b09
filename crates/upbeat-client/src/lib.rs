//! For programs that are clients: what a compositor that keeps time offers them. It needs neither Smithay nor
//! anything else of the compositor.
//!
//! [`FramePacer`] is all that most programs want, and those that draw under a hand [`PredictedInput`], those that show a part of something long a [`ScrollView`]. [`protocol`] has the bindings for those that want to speak the protocol
//! themselves.

#![warn(missing_docs)]

mod binding;
mod front_buffer;
pub mod memory;
mod pacer;
mod predicted_input;
pub mod protocol;
mod scroll;
pub mod wire;

pub use front_buffer::{FrontBuffer, FrontEvent, RowTimes, SharedRect, WhyNot};
pub use pacer::{
    DiscardReason, Effective, FramePacer, FrameTarget, NotHeld, Outcome, PacerEvent, Pacing, PacingOptions, Path,
    Reason, RevokeReason, TargetId,
};
pub use predicted_input::{PredictedDevice, PredictedInput, PredictedPoint};
pub use scroll::{
    ContentId, ContentRole, Demand, Extent, LowWater, Mode as ScrollMode, Picture, Reason as ScrollReason, Region,
    ScrollError, ScrollEvent, ScrollOptions, ScrollView, Side, Tile, TileRing,
};
