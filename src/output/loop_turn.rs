//! One turn of the event loop, in its fixed order. Input, requests and display events are already read. Then: decide →
//! latch → scene → render → submit → report → flush. A frame drawn on the render thread is submitted in the turn in
//! which it is finished.

use super::{
    OutputState, Outputs, clients::enter_leave, clients::frame_callbacks, clients::frame_targets,
    clients::front_buffer, clients::pacing, clients::rules, frame::drawing, frame::latch, frame::presentation,
    frame::rendering_ahead, frame::submit_ahead, in_place, mode_switch, scene::followers,
};
use crate::shell::tiling;
use crate::state::State;
use upbeat_timing::conductor::ConductorAction;
use upbeat_timing::id::OutputId;
use upbeat_timing::output_order::OutputDeadline;
use upbeat_timing::time::{Clock, Instant};

/// The `tracing` target of errors about a turn. Tests fail on them.
pub const LOG_TARGET: &str = module_path!();

/// Most actions of one output in one turn, so that a faulty state machine cannot hang the session.
const ACTIONS_PER_TURN: u32 = 1_024;

/// Does everything that is due. Returns whether more work is due at once.
pub fn run(state: &mut State) -> bool {
    state.surfaces.begin_turn();
    presentation::handle_display_events(state);
    mode_switch::complete_groups(state);
    drawing::handle_finished_jobs(state);
    rules::refresh(state);
    in_place::run_writes(state);
    followers::run_due_moves(state);
    frame_targets::schedule_second_callbacks(state);
    run_due_actions(state);
    front_buffer::update(state);
    frame_callbacks::send_hidden_callbacks(state);
    super::capture::call_back(state);
    frame_targets::update_all(state);
    enter_leave::update(state);
    super::capture::serve(state);
    let now = state.clock.now();
    state.surfaces.retire_idle(now);
    pacing::cleanup_outputs(&mut state.outputs);
    // Rendering ahead comes last, after all work with a deadline.
    rendering_ahead::run_one(state)
}

/// Carries out the due actions of all outputs, in the order in which they became due.
fn run_due_actions(state: &mut State) {
    for_each(state, |state, id| {
        submit_ahead::run_urgent_steps(state, id);
        state.outputs.by_id_mut(id).into_iter().for_each(|output| output.actions = 0);
    });
    loop {
        let now = state.clock.now();
        let Some(id) = next_output(state, now) else { break };
        let Some(output) = state.outputs.by_id_mut(id) else { return };
        output.actions += 1;
        if output.actions == ACTIONS_PER_TURN {
            tracing::error!(%id, "too many actions in one turn; the rest waits for the next");
        }
        match output.conductor.poll_action(now) {
            None => {}
            Some(ConductorAction::Latch { target, scheduled }) => {
                // Column changes that clients made since the last arrangement must be in this frame.
                tiling::arrange(state);
                latch::latch(state, id, target, scheduled);
            }
            Some(ConductorAction::Callback { pacer, target, time, scheduled }) => {
                frame_callbacks::send_callbacks(state, id, pacer, target, time, scheduled);
            }
        }
    }
    for_each(state, handle_plan_fault);
}

/// Calls `act` for each output. If an output is removed meanwhile, the output that takes its index waits for the next
/// turn.
fn for_each(state: &mut State, mut act: impl FnMut(&mut State, OutputId)) {
    for index in 0..state.outputs.list.len() {
        if let Some(id) = state.outputs.list.get(index).map(|output| output.id) {
            act(state, id);
        }
    }
}

/// The next output with a due action that has not used up its actions of this turn.
fn next_output(state: &mut State, now: Instant) -> Option<OutputId> {
    let Outputs { list, order, .. } = &mut state.outputs;
    let able = list.iter_mut().filter(|output| output.actions < ACTIONS_PER_TURN);
    order.next(able.filter_map(|output| output.pending(now)), now)
}

/// Handles a plan that the conductor rejected as impossible and made anew from the clock: the refreshes that were
/// announced before are no longer valid.
fn handle_plan_fault(state: &mut State, id: OutputId) {
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let Some(fault) = output.conductor.take_fault() else { return };
    let name = output.output.name();
    tracing::error!(output = name, refresh = fault.index.0, ahead = %fault.ahead, "a plan was too far ahead and was made anew");
    output.grid.advance();
    let latched = output.conductor.output().latched();
    latch::reschedule_waiting(state, id, latched);
}

/// When the next action is due; `None`: sleep until an event. Valid until the next repaint is scheduled.
pub fn next_wake(state: &mut State) -> Option<Instant> {
    let now = state.clock.now();
    let Outputs {
        list,
        order,
        hidden_tick,
        next_decision,
        captures,
        front_buffers: fronts,
        followers: following,
        switches,
        ..
    } = &mut state.outputs;
    let outputs = order.next_wake(list.iter_mut().filter_map(|output| output.pending(now)), now);
    let (followed, captured, switched) = (following.next_wake(), captures.next_wake(), switches.next_wake());
    let others = [*hidden_tick, *next_decision, fronts.again, followed, captured, switched];
    outputs.into_iter().chain(others.into_iter().flatten()).min()
}

impl OutputState {
    fn pending(&mut self, now: Instant) -> Option<OutputDeadline> {
        let at = self.conductor.next_wake(now)?;
        let vsync = self.conductor.output().vsync();
        let is_dark = vsync.is_usable() && !vsync.has_phase();
        Some(OutputDeadline { output: self.id, at, interval: vsync.interval(), is_dark })
    }
}
