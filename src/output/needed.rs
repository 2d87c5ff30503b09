//! What a surface shows has changed: which outputs are to show it.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};

use super::{all, clients::pacing, need_all_for};
use crate::scene::CursorView;
use crate::shell::Hand;
use crate::state::State;
use upbeat_timing::record::Need;
use upbeat_timing::time::Clock;

/// Something that `surface` shows has changed.
pub(super) fn need(state: &mut State, surface: &WlSurface) {
    let is_cursor = matches!(state.cursor_view(1.0), CursorView::Surface(cursor, _) if cursor == *surface);
    if !is_cursor {
        state.outputs.list.iter_mut().for_each(|output| output.stage.changed(surface));
    }
    let Some(entry) = state.surfaces.get(surface) else { return };
    let (paced_by, waits) = (entry.output(), entry.waits());
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

/// An update of `surface` was applied that changes nothing. Feedback and fifo barriers end with a latch all the same: at the
/// next refresh, or at the next tick where the surface is hidden.
pub(super) fn latch_wanted(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    let Some(entry) = state.surfaces.get(surface) else { return };
    let outputs = &mut state.outputs;
    match entry.output().filter(|_| outputs.sees(entry)).and_then(|id| outputs.by_id_mut(id)) {
        Some(output) => output.need(Need::Content),
        None => pacing::hidden_waits(outputs, now),
    }
}

/// What `surface` may cover, where that matters: with several outputs (global logical coordinates).
fn reach(state: &State, surface: &WlSurface) -> Option<Rectangle<i32, Logical>> {
    if state.outputs.list.len() < 2 {
        return None;
    }
    let anywhere = || all(state).map(|(_, area)| area).reduce(Rectangle::merge);
    state.shell.reach_of(&state.surfaces, surface).or_else(anywhere)
}
