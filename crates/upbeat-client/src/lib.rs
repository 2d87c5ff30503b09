//! A library for Wayland clients: it helps them to draw each frame for the refresh that shows it, and needs neither
//! Smithay nor other parts of the compositor.
//!
//! Most programs only need [`FramePacer`]. Programs that draw under a pen, finger or pointer also use
//! [`PredictedInput`]; programs that show a part of a long document use [`ScrollView`]. [`protocol`] contains the
//! bindings for programs that use the protocols directly.

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
