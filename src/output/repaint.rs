//! Schedules repaints of the outputs that show a changed surface.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};

use super::{all, clients::pacing, schedule_repaint_for};
use crate::scene::CursorView;
use crate::shell::ShellSeat;
use crate::state::State;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::Clock;

/// The content of `surface` has changed.
pub(super) fn surface_changed(state: &mut State, surface: &WlSurface) {
    let is_cursor = matches!(state.cursor_view(1.0), CursorView::Surface(cursor, _) if cursor == *surface);
    if !is_cursor {
        state.outputs.list.iter_mut().for_each(|output| output.scene_cache.changed(surface));
    }
    if !is_cursor {
        pacing::note_content(state, surface);
    }
    let Some(entry) = state.surfaces.get(surface) else { return };
    let (paced_by, waits) = (entry.output(), entry.is_waiting());
    match paced_by.filter(|id| state.outputs.by_id(*id).is_some()) {
        Some(paced_by) => {
            let reaches = reach(state, surface);
            for output in &mut state.outputs.list {
                if output.id == paced_by || output.is_shown_by(surface) || output.overlaps_area(reaches) {
                    output.schedule_repaint(RepaintReason::Content);
                }
            }
        }
        None => schedule_repaint_for(state, RepaintReason::Content),
    }
    if waits && state.outputs.first().is_none() {
        // Without an output there is no latch, so the tick for hidden surfaces releases the waiting update.
        let now = state.clock.now();
        pacing::schedule_hidden_tick(&mut state.outputs, now);
    }
}

/// An update of `surface` without visible change was applied. Its feedback and fifo barrier still need a latch: at the
/// next refresh, or at the next tick if the surface is hidden.
pub(super) fn latch_wanted(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    let Some(entry) = state.surfaces.get(surface) else { return };
    let outputs = &mut state.outputs;
    match entry.output().filter(|_| outputs.is_visible(entry)).and_then(|id| outputs.by_id_mut(id)) {
        Some(output) => output.schedule_repaint(RepaintReason::Content),
        None => pacing::schedule_hidden_tick(outputs, now),
    }
}

/// The area that `surface` may cover (global logical coordinates). `None` with a single output, where it does not
/// matter.
fn reach(state: &State, surface: &WlSurface) -> Option<Rectangle<i32, Logical>> {
    if state.outputs.list.len() < 2 {
        return None;
    }
    let anywhere = || all(state).map(|(_, area)| area).reduce(Rectangle::merge);
    state.shell.reach_of(&state.surfaces, surface).or_else(anywhere)
}
