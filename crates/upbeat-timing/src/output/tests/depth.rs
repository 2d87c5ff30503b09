use std::collections::VecDeque;

use super::*;

const INTERVAL: Span = Span::from_micros(16_667);
const COMPOSE: Span = Span::from_millis(1);

/// The number of lights within 60 refreshes, and of late lights among them. The display needs its frames `lead` early,
/// queues `depth` frames, shows one a refresh, and shows the tenth frame a refresh late if it `stumbles`. There is
/// always new content.
fn lights(lead: Span, depth: u32, stumbles: bool) -> (usize, usize) {
    lights_of(COMPOSE, lead, depth, stumbles)
}

/// The same if composing takes `compose`.
fn lights_of(compose: Span, lead: Span, depth: u32, stumbles: bool) -> (usize, usize) {
    let start = Instant::from_nanos(1_000_000_000);
    let mut machine: OutputMachine = OutputMachine::new(VsyncModel::new(INTERVAL, start), lead, start);
    machine.set_depth(depth);
    // With a known phase no frame has to be composed at once to find it.
    machine.vsync_mut().synchronise(start);
    let (mut now, mut shown, mut late, mut flights) = (start, 0, 0, VecDeque::new());
    let mut last = machine.vsync().at_or_after(start);
    loop {
        machine.schedule_repaint(RepaintReason::Content);
        let latch = machine.next_latch(now);
        let light = flights.front().map(|(_, index): &(FrameId, RefreshIndex)| {
            let stumble = u64::from(stumbles && shown == 10);
            machine.vsync().present(RefreshIndex(index.0 + stumble).max(last.next()))
        });
        match (latch, light) {
            (Some((index, when)), light) if light.is_none_or(|light| when < light) => {
                let id = show(&mut machine, index, when, when + compose, ComposeCostKind::Usual);
                let late = u64::from(when + compose > machine.submit_by(index));
                flights.push_back((id, index.plus(late)));
                now = when + compose;
            }
            (_, Some(light)) => {
                let Some((id, _)) = flights.pop_front() else { panic!("nothing was in flight") };
                now = now.max(light);
                last = machine.vsync().at_or_after(light);
                late += usize::from(machine.presented(id, light, None, now).0.late > 0);
                shown += usize::from(light <= start + INTERVAL * 60);
            }
            (_, None) => panic!("nothing will ever happen"),
        }
        if now > start + INTERVAL * 60 {
            return (shown, late);
        }
    }
}

#[test]
fn a_display_that_takes_longer_than_a_refresh_shows_every_one_if_two_frames_may_wait() {
    let long = INTERVAL.scale(7, 5);
    assert!(lights(long, 2, false) >= (58, 0), "{:?}", lights(long, 2, false));
    assert!(lights(long, 1, false) <= (31, 0), "{:?}: each waits for the one before", lights(long, 1, false));
}

#[test]
fn a_display_that_takes_frames_late_gains_nothing_from_a_second_one() {
    assert_eq!(lights(Span::from_millis(2), 2, false), lights(Span::from_millis(2), 1, false));
}

#[test]
fn after_a_late_frame_the_next_one_is_in_time_although_two_may_wait() {
    let (shown, late) = lights(Span::from_millis(2), 2, true);
    assert!(shown >= 58 && late == 1, "{late} of {shown} were late");
}

#[test]
fn frames_that_take_long_to_compose_are_made_for_the_refreshes_that_show_them() {
    let lead = Span::from_millis(2);
    let (shown, late) = lights_of(INTERVAL * 3 / 5, lead, 1, false);
    assert!(shown >= 58 && late <= 2, "{late} of {shown} were late, and there is time for every one");
    let (shown, late) = lights_of(INTERVAL * 5 / 4, lead, 1, false);
    assert!((28..=30).contains(&shown) && late <= 2, "{late} of {shown} were late, of every second one");
}

#[test]
fn where_two_frames_may_wait_the_next_one_does_not_wait_for_the_light_of_one_that_is_drawn() {
    let start = Instant::from_nanos(1_000_000_000);
    let reached = |depth| {
        let mut machine: OutputMachine =
            OutputMachine::new(VsyncModel::new(INTERVAL, start), INTERVAL + COMPOSE, start);
        machine.set_depth(depth);
        let first = machine.next_index(start);
        machine.latch(first);
        machine.choose(first, ());
        machine.next_index(start).since(first)
    };
    assert_eq!((reached(2), reached(1)), (1, 2), "its deadline lies before that light");
}

#[test]
fn of_two_frames_in_flight_either_can_be_lost() {
    let start = Instant::from_nanos(1_000_000_000);
    for nth in [0, 1] {
        let mut machine = OutputMachine::new(VsyncModel::new(INTERVAL, start), INTERVAL, start);
        machine.set_depth(2);
        let flights = [RefreshIndex(3), RefreshIndex(4)]
            .map(|index| show(&mut machine, index, start, start + COMPOSE, ComposeCostKind::Odd));
        machine.schedule_repaint(RepaintReason::Content);
        assert_eq!(machine.next_latch(start), None);
        machine.frames_mut().take(flights[nth]);
        assert!(machine.next_latch(start).is_some() && machine.is_busy());
        let stays = RefreshIndex(if nth == 0 { 4 } else { 3 });
        let light = machine.vsync().present(stays);
        assert_eq!(machine.presented(flights[1 - nth], light, None, light).0.target, Some(stays));
    }
}
