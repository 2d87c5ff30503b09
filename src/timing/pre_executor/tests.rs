use super::*;

/// Runs every step at once, as if work took no time, and says what was started.
fn run(executor: &mut PreExecutor) -> String {
    let mut started = Vec::new();
    while let Some(step) = executor.poll() {
        match step {
            Step::Record(id) => {
                started.push(format!("c{}", id.0));
                executor.recorded(id);
            }
            Step::Render(id) => {
                started.push(format!("p{}", id.0));
                executor.rendered(id);
            }
        }
    }
    started.join(" ")
}

fn ahead(settings: AheadSettings) -> PreExecutor {
    let mut executor = PreExecutor::new(settings, Trigger::Ahead);
    executor.begin(RefreshIndex(1));
    executor
}

#[test]
fn it_accumulates_until_the_slots_are_full_and_then_follows_the_display() {
    let mut executor = ahead(AheadSettings::buffers(4));
    assert_eq!(executor.phase(), Phase::Accumulation);
    assert_eq!(run(&mut executor), "c0 p0 c1 p1 c2 p2");
    assert_eq!(executor.phase(), Phase::Sync);
    assert_eq!(executor.latch(RefreshIndex(1)).frame, Some(FrameId(0)));
    assert_eq!(run(&mut executor), "c3 p3");
    assert_eq!((executor.ready(), executor.phase()), (3, Phase::Sync));
}

#[test]
fn lead_limits_before_slots_do_and_run_ahead_reaches_beyond_both() {
    let settings = AheadSettings { lead: 3, ..AheadSettings::buffers(5) };
    assert_eq!(run(&mut ahead(settings)), "c0 p0 c1 p1 c2 p2");
    assert_eq!(run(&mut ahead(settings.with_run_ahead(2))), "c0 p0 c1 p1 c2 p2 c3 c4");
}

#[test]
fn a_frame_that_is_forgotten_makes_room() {
    let mut executor = ahead(AheadSettings::buffers(2).with_run_ahead(1));
    assert_eq!(executor.poll(), Some(Step::Record(FrameId(0))));
    executor.recorded(FrameId(0));
    assert_eq!(executor.render_next(), Some(FrameId(0)));
    executor.forget(FrameId(0));
    assert_eq!((executor.render_next(), executor.depth()), (None, 0));
    assert_eq!(run(&mut executor), "c1 p1 c2");
}

#[test]
fn the_refresh_starts_one_frame_per_tick() {
    let mut executor = PreExecutor::new(AheadSettings::buffers(3), Trigger::Refresh);
    executor.begin(RefreshIndex(1));
    assert_eq!(run(&mut executor), "c0 p0");
    executor.tick();
    executor.tick();
    assert_eq!(run(&mut executor), "c1 p1");
    executor.tick();
    assert_eq!(run(&mut executor), "", "two back buffers are full");
    executor.latch(RefreshIndex(1));
    executor.tick();
    assert_eq!(run(&mut executor), "c2 p2");
}

#[test]
fn a_start_delay_fills_the_queue_first() {
    let mut executor = ahead(AheadSettings::buffers(4).with_start_delay(2));
    run(&mut executor);
    let shown: Vec<_> = (1..=4).map(|refresh| executor.latch(RefreshIndex(refresh)).frame).collect();
    assert_eq!(shown, [None, None, Some(FrameId(0)), Some(FrameId(1))]);
}

#[test]
fn after_input_the_stale_frame_is_shown_only_until_a_fresh_one_is_ready() {
    let mut executor = ahead(AheadSettings::buffers(5));
    run(&mut executor);
    let superseded = executor.supersede();
    assert_eq!((superseded.kept, superseded.wasted, executor.depth()), (Some(FrameId(0)), 3, 1));
    assert_eq!(executor.poll(), Some(Step::Record(FrameId(4))));
    let insured = executor.latch(RefreshIndex(1));
    assert_eq!((insured.frame, insured.stale), (Some(FrameId(0)), true));
    executor.recorded(FrameId(4));
    run(&mut executor);
    let fresh = executor.latch(RefreshIndex(2));
    assert_eq!((fresh.frame, fresh.stale), (Some(FrameId(4)), false));
}

#[test]
fn a_fresh_frame_in_time_discards_the_insurance() {
    let mut executor = ahead(AheadSettings::buffers(5));
    run(&mut executor);
    executor.supersede();
    run(&mut executor);
    let latched = executor.latch(RefreshIndex(1));
    assert_eq!(latched, Latched { frame: Some(FrameId(4)), stale: false, discarded: 1 });
}

#[test]
fn work_under_way_at_the_supersede_is_not_shown_as_fresh() {
    let mut executor = ahead(AheadSettings { insurance: 0, ..AheadSettings::buffers(4) });
    assert_eq!(executor.poll(), Some(Step::Record(FrameId(0))));
    executor.recorded(FrameId(0));
    assert_eq!(executor.poll(), Some(Step::Render(FrameId(0))));
    assert_eq!(executor.poll(), Some(Step::Record(FrameId(1))));
    executor.supersede();
    executor.recorded(FrameId(1));
    assert!(executor.rendered(FrameId(0)), "finished for nothing");
    assert_eq!(executor.latch(RefreshIndex(1)).frame, None);
    assert_eq!(executor.depth(), 0);
}

#[test]
fn motion_that_ends_starts_no_frame_beyond_its_end() {
    let mut executor = ahead(AheadSettings::buffers(4));
    executor.end_at(FrameId(2));
    assert_eq!(run(&mut executor), "c0 p0 c1 p1");
}
