//! Implements the traits through which surfaces query outputs.

use std::sync::Arc;

use ahash::HashSet;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor;

use crate::bounds::MAX_NESTING;
use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::clients::blockers;
use crate::output::clients::early_callbacks;
use crate::output::clients::frame_targets;
use crate::output::clients::pacing;
use crate::output::clients::second_period;
use crate::output::in_place;
use crate::output::repaint;
use crate::state::State;
use crate::surface::{self, BufferFinished, CommitHandling, CommitInfo, OutputHooks};
use upbeat_timing::id::{ClientId, SurfaceId};
use upbeat_timing::surface_targets::BoundTarget;
use upbeat_timing::target::Target;
use upbeat_timing::time::{Clock, Instant};

/// Identifies the content of all outputs: the value differs whenever visible content may differ. For each output:
/// whether it is on, its number of latches, and the address of its newest scene. The address tells apart scenes that
/// were recorded ahead without a latch: they exist at the same time, so no two of them share an address.
#[derive(Debug, PartialEq, Eq)]
pub struct ShownContentKey(Vec<(bool, u64, usize)>);

impl Outputs {
    /// Whether an output that is on shows any surface of the trees that `surfaces` belong to: some programs cover
    /// their window with their own subsurfaces.
    #[expect(clippy::mutable_key_type, reason = "an id is compared by its name, which does not change")]
    pub fn shows_any_of<'a>(&self, surfaces: impl Iterator<Item = &'a WlSurface>) -> bool {
        let roots: HashSet<ObjectId> = surfaces.map(|surface| surface::root(surface).id()).collect();
        let mut others = HashSet::default();
        let lit = self.list.iter().filter(|output| output.on);
        let mut shown = lit.flat_map(|output| &output.drawn_scene.layers).map(|layer| &layer.surface);
        !roots.is_empty() && shown.any(|surface| is_part_of(surface, &roots, &mut others))
    }

    pub fn content_key(&self) -> ShownContentKey {
        let showing = |output: &OutputState| (output.on, output.latches(), Arc::as_ptr(&output.drawn_scene).addr());
        ShownContentKey(self.list.iter().map(showing).collect())
    }
}

/// Whether `surface` lies in the tree of one of `roots`. `others` collects surfaces known to lie in none, so that each
/// is checked once.
#[expect(clippy::mutable_key_type, reason = "an id is compared by its name, which does not change")]
fn is_part_of(surface: &WlSurface, roots: &HashSet<ObjectId>, others: &mut HashSet<ObjectId>) -> bool {
    let mut part = surface.clone();
    for _ in 0..=MAX_NESTING {
        if roots.contains(&part.id()) {
            return true;
        }
        let is_new = others.insert(part.id());
        let Some(parent) = compositor::get_parent(&part).filter(|_| is_new) else { break };
        part = parent;
    }
    false
}

impl OutputHooks for State {
    fn surface_made(&mut self, surface: SurfaceId) {
        self.outputs.statistics.begin(surface);
    }

    fn surface_gone(&mut self, surface: SurfaceId, client: ClientId, client_left: bool) {
        pacing::surface_gone(self, surface, client, client_left);
    }

    fn schedule_repaint(&mut self, surface: &WlSurface) {
        in_place::forget_row(self, surface);
        repaint::surface_changed(self, surface);
    }

    fn draw_in_place(&mut self, surface: &WlSurface) -> bool {
        in_place::queue_write(self, surface)
    }

    fn tree_changed(&mut self, _surface: &WlSurface) {
        self.shell.note_change();
    }

    fn schedule_latch_when_due(&mut self, surface: &WlSurface) {
        need_when_due(self, surface);
    }

    fn apply_opened(&mut self, surface: &WlSurface) {
        blockers::clear_blockers(self, std::slice::from_ref(surface));
    }

    fn schedule_callback(&mut self, surface: &WlSurface) {
        pacing::callback_wanted(self, surface);
    }

    fn schedule_latch(&mut self, surface: &WlSurface) {
        repaint::latch_wanted(self, surface);
    }

    fn next_latch_at(&self, surface: &WlSurface, wanted: Option<Instant>) -> Option<Instant> {
        next_latch_at(self, surface, wanted)
    }

    fn target_of(&self, surface: &WlSurface, bound: &BoundTarget) -> Option<Target> {
        frame_targets::target_of(self, surface, bound)
    }

    fn hash_pixels(&mut self, surface: &WlSurface, buffer: &WlBuffer) {
        early_callbacks::record_fingerprint(self, surface, buffer);
    }

    fn committed(&mut self, surface: &WlSurface, commit: CommitInfo) -> CommitHandling {
        pacing::committed(self, surface, commit)
    }

    fn finished(&mut self, surface: &WlSurface, number: u64, finished: BufferFinished) {
        pacing::finished(self, surface, number, finished);
    }

    fn committed_ahead(&mut self, surface: &WlSurface) {
        second_period::committed(self, surface);
    }
}

/// An update of `surface` waits: schedules its output's latch for when the update is due.
fn need_when_due(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get(surface) else { return };
    let Some(output) = entry.output().or(state.outputs.first()) else {
        let now = state.clock.now();
        return pacing::schedule_hidden_tick(&mut state.outputs, now);
    };
    let Some(output) = state.outputs.list.iter_mut().find(|candidate| candidate.id == output) else { return };
    let latched = output.conductor.output().latched();
    output.schedule_when_due(entry, latched);
    output.conductor.output_mut().supersede();
}

/// When the output of `surface` latches the next frame, or the frame shown at `wanted`: an update must be finished by
/// then to be part of it. `None` without outputs.
fn next_latch_at(state: &State, surface: &WlSurface, wanted: Option<Instant>) -> Option<Instant> {
    let seen = state.surfaces.get(surface).and_then(|entry| entry.output());
    let output = state.outputs.by_id(seen.or(state.outputs.first())?)?;
    let (machine, now) = (output.conductor.output(), state.clock.now());
    let next = machine.next_index(now);
    let index = wanted.map_or(next, |wanted| machine.vsync().at_or_after(wanted).max(next));
    Some(machine.last_latch(index).max(now))
}
