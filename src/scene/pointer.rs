//! The image to draw at the pointer.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use crate::backend::PixelBuffer;

/// A cursor as pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct CursorImage {
    /// Premultiplied `ARGB8888` pixels.
    pub pixels: Arc<PixelBuffer>,
    /// The hotspot, in pixels from the top left corner.
    pub hotspot: (i32, i32),
}

/// Source of the cursor's image.
#[derive(Clone, Debug, PartialEq)]
pub enum CursorView {
    Hidden,
    /// A client's surface tree, with its hotspot at the pointer (surface coordinates).
    Surface(WlSurface, Point<i32, Logical>),
    /// An image, in physical pixels of the requested scale.
    Image(CursorImage),
}
