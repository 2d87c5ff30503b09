//! Ids of outputs, clients, surfaces, windows and frames. They are plain numbers, so that the timing core does not
//! depend on the objects. A number is never used twice in a session.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $word:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, " {}"), self.0)
            }
        }
    };
}

id!(
    /// An output, counted from 1 in the order of connection. A display that is plugged in again is a new output.
    OutputId,
    "output"
);
id!(
    /// A client's connection, counted from 1.
    ClientId,
    "client"
);
id!(
    /// A surface, counted from 1 over all clients.
    SurfaceId,
    "surface"
);
id!(
    /// A window (a toplevel with its popups and subsurfaces), counted from 1. `upbeat msg windows` shows these numbers.
    WindowId,
    "window"
);

/// An update of a surface: its commits with new content are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpdateId {
    /// The surface that was updated.
    pub surface: SurfaceId,
    /// The update's number, counted from 1 for each surface.
    pub number: u64,
}

/// A frame of one output, numbered in the order in which content was chosen. Some frames are never composed or never
/// shown; no number is used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u64);

/// Identifies a pacer of one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacerId(pub(crate) u32);
