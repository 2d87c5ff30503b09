//! What a surface is in its tree: how many others hang on it, and whether it waits for its parent ([`taking_along`]).
//!
//! [`taking_along`]: super::taking_along

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

/// What a surface is in its tree.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// How many surfaces hang on it, at any depth.
    pub below: usize,
    /// How many hang on it without another one in between.
    pub children: usize,
    /// Its client's number for what makes it a subsurface, if it is one and that is known.
    pub role: Option<u32>,
    /// Its client wants it to be synchronised, if it is a subsurface.
    pub is_synchronised: bool,
    /// Smithay believes that it is.
    pub is_told: bool,
    /// Its children of which Smithay believes that.
    pub told: Vec<WlSurface>,
}
