//! Powers outputs on and off (DPMS).

use super::{OutputState, clients::pacing};
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::Clock;

/// The event that powers a dark output on again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerOnEvent {
    /// A renderer is available again.
    Renderer,
    /// The next input event.
    Input,
}

/// Switches an output on or off. An output that is off keeps its position and its windows, but it is not repainted and
/// has no timer: its clients get callbacks once a second, like every hidden surface.
///
/// If the output went dark until the next input, input still powers it on after a client or a message has switched it
/// off as well. Otherwise a program that switches off a dark screen and then ends would leave the user without a
/// picture.
pub fn set(state: &mut State, id: OutputId, on: bool) {
    let is_dark_until_input =
        state.outputs.by_id(id).is_some_and(|output| !output.on && output.powered_on_by == Some(PowerOnEvent::Input));
    if on || !is_dark_until_input {
        set_power_on_event(state, id, None);
    }
    switch(state, id, on);
}

/// Switches off an output that the user cannot see, such as the panel of a closed lid: no event powers it on.
pub fn switch_off(state: &mut State, id: OutputId) {
    set_power_on_event(state, id, None);
    switch(state, id, false);
}

/// Switches off all outputs until [`light`] is called for the same event. Without a renderer a screen would otherwise
/// keep its last picture and seem to work.
pub fn darken(state: &mut State, until: PowerOnEvent) {
    let lit: Vec<OutputId> = state.outputs.states().filter(|output| output.on).map(|output| output.id).collect();
    for id in lit {
        switch(state, id, false);
        set_power_on_event(state, id, Some(until));
    }
}

/// Powers on the outputs that were dark until this event.
pub fn light(state: &mut State, by: PowerOnEvent) {
    let dark = state.outputs.states().filter(|output| output.powered_on_by == Some(by));
    let dark: Vec<OutputId> = dark.map(|output| output.id).collect();
    dark.into_iter().for_each(|id| set(state, id, true));
}

/// Whether an output is dark until this event.
pub fn waits_for(state: &State, event: PowerOnEvent) -> bool {
    state.outputs.states().any(|output| output.powered_on_by == Some(event))
}

/// Outputs that are on, or would be on if a renderer were available.
pub fn wanted(state: &State) -> Vec<OutputId> {
    let is_wanted = |output: &&OutputState| output.on || output.powered_on_by == Some(PowerOnEvent::Renderer);
    state.outputs.states().filter(is_wanted).map(|output| output.id).collect()
}

fn set_power_on_event(state: &mut State, id: OutputId, lit_by: Option<PowerOnEvent>) {
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.powered_on_by = lit_by;
    }
}

fn switch(state: &mut State, id: OutputId, on: bool) {
    let now = state.clock.now();
    let super::Outputs { list, renderer, .. } = &mut state.outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id && output.on != on) else { return };
    output.on = on;
    output.discard_undrawn(renderer.as_mut());
    output.display.set_power(on);
    output.conductor.output_mut().set_powered(on);
    output.drawn_scene = std::sync::Arc::default();
    output.canvas.forget();
    output.statistics.cadence.pause();
    (output.last_sequence, output.last_light) = (None, None);
    if on {
        let vblank = output.display.last_vblank(now);
        let machine = output.conductor.output_mut();
        machine.restart(None, now);
        if let Some((vblank, _)) = vblank {
            machine.vsync_mut().synchronise(vblank);
        }
        output.schedule_repaint(RepaintReason::Output);
        return;
    }
    output.on_screen = std::sync::Arc::default();
    output.scene_cache.invalidate();
    state.shell.end_animations();
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    for (_, pacing) in output.clients.iter() {
        if let Some(pacer) = output.conductor.pacer_mut(pacing.pacer) {
            pacer.cancel_callbacks();
        }
    }
    stop_pacing(state, id);
}

/// Output `id` no longer paces any client. Other outputs that show the same surfaces take over.
pub(super) fn stop_pacing(state: &mut State, id: OutputId) {
    let now = state.clock.now();
    state.surfaces.forget_output(id);
    pacing::schedule_hidden_tick(&mut state.outputs, now);
    super::schedule_repaint_all(state);
}
