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
//! [`ScarDecider`] is the algorithm as printed. [`Supply`] extends it: both directions and both axes, content in
//! several pieces, content that changes, a memory budget, and a request before the rendered content runs out. Its input
//! is a [`Course`]: where the view is going, and where it will rest.

mod aim;
mod changing;
mod course;
mod cover;
mod machine;
mod motion;
mod scar;
mod supply;
mod terms;

pub use changing::{Change, Changing};
pub use course::{Course, Steady, Way};
pub use cover::{Cover, MOST_REGIONS, Side};
pub use machine::{Demand, Latch, LowWater, Movement, ShownAt, Step, ViewMachine};
pub use motion::{
    NOTCH_DISTANCE, NOTCH_PARTS, Onward, Place, Range, Ranges, USUAL_DECELERATION, ViewMotion, WHEEL_TURN,
};
pub use scar::{ScarDecider, ScarStep};
pub use supply::{Lead, Look, Supply, SupplySettings, Wanted};
pub use terms::Terms;

/// One axis of a region of the document: start and length, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first pixel of the extent.
    pub start: i64,
    /// The length in pixels.
    pub length: i64,
}

impl Extent {
    /// The pixel after the last.
    pub const fn end(self) -> i64 {
        self.start + self.length
    }

    /// Whether `other` lies inside.
    pub const fn contains(self, other: Extent) -> bool {
        other.start >= self.start && other.end() <= self.end()
    }

    /// Whether they have a pixel in common.
    pub const fn overlaps(self, other: Extent) -> bool {
        self.start < other.end() && other.start < self.end()
    }

    /// The same extent, moved by `by` pixels.
    #[must_use]
    pub const fn moved(self, by: i64) -> Extent {
        Extent { start: self.start + by, length: self.length }
    }
}

/// A rectangle of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Left to right, in pixels.
    pub x: Extent,
    /// Top to bottom, in pixels.
    pub y: Extent,
}

impl Region {
    /// Whether `other` lies inside.
    pub const fn contains(self, other: Region) -> bool {
        self.x.contains(other.x) && self.y.contains(other.y)
    }

    /// Whether they have a pixel in common.
    pub const fn overlaps(self, other: Region) -> bool {
        self.x.overlaps(other.x) && self.y.overlaps(other.y)
    }

    /// The area in pixels.
    pub const fn pixels(self) -> i64 {
        self.x.length * self.y.length
    }
}
