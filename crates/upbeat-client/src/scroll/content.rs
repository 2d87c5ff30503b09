//! The contents of a view: subsurfaces with parts of the document.

use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_subsurface::WlSubsurface;
use wayland_client::protocol::wl_surface::WlSurface;

use super::{ContentRole, DocumentRegion};

/// The picture that a content shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentPicture {
    /// Its pixels, which must not change until it is released (`wl_buffer.release`).
    pub buffer: WlBuffer,
    /// The part of the document that it shows; for other roles than `Document`, its position in the view. Its size
    /// is the size of the buffer divided by `scale`.
    pub region: DocumentRegion,
    /// Buffer pixels per document pixel.
    pub scale: i32,
}

/// A content of a view. Both kinds of views use it.
#[derive(Debug)]
pub(super) struct ViewContent {
    pub surface: WlSurface,
    pub subsurface: WlSubsurface,
    pub role: ContentRole,
    pub picture: Option<ContentPicture>,
    /// It was placed or changed since the last commit.
    pub is_new: bool,
}
