//! `zwp_idle_inhibit_manager_v1` 1: surfaces that want the screen to stay on while they are visible.
//!
//! Whoever tells that nobody does anything asks [`inhibits`] ([`idle_notify`](super::idle_notify)).

use smithay::reexports::wayland_protocols::wp::idle_inhibit::zv1::server::zwp_idle_inhibit_manager_v1::ZwpIdleInhibitManagerV1;
use smithay::reexports::wayland_protocols::wp::idle_inhibit::zv1::server::zwp_idle_inhibitor_v1::ZwpIdleInhibitorV1;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::idle_inhibit::inhibitor::IdleInhibitorState;
use smithay::wayland::idle_inhibit::{IdleInhibitHandler, IdleInhibitManagerState};

use super::floor::delegate;
use crate::output::Showing;
use crate::revision::Revision;
use crate::shell::ShellRevision;
use crate::state::State;

/// The surfaces that inhibit idling.
#[derive(Debug)]
pub struct IdleInhibit {
    _global: IdleInhibitManagerState,
    surfaces: Vec<WlSurface>,
    /// Advanced when one comes or goes.
    changes: Revision,
    /// What was found last, and what that follows from.
    found: Option<(Basis, bool)>,
}

/// What it follows from whether any of them is seen: that is asked in every turn.
#[derive(Debug, PartialEq)]
struct Basis {
    changes: Revision,
    shell: ShellRevision,
    shown: Showing,
}

impl IdleInhibit {
    pub(super) fn new(global: IdleInhibitManagerState) -> Self {
        IdleInhibit { _global: global, surfaces: Vec::new(), changes: Revision::default(), found: None }
    }

    /// The surface is gone, which Smithay does not tell of inhibitors.
    pub(super) fn forget(&mut self, gone: &WlSurface) {
        if !self.surfaces.is_empty() {
            let before = self.surfaces.len();
            self.surfaces.retain(|surface| surface != gone);
            if self.surfaces.len() != before {
                self.changes.advance();
            }
        }
    }

    /// Surfaces that inhibit idling, once for each inhibitor.
    pub(super) fn surfaces(&self) -> impl Iterator<Item = &WlSurface> {
        self.surfaces.iter()
    }
}

/// Whether a surface keeps the screen on that can be seen: it, or another of its window, is in what an output shows that is on. So
/// nothing does that lies behind a lock.
pub fn inhibits(state: &mut State) -> bool {
    let State { protocols, outputs, shell, .. } = state;
    let inhibit = &mut protocols.idle_inhibit;
    if inhibit.surfaces.is_empty() {
        return false;
    }
    let basis = Basis { changes: inhibit.changes, shell: shell.changes(), shown: outputs.showing() };
    if let Some((_, found)) = inhibit.found.as_ref().filter(|(before, _)| *before == basis) {
        return *found;
    }
    let found = outputs.show_any_of(inhibit.surfaces());
    inhibit.found = Some((basis, found));
    found
}

impl IdleInhibitHandler for State {
    fn inhibit(&mut self, surface: WlSurface) {
        let IdleInhibit { surfaces, changes, .. } = &mut self.protocols.idle_inhibit;
        changes.advance();
        surfaces.push(surface);
    }

    fn uninhibit(&mut self, surface: WlSurface) {
        let IdleInhibit { surfaces, changes, .. } = &mut self.protocols.idle_inhibit;
        changes.advance();
        // One inhibitor of possibly several on the same surface is gone.
        if let Some(index) = surfaces.iter().position(|inhibitor| *inhibitor == surface) {
            surfaces.swap_remove(index);
        }
    }
}

delegate!(global ZwpIdleInhibitManagerV1: () => IdleInhibitManagerState);
delegate!(ZwpIdleInhibitManagerV1: () => IdleInhibitManagerState);
delegate!(ZwpIdleInhibitorV1: IdleInhibitorState => IdleInhibitManagerState);
