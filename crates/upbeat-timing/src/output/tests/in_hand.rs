use super::*;

const INTERVAL: Span = Span::from_micros(16_000);

/// A machine with a known phase and updates that are due at refresh 5; and the time of refresh 4.
fn waiting() -> (OutputMachine, Instant) {
    let start = Instant::from_nanos(1_000_000_000);
    let mut machine = OutputMachine::new(VsyncModel::new(INTERVAL, start), Span::from_millis(1), start);
    machine.vsync_mut().synchronise(start);
    machine.observe_ahead_cost(Span::from_millis(1));
    machine.schedule_repaint_at(RefreshIndex(5));
    let before = machine.vsync().present(RefreshIndex(4));
    (machine, before)
}

#[test]
fn complete_content_is_latched_once_the_previous_refresh_is_on_screen() {
    let (machine, before) = waiting();
    let early = machine.early_latch(RefreshIndex(5), before);
    assert!(early.is_some_and(|early| early > before && early < machine.latch_at(RefreshIndex(5)) - INTERVAL / 2));
}

#[test]
fn not_while_a_client_may_still_commit_for_it() {
    let (mut machine, before) = waiting();
    machine.set_promised(Some(RefreshIndex(5)));
    assert_eq!(machine.early_latch(RefreshIndex(5), before), None);
    machine.set_promised(Some(RefreshIndex(4)));
    assert_eq!(machine.early_latch(RefreshIndex(5), before), None, "late, and shown as soon as it is here");
    machine.set_promised(Some(RefreshIndex(6)));
    assert!(machine.early_latch(RefreshIndex(5), before).is_some());
}

#[test]
fn not_while_something_else_is_to_be_shown() {
    let (mut machine, before) = waiting();
    machine.schedule_repaint(RepaintReason::Content);
    assert_eq!(machine.early_latch(RefreshIndex(5), before), None);
}
