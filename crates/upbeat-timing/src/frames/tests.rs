use super::*;

mod display;
mod properties;

type UnitFrameQueue = FrameQueue<()>;

/// Performs every operation at once, as if work took no time, and returns a list of them.
fn run(queue: &mut UnitFrameQueue) -> String {
    let mut started = Vec::new();
    while let Some(step) = queue.poll(QueuePermissions::WORK) {
        match step {
            FrameOperation::Record => {
                let id = record(queue);
                started.push(format!("c{}", id.0));
                queue.mark_recorded(id);
            }
            FrameOperation::Draw(id) => {
                started.push(format!("p{}", id.0));
                queue.mark_drawing(id);
                queue.mark_drawn(id, Span::ZERO);
            }
            FrameOperation::Release(_) => {}
            FrameOperation::Withdraw(_) | FrameOperation::HandOver(_) => panic!("there is no display"),
        }
    }
    started.join(" ")
}

fn record(queue: &mut UnitFrameQueue) -> FrameId {
    queue.record(RefreshIndex(queue.next_frame().0 + 1), ())
}

fn ahead(settings: AheadSettings) -> UnitFrameQueue {
    let mut queue = UnitFrameQueue::new(settings, FrameTrigger::Ahead);
    queue.begin(RefreshIndex(1));
    queue
}

/// Latches `refresh`: returns its frame and removes it from the queue.
fn latch(queue: &mut UnitFrameQueue, refresh: u64) -> FrameForRefresh {
    let shown = queue.frame_for_refresh(RefreshIndex(refresh));
    shown.frame.map(|id| queue.take(id));
    shown
}

fn is_record(step: Option<FrameOperation<()>>) -> bool {
    matches!(step, Some(FrameOperation::Record))
}

#[test]
fn it_accumulates_until_the_slots_are_full_and_then_follows_the_display() {
    let mut queue = ahead(AheadSettings::buffers(4));
    assert_eq!(queue.phase(), PreExecutorStage::Accumulation);
    assert_eq!(run(&mut queue), "c0 p0 c1 p1 c2 p2");
    assert_eq!(queue.phase(), PreExecutorStage::Sync);
    assert_eq!(latch(&mut queue, 1).frame, Some(FrameId(0)));
    assert_eq!(run(&mut queue), "c3 p3");
    assert_eq!((queue.ready(), queue.phase()), (3, PreExecutorStage::Sync));
}

#[test]
fn lead_limits_before_slots_do_and_run_ahead_reaches_beyond_both() {
    let settings = AheadSettings { lead: 3, ..AheadSettings::buffers(5) };
    assert_eq!(run(&mut ahead(settings)), "c0 p0 c1 p1 c2 p2");
    assert_eq!(run(&mut ahead(settings.with_run_ahead(2))), "c0 p0 c1 p1 c2 p2 c3 c4");
}

#[test]
fn a_frame_that_is_forgotten_makes_room() {
    let mut queue = ahead(AheadSettings::buffers(2).with_run_ahead(1));
    assert!(is_record(queue.poll(QueuePermissions::WORK)));
    let first = record(&mut queue);
    queue.mark_recorded(first);
    assert_eq!(queue.next_to_draw(), Some(first));
    queue.discard(first);
    assert_eq!((queue.next_to_draw(), queue.depth()), (None, 0));
    assert_eq!(run(&mut queue), "c1 p1 c2");
}

#[test]
fn the_refresh_starts_one_frame_per_tick() {
    let mut queue = UnitFrameQueue::new(AheadSettings::buffers(3), FrameTrigger::Refresh);
    queue.set_recorder(RecorderMode::Coupled);
    queue.begin(RefreshIndex(1));
    assert_eq!(run(&mut queue), "c0 p0");
    queue.tick();
    queue.tick();
    assert_eq!(run(&mut queue), "c1 p1");
    queue.tick();
    assert_eq!(run(&mut queue), "", "two back buffers are full");
    latch(&mut queue, 1);
    queue.tick();
    assert_eq!(run(&mut queue), "c2 p2");
}

#[test]
fn a_start_delay_fills_the_queue_first() {
    let mut queue = ahead(AheadSettings::buffers(4).with_start_delay(2));
    run(&mut queue);
    let shown: Vec<_> = (1..=4).map(|refresh| latch(&mut queue, refresh).frame).collect();
    assert_eq!(shown, [None, None, Some(FrameId(0)), Some(FrameId(1))]);
}

#[test]
fn after_input_the_stale_frame_is_shown_only_until_a_fresh_one_is_ready() {
    let mut queue = ahead(AheadSettings::buffers(5));
    run(&mut queue);
    let superseded = queue.supersede();
    assert_eq!((superseded.kept, superseded.wasted, queue.depth()), (Some(FrameId(0)), 3, 1));
    let released = std::iter::from_fn(|| queue.poll(QueuePermissions::default())).count();
    assert_eq!(released, 3);
    assert!(is_record(queue.poll(QueuePermissions::WORK)));
    assert_eq!(record(&mut queue), FrameId(4));
    let insured = latch(&mut queue, 1);
    assert_eq!((insured.frame, insured.stale), (Some(FrameId(0)), true));
    queue.mark_recorded(FrameId(4));
    run(&mut queue);
    let fresh = latch(&mut queue, 2);
    assert_eq!((fresh.frame, fresh.stale), (Some(FrameId(4)), false));
}

#[test]
fn a_fresh_frame_in_time_discards_the_insurance() {
    let mut queue = ahead(AheadSettings::buffers(5));
    run(&mut queue);
    queue.supersede();
    run(&mut queue);
    let latched = latch(&mut queue, 1);
    assert_eq!(latched, FrameForRefresh { frame: Some(FrameId(4)), stale: false });
    let Some(FrameOperation::Release(insurance)) = queue.poll(QueuePermissions::default()) else {
        panic!("the insurance is let go")
    };
    assert_eq!((insurance.id, insurance.is_stale()), (FrameId(0), true));
}

#[test]
fn work_under_way_at_the_supersede_is_not_shown_as_fresh() {
    let mut queue = ahead(AheadSettings { insurance: 0, ..AheadSettings::buffers(4) });
    let first = record(&mut queue);
    queue.mark_recorded(first);
    queue.mark_drawing(first);
    let second = record(&mut queue);
    queue.supersede();
    queue.mark_recorded(second);
    assert!(queue.mark_drawn(first, Span::ZERO), "finished for nothing");
    assert_eq!(latch(&mut queue, 1).frame, None);
    assert_eq!(queue.depth(), 0);
}

#[test]
fn motion_that_ends_starts_no_frame_beyond_its_end() {
    let mut queue = ahead(AheadSettings::buffers(4));
    queue.end_at(FrameId(2));
    assert_eq!(run(&mut queue), "c0 p0 c1 p1");
}
