//! What is to be drawn at the pointer.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use crate::backend::PixelBuffer;

/// A cursor as pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct CursorImage {
    /// Premultiplied `ARGB8888`.
    pub pixels: Arc<PixelBuffer>,
    /// The pixel that points, from the top left.
    pub hotspot: (i32, i32),
}

/// What to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum CursorView {
    /// Nothing.
    Hidden,
    /// A client's surface tree, with its hotspot at the pointer (surface coordinates).
    Surface(WlSurface, Point<i32, Logical>),
    /// An image, in physical pixels of the scale that was asked for.
    Image(CursorImage),
}
