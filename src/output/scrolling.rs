//! Views that are scrolled: at each latch of their output they go where they are in the frame that is chosen.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::OutputState;
use crate::scene::Layer;
use crate::state::State;
use crate::surface;
use crate::surface::scroll::{Movement, ScrollListener, ShownAt};
use crate::surface::tree::find_downward;
use crate::time::{Clock, Instant};
use crate::timing::id::OutputId;
use crate::timing::record::Need;
use crate::timing::target::Target;

use std::sync::Arc;

/// Where a frame shows a view whose client wants to hear of it.
#[derive(Debug)]
pub(super) struct Report {
    listener: Arc<dyn ScrollListener>,
    at: ShownAt,
}

impl Report {
    /// The frame was seen.
    pub fn presented(&self, present: Instant) {
        self.listener.tell_offset(self.at, present);
    }
}

/// Somebody asks something of the view of `surface`, now.
pub fn ask(state: &mut State, surface: &WlSurface, movement: Movement) {
    let now = state.clock.now();
    ask_at(state, surface, now, movement);
}

/// The same at the time of the input that asks for it.
pub fn ask_at(state: &mut State, surface: &WlSurface, at: Instant, movement: Movement) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let Some(view) = &mut entry.scroll else { return };
    view.ask(surface, at, movement);
    let id = entry.output.or(state.outputs.first());
    if let Some(output) = id.and_then(|id| state.outputs.by_id_mut(id)) {
        output.need(Need::Scroll);
    }
}

/// Where the origin of `surface` is as it is seen (global logical coordinates): as its own pixels say, or those of another
/// surface of its window where nothing is seen of it. `near`: where on the screen.
pub fn origin_on_screen(state: &State, surface: &WlSurface, near: Point<f64, Logical>) -> Option<Point<f64, Logical>> {
    let layers = || state.outputs.states().flat_map(|output| &output.on_screen.layers);
    let seen = || layers().filter(|layer| layer.snapshot.is_none());
    let origin = |layer: &Layer| near - layer.to_surface(near);
    if let Some(layer) = seen().find(|layer| layer.surface == *surface) {
        return Some(origin(layer));
    }
    let root = surface::root(surface);
    let other = seen().find(|layer| surface::root(&layer.surface) == root)?;
    let place = |of: &WlSurface| find_downward(&root, &mut |surface, _, place| (surface == of).then_some(place.origin));
    Some(origin(other) + (place(surface)? - place(&other.surface)?))
}

/// Puts the views of output `id` where they are in the frame for `target`.
pub(super) fn latch(state: &mut State, id: OutputId, target: Target) {
    let now = state.clock.now();
    let first = state.outputs.first();
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let scale = output.output.current_scale().fractional_scale();
    (output.scrolls, output.keeps) = (false, false);
    output.reports.clear();
    let OutputState { scrolls, keeps, reports, .. } = output;
    let mut moved = false;
    state.surfaces.for_each_awake(|entry| {
        let concerns_us = entry.output.or(first) == Some(id);
        let surface = &entry.surface;
        let Some(view) = entry.scroll.as_mut().filter(|view| concerns_us && view.is_concerned()) else {
            return;
        };
        let answer = view.latch(surface, target, now, scale);
        moved |= answer.moved;
        *scrolls |= answer.goes_on;
        *keeps |= !view.kept().is_empty();
        reports.extend(answer.reported.map(|at| Report { listener: view.listener.clone(), at }));
    });
    if moved {
        state.shell.note_change();
    }
}

/// After a latch: what is on its way is to be shown in the next frame.
pub(super) fn go_on(output: &mut OutputState) {
    if output.scrolls {
        output.need(Need::Scroll);
    }
}
