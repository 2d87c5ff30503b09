//! The place of a surface in its tree: how many subsurfaces it has, and whether it waits for its parent
//! ([`synchronised_commits`](super::synchronised_commits)).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

#[derive(Debug, Default)]
pub(super) struct SubsurfaceNode {
    /// How many descendants it has.
    pub descendants: usize,
    /// How many direct subsurfaces it has.
    pub children: usize,
    /// The protocol id of its `wl_subsurface`, if it has one and the id is known.
    pub role: Option<u32>,
    /// The mode that the client set: `wl_subsurface.set_sync` or `set_desync`.
    pub is_synchronised: bool,
    /// The mode that Smithay has stored.
    pub is_smithay_synchronised: bool,
    /// Its children that are synchronised in Smithay's state.
    pub cached_children: Vec<WlSurface>,
}
