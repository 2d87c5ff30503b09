//! What surfaces ask of outputs, answered by the parts that know.

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use smithay::utils::{Logical, Rectangle};

use super::{Outputs, ahead, all, early, gates, need_all_for, pacing, second_period};
use crate::scene::{CursorView, Layer};
use crate::state::State;
use crate::surface::{self, Commit, Committed, Finished, ShowsSurfaces};
use crate::time::{Clock, Instant};
use crate::timing::ahead::Bound;
use crate::timing::id::{ClientId, SurfaceId};
use crate::timing::record::Need;
use crate::timing::target::Target;

impl Outputs {
    /// Whether an output that is on shows something of what `surface` is a part of: some programs cover their window with
    /// subsurfaces of their own.
    pub fn show_any_of(&self, surface: &WlSurface) -> bool {
        let root = surface::root(surface);
        let shows = |layer: &Layer| surface::root(&layer.surface) == root;
        self.list.iter().any(|output| output.on && output.drawn.layers.iter().any(shows))
    }
}

impl ShowsSurfaces for State {
    fn surface_made(&mut self, surface: SurfaceId) {
        self.outputs.statistics.begin(surface);
    }

    fn surface_gone(&mut self, surface: SurfaceId, client: ClientId, client_left: bool) {
        pacing::surface_gone(self, surface, client, client_left);
    }

    fn need(&mut self, surface: &WlSurface) {
        need(self, surface);
    }

    fn tree_changed(&mut self, _surface: &WlSurface) {
        self.shell.note_change();
    }

    fn need_when_due(&mut self, surface: &WlSurface) {
        need_when_due(self, surface);
    }

    fn apply_opened(&mut self, surface: &WlSurface) {
        gates::clear_blockers(self, std::slice::from_ref(surface));
    }

    fn callback_wanted(&mut self, surface: &WlSurface) {
        pacing::callback_wanted(self, surface);
    }

    fn next_latch_at(&self, surface: &WlSurface, wanted: Option<Instant>) -> Option<Instant> {
        next_latch_at(self, surface, wanted)
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

    fn finished(&mut self, surface: &WlSurface, number: u64, finished: Finished) {
        pacing::finished(self, surface, number, finished);
    }

    fn committed_ahead(&mut self, surface: &WlSurface) {
        second_period::committed(self, surface);
    }
}

/// Something that `surface` shows has changed.
fn need(state: &mut State, surface: &WlSurface) {
    let is_cursor = matches!(state.input.cursor.view(1.0), CursorView::Surface(cursor, _) if cursor == *surface);
    if !is_cursor {
        state.outputs.list.iter_mut().for_each(|output| output.stage.changed(surface));
    }
    let Some(entry) = state.surfaces.get(surface) else { return };
    let (paced_by, waits) = (entry.output, entry.waits());
    match paced_by.filter(|id| state.outputs.by_id(*id).is_some()) {
        Some(paced_by) => {
            let reaches = reach(state, surface);
            for output in &mut state.outputs.list {
                if output.id == paced_by || output.is_shown_by(surface) || output.touches(reaches) {
                    output.need(Need::Content);
                }
            }
        }
        None => need_all_for(state, Need::Content),
    }
    if waits && state.outputs.first().is_none() {
        // No latch will come: what waits is answered by the tick for those whom nobody sees.
        let now = state.clock.now();
        pacing::hidden_waits(&mut state.outputs, now);
    }
}

/// What `surface` may cover, where that matters: with several outputs (global logical coordinates).
fn reach(state: &State, surface: &WlSurface) -> Option<Rectangle<i32, Logical>> {
    if state.outputs.list.len() < 2 {
        return None;
    }
    let anywhere = || all(state).map(|(_, area)| area).reduce(Rectangle::merge);
    state.shell.reach_of(surface).or_else(anywhere)
}

/// An update of `surface` waits: its output has to latch when it is due.
fn need_when_due(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get(surface) else { return };
    let Some(output) = entry.output.or(state.outputs.first()) else {
        let now = state.clock.now();
        return pacing::hidden_waits(&mut state.outputs, now);
    };
    let Some(output) = state.outputs.list.iter_mut().find(|candidate| candidate.id == output) else { return };
    let latched = output.conductor.output().latched();
    output.need_when_due(entry, latched);
    output.conductor.output_mut().supersede();
}

/// When the output that shows `surface` chooses the content of the next frame, or of that shown at `wanted`: by then an
/// update has to be finished to be in it. `None` without outputs.
fn next_latch_at(state: &State, surface: &WlSurface, wanted: Option<Instant>) -> Option<Instant> {
    let seen = state.surfaces.get(surface).and_then(|entry| entry.output);
    let output = state.outputs.by_id(seen.or(state.outputs.first())?)?;
    let (machine, now) = (output.conductor.output(), state.clock.now());
    let next = machine.next_index(now);
    let index = wanted.map_or(next, |wanted| machine.vsync().at_or_after(wanted).max(next));
    Some(machine.last_latch(index).max(now))
}
