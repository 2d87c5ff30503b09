use super::*;

const INTERVAL: Span = Span::from_millis(10);
const LEAD: Span = Span::from_millis(1);
const PROCESSOR: Span = Span::from_micros(300);
const FRAMES: u64 = 100;

fn machine() -> OutputMachine {
    let start = Instant::from_nanos(1_000_000_000);
    let mut vsync = VsyncModel::new(INTERVAL, start);
    vsync.synchronise(start);
    OutputMachine::new(vsync, LEAD, start)
}

/// Composes and shows frames that a GPU draws for `gpu` after the latch; a frame that is not complete in time is shown
/// one refresh late.
fn show_all(machine: &mut OutputMachine, gpu: Span) {
    for _ in 0..FRAMES {
        machine.schedule_repaint(RepaintReason::Content);
        let now = machine.vsync().present(machine.latched());
        let (index, latch) = machine.next_latch(now).expect("needed");
        let id = show(machine, index, latch, latch + PROCESSOR, ComposeCostKind::Unfinished);
        let late = latch + gpu > machine.submit_by(index);
        let light = machine.vsync().present(if late { index.next() } else { index });
        machine.mark_rendered(id, latch + gpu);
        machine.presented(id, light, Some(1 + u64::from(late)), light);
        machine.latched_nothing(index.next(), light, true);
    }
}

#[test]
fn a_frame_costs_until_the_gpu_is_done() {
    let mut machine = machine();
    let gpu = Span::from_millis(4);
    show_all(&mut machine, gpu);
    let next = machine.latched().next();
    let before = machine.submit_by(next) - machine.latch_at(next);
    assert!(before >= gpu, "latched {before:?} before it is to be complete");
}

#[test]
fn a_gpu_that_is_late_is_not_the_drivers_fault() {
    let mut machine = machine();
    let lead = |machine: &OutputMachine| {
        let next = machine.latched().next();
        machine.vsync().present(next) - machine.submit_by(next)
    };
    let before = lead(&machine);
    // Longer than any budget: every frame misses.
    show_all(&mut machine, Span::from_millis(12));
    assert_eq!(lead(&machine), before);
}
