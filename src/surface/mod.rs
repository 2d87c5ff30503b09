//! A surface's life: its content-update queue, its callbacks and feedback, what it shows.

pub mod dispatch;

use smithay::backend::renderer::utils::{on_commit_buffer_handler, with_renderer_surface_state};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor;

use crate::output;
use crate::protocol::bounds::MAX_NESTING;
use crate::state::State;

/// The content-update queues of all surfaces.
#[derive(Debug, Default)]
pub struct Surfaces {}

/// A client made a surface.
pub fn new_surface(_surface: &WlSurface) {}

/// An update of `surface` was applied: it is the current one from now on.
pub fn applied(state: &mut State, surface: &WlSurface) {
    on_commit_buffer_handler::<State>(surface);
    output::need(state, surface);
}

/// A surface is gone.
pub fn destroyed(_state: &mut State, _surface: &WlSurface) {}

/// Whether the applied update of `surface` has a buffer.
pub fn has_content(surface: &WlSurface) -> bool {
    with_renderer_surface_state(surface, |state| state.buffer().is_some()).unwrap_or(false)
}

/// The root of the tree of subsurfaces that `surface` is part of.
pub fn root(surface: &WlSurface) -> WlSurface {
    let mut root = surface.clone();
    for _ in 0..=MAX_NESTING {
        let Some(parent) = compositor::get_parent(&root) else { break };
        root = parent;
    }
    root
}
