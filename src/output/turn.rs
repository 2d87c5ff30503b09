//! One turn of the loop, in its one order: what the displays and clients said is in already, then
//! decide → latch → scene → render → submit → report → flush. What is drawn on the render thread is submitted in the turn
//! in which it is done.

use super::{ahead, calling_back, drawing, handing_over, latch, present, rendering_ahead, rules};
use crate::state::State;
use crate::time::{Clock, Instant};
use crate::timing::conductor::Action;
use crate::timing::id::OutputId;

/// Actions of one output in one turn, at most: a stuck machine must not hang the session.
const ACTIONS_PER_TURN: usize = 1_024;

/// Does everything that is due. Returns when the next thing is; `None` to sleep until something happens.
pub fn run(state: &mut State) -> Option<Instant> {
    state.surfaces.brake.turn();
    present::hear_displays(state);
    drawing::hear_renderer(state);
    rules::refresh(state);
    for index in 0..state.outputs.list.len() {
        // One that goes away meanwhile is acted upon in the next turn.
        if let Some(id) = state.outputs.list.get(index).map(|output| output.id) {
            act(state, id);
        }
    }
    calling_back::call_hidden_back(state);
    ahead::attend_all(state);
    super::capture::serve(state);
    // Last: whatever is due now is done.
    let rendered = rendering_ahead::run_one(state);
    let wake = next_wake(state);
    if rendered { Some(state.clock.now()) } else { wake }
}

fn act(state: &mut State, id: OutputId) {
    handing_over::attend(state, id);
    for _ in 0..ACTIONS_PER_TURN {
        let now = state.clock.now();
        let Some(output) = state.outputs.by_id_mut(id) else { return };
        match output.conductor.poll_action(now) {
            None => return mend(state, id),
            Some(Action::Latch { target, scheduled }) => latch::latch(state, id, target, scheduled),
            Some(Action::Callback { pacer, target, time, scheduled }) => {
                calling_back::call_back(state, id, pacer, target, time, scheduled);
            }
        }
    }
    tracing::error!(%id, "too many things to do at once; the rest waits");
}

/// A plan that could not be was made anew, by the clock: what was said of refreshes to come does not hold.
fn mend(state: &mut State, id: OutputId) {
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let Some(fault) = output.conductor.take_fault() else { return };
    let name = output.output.name();
    tracing::error!(output = name, refresh = fault.index.0, ahead = %fault.ahead, "a plan too far ahead was made anew");
    output.generation += 1;
    let latched = output.conductor.output().latched();
    latch::rearm(state, id, latched);
}

fn next_wake(state: &mut State) -> Option<Instant> {
    let now = state.clock.now();
    let outputs = state.outputs.list.iter_mut().filter_map(|output| output.conductor.next_wake(now));
    outputs.chain(state.outputs.hidden_tick).chain(state.outputs.next_decision).min()
}
