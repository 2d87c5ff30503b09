//! An output goes dark, and comes back.

use super::clients::pacing;
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::record::Need;
use upbeat_timing::time::Clock;

/// Switches an output on or off. Off, it keeps its place and its windows, but nothing on it is drawn and it has no
/// timer: whoever draws there is called back once a second, as everybody is who cannot be seen.
pub fn set(state: &mut State, id: OutputId, on: bool) {
    state.outputs.darkened.retain(|output| *output != id);
    switch(state, id, on);
}

/// Nobody draws: what is on the screens would seem to be alive, and is not. They go dark until [`light`].
pub(super) fn darken(state: &mut State) {
    let lit: Vec<OutputId> = state.outputs.list.iter().filter(|output| output.on).map(|output| output.id).collect();
    lit.iter().for_each(|id| switch(state, *id, false));
    state.outputs.darkened.extend(lit);
}

/// Somebody draws again: what was dark for the want of that is lit.
pub(super) fn light(state: &mut State) {
    let darkened = std::mem::take(&mut state.outputs.darkened);
    darkened.into_iter().for_each(|id| switch(state, id, true));
}

/// Outputs that are on, were there somebody who draws.
pub fn wanted(state: &State) -> Vec<OutputId> {
    let lit = state.outputs.list.iter().filter(|output| output.on).map(|output| output.id);
    lit.chain(state.outputs.darkened.iter().copied()).collect()
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
