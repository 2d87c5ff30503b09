mod ahead;
mod budget;
mod depth;
mod in_hand;
mod numbers;
mod phase;
mod rendered;

use super::*;

/// A latch at `when` for `index` chooses a frame, which is submitted at `done`.
fn show(
    machine: &mut OutputMachine,
    index: RefreshIndex,
    when: Instant,
    done: Instant,
    composed: ComposeCostKind,
) -> FrameId {
    machine.latch(index);
    let id = machine.choose(index, ());
    machine.submitted(id, when, done, composed);
    id
}

/// A frame that was finished ahead for `index` waits, in the queue or held by the display.
fn finish(machine: &mut OutputMachine, index: RefreshIndex, held: bool) -> FrameId {
    let id = machine.record(index, ());
    machine.frames_mut().mark_drawing(id);
    machine.frames_mut().mark_drawn(id, Span::ZERO);
    if held {
        machine.frames_mut().mark_held(id, Instant::ZERO);
    }
    id
}
