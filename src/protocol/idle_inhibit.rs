//! `zwp_idle_inhibit_manager_v1` 1: surfaces that keep the screen on while they are visible.
//!
//! [`idle_notify`](super::idle_notify) calls [`inhibits`] before it reports that the user is idle.

use smithay::reexports::wayland_protocols::wp::idle_inhibit::zv1::server::zwp_idle_inhibit_manager_v1::ZwpIdleInhibitManagerV1;
use smithay::reexports::wayland_protocols::wp::idle_inhibit::zv1::server::zwp_idle_inhibitor_v1::ZwpIdleInhibitorV1;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::idle_inhibit::inhibitor::IdleInhibitorState;
use smithay::wayland::idle_inhibit::{IdleInhibitHandler, IdleInhibitManagerState};

use super::dispatch_guard::delegate;
use crate::output::ShownContentKey;
use crate::revision::Revision;
use crate::shell::ShellRevision;
use crate::state::State;

/// The surfaces that inhibit idling.
#[derive(Debug)]
pub struct IdleInhibit {
    _global: IdleInhibitManagerState,
    surfaces: Vec<WlSurface>,
    /// Advanced when an inhibitor is added or removed.
    changes: Revision,
    /// The last result of [`inhibits`], and the revisions that it was computed from.
    found: Option<(InhibitBasis, bool)>,
}

/// The revisions that the result depends on. It is cached, because it is queried in every turn.
#[derive(Debug, PartialEq)]
struct InhibitBasis {
    changes: Revision,
    shell: ShellRevision,
    shown: ShownContentKey,
}

impl IdleInhibit {
    pub(super) fn new(global: IdleInhibitManagerState) -> Self {
        IdleInhibit { _global: global, surfaces: Vec::new(), changes: Revision::default(), found: None }
    }

    /// Removes a destroyed surface, since Smithay does not report its inhibitors.
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

/// Whether a visible surface keeps the screen on: it, or another surface of its window, is in the scene of an output
/// that is on. So a surface behind the lock never inhibits.
pub fn inhibits(state: &mut State) -> bool {
    let State { protocols, outputs, shell, .. } = state;
    let inhibit = &mut protocols.idle_inhibit;
    if inhibit.surfaces.is_empty() {
        return false;
    }
    let basis = InhibitBasis { changes: inhibit.changes, shell: shell.changes(), shown: outputs.content_key() };
    if let Some((_, found)) = inhibit.found.as_ref().filter(|(before, _)| *before == basis) {
        return *found;
    }
    let found = outputs.shows_any_of(inhibit.surfaces());
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
        // Removes one entry only, since the surface may have several inhibitors.
        if let Some(index) = surfaces.iter().position(|inhibitor| *inhibitor == surface) {
            surfaces.swap_remove(index);
        }
    }
}

delegate!(global ZwpIdleInhibitManagerV1: () => IdleInhibitManagerState);
delegate!(ZwpIdleInhibitManagerV1: () => IdleInhibitManagerState);
delegate!(ZwpIdleInhibitorV1: IdleInhibitorState => IdleInhibitManagerState);
