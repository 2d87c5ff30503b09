//! Planes: what of a picture the display puts together by itself, from clients' own buffers.
//!
//! ```text
//!     cursor plane      ▒                    the pointer
//!     overlay planes  ┌──────┐ ┌────┐        windows, as their clients drew them
//!     primary plane  ┌──────────────────┐    the composed picture; or one client's buffer that fills the screen
//! ```

use std::any::Any;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::PixelRect;

/// A picture in memory that devices share (a dma-buf).
#[derive(Debug)]
pub struct DeviceMemory {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The pixel format: a FourCC code as in the kernel's `drm_fourcc.h`.
    pub format: u32,
    /// The layout of the pixels: a modifier as in the same file; 0 is row by row.
    pub modifier: u64,
    /// Its parts, as many as the format has; at most four.
    pub parts: Vec<MemoryPart>,
}

/// One part of a [`DeviceMemory`].
#[derive(Debug)]
pub struct MemoryPart {
    /// The dma-buf.
    pub descriptor: OwnedFd,
    /// Where in it the first row starts, in bytes.
    pub offset: u32,
    /// Bytes from one row to the next.
    pub stride: u32,
}

/// A rectangle of a buffer, in its pixels; planes take fractions of 1/65536.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SourceRect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A buffer of a client on a plane.
#[derive(Clone, Debug)]
pub struct PlaneContent {
    /// The pixels.
    pub memory: Arc<DeviceMemory>,
    /// Keeps the client from drawing into them. The display lets go of it when the plane shows something else.
    pub hold: Arc<dyn Hold>,
    /// The part of them that is shown. Every pixel of it is opaque, whatever its alpha says.
    pub source: SourceRect,
    /// Where on the output.
    pub target: PixelRect,
}

/// Something that is only there to be dropped.
pub trait Hold: Any + Send + Sync + std::fmt::Debug {}

impl<T: Any + Send + Sync + std::fmt::Debug> Hold for T {}

/// Which planes show clients' buffers in a frame.
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// This fills the screen, on the primary plane: the composed picture is not seen.
    pub direct: Option<PlaneContent>,
    /// These lie above the primary plane, and nowhere above each other.
    pub overlays: Vec<PlaneContent>,
}

impl Planes {
    /// Whether no client's buffer is on a plane.
    pub fn is_empty(&self) -> bool {
        self.direct.is_none() && self.overlays.is_empty()
    }

    /// All that is on planes.
    pub fn contents(&self) -> impl Iterator<Item = &PlaneContent> {
        self.direct.iter().chain(&self.overlays)
    }
}
