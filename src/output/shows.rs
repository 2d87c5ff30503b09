//! What surfaces ask of outputs, answered by the parts that know.

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::{ahead, early, following, gates, pacing};
use crate::state::State;
use crate::surface::{Commit, Committed, ShowsSurfaces};
use crate::time::Instant;
use crate::timing::ahead::Bound;
use crate::timing::id::{ClientId, SurfaceId};
use crate::timing::target::Target;

impl ShowsSurfaces for State {
    fn surface_made(&mut self, surface: SurfaceId) {
        self.outputs.statistics.begin(surface);
    }

    fn surface_gone(&mut self, surface: SurfaceId, client: ClientId, client_left: bool) {
        pacing::surface_gone(self, surface, client, client_left);
    }

    fn need(&mut self, surface: &WlSurface) {
        super::need(self, surface);
    }

    fn need_when_due(&mut self, surface: &WlSurface) {
        super::need_when_due(self, surface);
    }

    fn apply_opened(&mut self, surface: &WlSurface) {
        gates::clear_blockers(self, std::slice::from_ref(surface));
    }

    fn callback_wanted(&mut self, surface: &WlSurface) {
        pacing::callback_wanted(self, surface);
    }

    fn next_latch_at(&self, surface: &WlSurface, wanted: Option<Instant>) -> Option<Instant> {
        super::next_latch_at(self, surface, wanted)
    }

    fn target_of(&self, surface: &WlSurface, bound: &Bound) -> Option<Target> {
        ahead::target_of(self, surface, bound)
    }

    fn drawn(&mut self, surface: &WlSurface, buffer: &WlBuffer) {
        early::drawn(self, surface, buffer);
    }

    fn committed(&mut self, surface: &WlSurface, commit: Commit) -> Committed {
        pacing::committed(self, surface, commit)
    }

    fn committed_ahead(&mut self, surface: &WlSurface) {
        following::committed(self, surface);
    }
}
