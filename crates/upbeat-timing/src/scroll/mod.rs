//! Scrolling over a document that is rendered beyond the visible view: the view's motion, the rendered parts, and the
//! region to render next with its deadline.
//!
//! SCAR 4.3. The rendered region is larger than the view. While the view stays inside, a scroll is a new offset and
//! costs no rendering at all.
//!
//! ```text
//!   document      Algorithm 1 (SCAR)     supply, moving down        supply, at rest
//!      │          ┌──────┐ origin        ┌ ─ ─ ─┐ quarter            ┌ ─ ─ ─┐
//!      │          │ view │               ┌──────┐                    ┌──────┐
//!      ▼          └──────┘               │ view │                    │ view │
//!                 ┌ ─ ─ ─┐ (N−1) × H     └──────┘                    └──────┘
//!                 └ ─ ─ ─┘               └ ─ ─ ─┘ three quarters     └ ─ ─ ─┘ half and half
//! ```
//!
//! [`ScarDecider`] is the algorithm as printed. [`RenderSupply`] extends it: both directions and both axes, content in
//! several pieces, content that changes, a memory budget, and a request before the rendered content runs out. Its input
//! is a [`ViewCourse`]: where the view is going, and where it will rest.

mod content_change;
mod drag_prediction;
mod machine;
mod motion;
mod rendered_regions;
mod scar;
mod supply;
mod terms;
mod view_course;

pub use content_change::{ContentChange, PixelChange};
pub use machine::{LowWater, RenderDemand, ScrollRequest, ViewLatch, ViewMachine, ViewPosition, ViewUpdate};
pub use motion::{
    NOTCH_DISTANCE, NOTCH_PARTS, OffsetRange, OffsetRanges, OngoingCourse, USUAL_DECELERATION, ViewMotion, ViewSample,
    WHEEL_TURN,
};
pub use rendered_regions::{MOST_REGIONS, RenderedRegions, ScrollSide};
pub use scar::{ScarDecider, ScarStep};
pub use supply::{RenderLead, RenderSupply, SupplySettings, SupplyState, WantedRegion};
pub use terms::ViewTerms;
pub use view_course::{ScrollDistance, SteadyCourse, ViewCourse};

/// One axis of a region of the document: start and length, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentExtent {
    /// The first pixel of the extent.
    pub start: i64,
    /// The length in pixels.
    pub length: i64,
}

impl DocumentExtent {
    /// The pixel after the last.
    pub const fn end(self) -> i64 {
        self.start + self.length
    }

    /// Whether `other` lies inside.
    pub const fn contains(self, other: DocumentExtent) -> bool {
        other.start >= self.start && other.end() <= self.end()
    }

    /// Whether they have a pixel in common.
    pub const fn overlaps(self, other: DocumentExtent) -> bool {
        self.start < other.end() && other.start < self.end()
    }

    /// The same extent, moved by `by` pixels.
    #[must_use]
    pub const fn moved(self, by: i64) -> DocumentExtent {
        DocumentExtent { start: self.start + by, length: self.length }
    }
}

/// A rectangle of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentRegion {
    /// Left to right, in pixels.
    pub x: DocumentExtent,
    /// Top to bottom, in pixels.
    pub y: DocumentExtent,
}

impl DocumentRegion {
    /// Whether `other` lies inside.
    pub const fn contains(self, other: DocumentRegion) -> bool {
        self.x.contains(other.x) && self.y.contains(other.y)
    }

    /// Whether they have a pixel in common.
    pub const fn overlaps(self, other: DocumentRegion) -> bool {
        self.x.overlaps(other.x) && self.y.overlaps(other.y)
    }

    /// The area in pixels.
    pub const fn pixels(self) -> i64 {
        self.x.length * self.y.length
    }
}
