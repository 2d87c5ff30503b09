//! Answers about outputs.

use crate::ipc::message::{Output, Rect};
use crate::output::{self, OutputState};
use crate::render::Renderer;
use crate::session::outputs::mode_of;
use crate::state::State;
use crate::time::{Clock, Instant};
use crate::timing::id::OutputId;

/// Every output.
pub(super) fn all(state: &State) -> Vec<Output> {
    let now = state.clock.now();
    state.outputs.states().map(|output| describe(state, output, now)).collect()
}

/// One output.
pub(super) fn one(state: &State, id: OutputId) -> Option<Output> {
    Some(describe(state, state.outputs.by_id(id)?, state.clock.now()))
}

/// The output with the pointer on it, or the nearest one.
pub(super) fn focused(state: &State) -> Option<OutputId> {
    let pointer = crate::input::pointer_position(state);
    let (nearest, _) = output::usable_area(state, Some(pointer))?;
    state.outputs.states().find(|known| known.output == nearest).map(|known| known.id)
}

fn describe(state: &State, known: &OutputState, now: Instant) -> Output {
    let machine = known.conductor.output();
    Output {
        name: known.output.name(),
        mode: mode_of(known.display.as_ref()),
        geometry: rect(output::geometry(&known.output)),
        scale: known.output.current_scale().fractional_scale(),
        on: known.on,
        wish: known.wish.unwrap_or(state.outputs.rules.default),
        pacing: known.pacing(),
        interval: machine.vsync().interval(),
        vsync_error: machine.vsync().is_usable().then(|| machine.vsync().error(now)),
        submit_lead: machine.submit_lead(),
        compose_budget: machine.compose_budget(),
        drawn_by: state.outputs.renderer.as_ref().map_or_else(|| "nobody".to_owned(), Renderer::describe),
    }
}

/// A rectangle as it is said.
pub(super) fn rect(area: smithay::utils::Rectangle<i32, smithay::utils::Logical>) -> Rect {
    Rect { x: area.loc.x, y: area.loc.y, width: area.size.w, height: area.size.h }
}
