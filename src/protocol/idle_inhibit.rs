//! `zwp_idle_inhibit_manager_v1` 1: surfaces that want the screen to stay on while they are visible.
//!
//! Whoever tells that nobody does anything asks [`inhibits`] ([`idle_notify`](super::idle_notify)).

use smithay::reexports::wayland_protocols::wp::idle_inhibit::zv1::server::zwp_idle_inhibit_manager_v1::ZwpIdleInhibitManagerV1;
use smithay::reexports::wayland_protocols::wp::idle_inhibit::zv1::server::zwp_idle_inhibitor_v1::ZwpIdleInhibitorV1;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::idle_inhibit::inhibitor::IdleInhibitorState;
use smithay::wayland::idle_inhibit::{IdleInhibitHandler, IdleInhibitManagerState};

use super::floor::delegate;
use crate::state::State;

/// The surfaces that inhibit idling.
#[derive(Debug)]
pub struct IdleInhibit {
    _global: IdleInhibitManagerState,
    surfaces: Vec<WlSurface>,
}

impl IdleInhibit {
    pub(super) fn new(global: IdleInhibitManagerState) -> Self {
        IdleInhibit { _global: global, surfaces: Vec::new() }
    }

    /// Surfaces that inhibit idling and still live.
    pub fn surfaces(&self) -> impl Iterator<Item = &WlSurface> {
        self.surfaces.iter().filter(|surface| surface.is_alive())
    }
}

/// Whether a surface keeps the screen on that can be seen: it, or another of its window, is in what an output shows that is on. So
/// nothing does that lies behind a lock.
pub fn inhibits(state: &State) -> bool {
    state.protocols.idle_inhibit.surfaces().any(|surface| state.outputs.show_any_of(surface))
}

impl IdleInhibitHandler for State {
    fn inhibit(&mut self, surface: WlSurface) {
        let surfaces = &mut self.protocols.idle_inhibit.surfaces;
        surfaces.retain(Resource::is_alive);
        surfaces.push(surface);
    }

    fn uninhibit(&mut self, surface: WlSurface) {
        let surfaces = &mut self.protocols.idle_inhibit.surfaces;
        // One inhibitor of possibly several on the same surface is gone.
        if let Some(index) = surfaces.iter().position(|inhibitor| *inhibitor == surface) {
            surfaces.swap_remove(index);
        }
    }
}

delegate!(global ZwpIdleInhibitManagerV1: () => IdleInhibitManagerState);
delegate!(ZwpIdleInhibitManagerV1: () => IdleInhibitManagerState);
delegate!(ZwpIdleInhibitorV1: IdleInhibitorState => IdleInhibitManagerState);
