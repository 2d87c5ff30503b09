mod ahead;
mod budget;
mod depth;
mod in_hand;
mod numbers;
mod phase;
mod rendered;

use super::*;

/// A latch at `when` for `index` chooses a frame, which is submitted at `done`.
fn show(machine: &mut OutputMachine, index: RefreshIndex, when: Instant, done: Instant, composed: Composed) -> FrameId {
    machine.latch(index);
    let id = machine.choose(index, ());
    machine.submitted(id, when, done, composed);
    id
}

/// A frame that was finished ahead for `index` waits, in the queue or held by the display.
fn finish(machine: &mut OutputMachine, index: RefreshIndex, held: bool) -> FrameId {
    let id = machine.record(index, ());
    machine.frames_mut().draw(id);
    machine.frames_mut().drawn(id, Span::ZERO);
    if held {
        machine.frames_mut().hold(id, Instant::ZERO);
    }
    id
}
