//! What a view is made of.

use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_subsurface::WlSubsurface;
use wayland_client::protocol::wl_surface::WlSurface;

use super::{ContentRole, Region};

/// What a content shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its pixels, which must not change until it is released (`wl_buffer.release`).
    pub buffer: WlBuffer,
    /// Which part of the document it is, or where it is in the view if its role is another. As large as the buffer divided by
    /// `scale`.
    pub region: Region,
    /// Pixels of the buffer for one of the document.
    pub scale: i32,
}

/// One content, whoever moves it.
#[derive(Debug)]
pub(super) struct Part {
    pub surface: WlSurface,
    pub subsurface: WlSubsurface,
    pub role: ContentRole,
    pub picture: Option<Picture>,
    /// It was placed since the last commit.
    pub is_new: bool,
}
