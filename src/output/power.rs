//! An output goes dark, and comes back.

use super::{OutputState, clients::pacing};
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::record::Need;
use upbeat_timing::time::Clock;

/// The event that lights an output which went dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LitBy {
    /// A renderer draws again.
    Renderer,
    /// The next input.
    Input,
}

/// Switches an output on or off. Off, it keeps its place and its windows, but nothing on it is drawn and it has no
/// timer: whoever draws there is called back once a second, as everybody is who cannot be seen.
///
/// Input lights an output that went dark until then, also if a client or a message switches it off meanwhile: a program that
/// darkens what is dark already, and that ends, must not leave the user before a dark screen.
pub fn set(state: &mut State, id: OutputId, on: bool) {
    let is_dark_until_input =
        state.outputs.by_id(id).is_some_and(|output| !output.on && output.lit_by == Some(LitBy::Input));
    if on || !is_dark_until_input {
        mark(state, id, None);
    }
    switch(state, id, on);
}

/// Switches an output off whose screen nobody can see, as that of a closed lid: no event lights it.
pub fn shut(state: &mut State, id: OutputId) {
    mark(state, id, None);
    switch(state, id, false);
}

/// All outputs that are on go dark until [`light`] is called for the same event. Without a renderer the picture on a screen
/// would seem to be alive.
pub fn darken(state: &mut State, until: LitBy) {
    let lit: Vec<OutputId> = state.outputs.states().filter(|output| output.on).map(|output| output.id).collect();
    for id in lit {
        switch(state, id, false);
        mark(state, id, Some(until));
    }
}

/// The event happened: the outputs that were dark until then are lit.
pub fn light(state: &mut State, by: LitBy) {
    let dark = state.outputs.states().filter(|output| output.lit_by == Some(by));
    let dark: Vec<OutputId> = dark.map(|output| output.id).collect();
    dark.into_iter().for_each(|id| set(state, id, true));
}

/// Whether an output is dark until this event.
pub fn waits_for(state: &State, event: LitBy) -> bool {
    state.outputs.states().any(|output| output.lit_by == Some(event))
}

/// Outputs that are on, or would be if a renderer drew.
pub fn wanted(state: &State) -> Vec<OutputId> {
    let is_wanted = |output: &&OutputState| output.on || output.lit_by == Some(LitBy::Renderer);
    state.outputs.states().filter(is_wanted).map(|output| output.id).collect()
}

fn mark(state: &mut State, id: OutputId, lit_by: Option<LitBy>) {
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.lit_by = lit_by;
    }
}

fn switch(state: &mut State, id: OutputId, on: bool) {
    let now = state.clock.now();
    let super::Outputs { list, renderer, .. } = &mut state.outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id && output.on != on) else { return };
    output.on = on;
    output.drop_undrawn(renderer.as_mut());
    output.display.set_power(on);
    output.conductor.output_mut().set_powered(on);
    output.drawn = std::sync::Arc::default();
    output.statistics.cadence.pause();
    (output.last_sequence, output.last_light) = (None, None);
    if on {
        let vblank = output.display.last_vblank(now);
        let machine = output.conductor.output_mut();
        machine.restart(None, now);
        if let Some((vblank, _)) = vblank {
            machine.vsync_mut().synchronise(vblank);
        }
        output.need(Need::Output);
        return;
    }
    output.on_screen = std::sync::Arc::default();
    output.stage.forget();
    state.shell.end_animations();
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    for (_, pacing) in output.clients.iter() {
        if let Some(pacer) = output.conductor.pacer_mut(pacing.pacer) {
            pacer.withdraw();
        }
    }
    forsake(state, id);
}

/// Nobody is paced by output `id` any more. Other outputs that show the same surfaces pace them from now on.
pub(super) fn forsake(state: &mut State, id: OutputId) {
    let now = state.clock.now();
    state.surfaces.forsake(id);
    pacing::hidden_waits(&mut state.outputs, now);
    super::need_all(state);
}
