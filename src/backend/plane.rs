//! Hardware planes: clients' buffers that the display itself blends with the composed picture.
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
use super::front::FrontMemory;

/// A picture in memory that devices share (a dma-buf).
#[derive(Debug)]
pub struct DeviceMemory {
    pub width: u32,
    pub height: u32,
    /// The pixel format: a FourCC code as in the kernel's `drm_fourcc.h`.
    pub format: u32,
    /// The pixel layout: a format modifier of the same file; 0 is linear.
    pub modifier: u64,
    /// The format's memory planes, at most four.
    pub parts: Vec<MemoryPart>,
}

/// One memory plane of a [`DeviceMemory`].
#[derive(Debug)]
pub struct MemoryPart {
    pub descriptor: OwnedFd,
    /// Offset of the first row in the dma-buf, in bytes.
    pub offset: u32,
    /// Bytes from one row to the next.
    pub stride: u32,
}

/// The memory of a client's buffer on a plane.
#[derive(Clone, Debug)]
pub enum PlaneMemory {
    Device(Arc<DeviceMemory>),
    /// The part of a buffer in shared memory (`wl_shm`) that the plane shows, pixel by pixel: its rows are as long as
    /// the target. The display reads it when it begins to show the frame.
    Shared(Arc<dyn FrontMemory>),
}

impl PlaneMemory {
    /// The device memory; `None` for shared memory.
    pub const fn device(&self) -> Option<&Arc<DeviceMemory>> {
        match self {
            PlaneMemory::Device(memory) => Some(memory),
            PlaneMemory::Shared(_) => None,
        }
    }
}

/// A rectangle of a buffer, in buffer pixels; planes take fractions of 1/65536.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SourceRect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A client's buffer on a plane.
#[derive(Clone, Debug)]
pub struct PlaneContent {
    pub memory: PlaneMemory,
    /// Keeps the client from drawing into the buffer. The display drops it when the plane shows something else.
    pub hold: Arc<dyn BufferHold>,
    /// The part of the buffer that is shown.
    pub source: SourceRect,
    /// Each pixel is shown opaque, whatever its alpha. Otherwise the plane blends it with the picture below it, by its
    /// alpha: colours are premultiplied.
    pub is_opaque: bool,
    /// Position on the output.
    pub target: PixelRect,
}

/// A guard that has an effect only when it is dropped.
pub trait BufferHold: Any + Send + Sync + std::fmt::Debug {}

impl<T: Any + Send + Sync + std::fmt::Debug> BufferHold for T {}

/// The clients' buffers that planes show in a frame.
#[derive(Clone, Debug, Default)]
pub struct PlaneContents {
    /// A buffer that fills the screen on the primary plane, so that the composed picture is not seen.
    pub direct: Option<PlaneContent>,
    /// Buffers above the primary plane, topmost first. They overlap each other only where the display stacks its
    /// overlay planes ([`Capabilities::stacked_overlays`](super::Capabilities::stacked_overlays)).
    pub overlays: Vec<PlaneContent>,
}

impl PlaneContents {
    /// Whether no client's buffer is on a plane.
    pub fn is_empty(&self) -> bool {
        self.direct.is_none() && self.overlays.is_empty()
    }

    /// The primary plane's content, then the overlays.
    pub fn contents(&self) -> impl Iterator<Item = &PlaneContent> {
        self.direct.iter().chain(&self.overlays)
    }
}
