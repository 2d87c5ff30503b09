//! A library for Wayland clients: it helps them to draw each frame for the refresh that shows it, and needs neither
//! Smithay nor other parts of the compositor.
//!
//! Most programs only need [`FramePacer`]. Programs that draw under a pen, finger or pointer also use
//! [`PredictedInput`], [`Follower`] and [`FrontBuffer`]; programs that show a part of a long document use
//! [`ScrollView`]. [`protocol`] contains the bindings for programs that use the protocols directly.

#![warn(missing_docs)]

mod bind_global;
mod follower;
mod front_buffer;
pub mod memory;
mod pacer;
mod predicted_input;
pub mod protocol;
mod scroll;
pub mod wire;

pub use follower::{FollowDevices, FollowMeans, Follower};
pub use front_buffer::{FrontBuffer, FrontEvent, InactiveReason, RowTimes, SharedRect};
pub use pacer::{
    DiscardReason, FramePacer, FrameTarget, NotHeld, PacerEvent, Pacing, PacingInForce, PacingOptions, Path, Reason,
    RevokeReason, TargetId, TargetOutcome,
};
pub use predicted_input::{PredictedDevice, PredictedInput, PredictedPoint};
pub use scroll::{
    ContentId, ContentPicture, ContentRole, DocumentExtent, DocumentRegion, LowWater, Mode as ScrollMode,
    Reason as ScrollReason, RenderDemand, ScrollError, ScrollEvent, ScrollOptions, ScrollSide, ScrollView, Tile,
    TileRing,
};
