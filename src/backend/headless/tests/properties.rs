//! Property tests against models that are too simple to be wrong.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::stage::{MODE, compose, options, submit_at};
use crate::backend::headless::display::VirtualDisplay;
use crate::backend::headless::options::OutputOptions;
use crate::backend::{BufferStorage, DisplayEvent, FrameId, FramePlan, PlanChange, SubmitError};
use upbeat_timing::time::{Instant, Span};

const INTERVAL: i64 = 10_000_000;
const LEAD: i64 = 1_000_000;

/// An action, `after` nanoseconds after the previous step.
#[derive(Clone, Debug)]
struct PlayedStep {
    after: i64,
    what: PlayedAction,
}

#[derive(Clone, Debug)]
enum PlayedAction {
    Submit { rendering: i64 },
    Withdraw,
    Nothing,
}

fn steps() -> impl Strategy<Value = Vec<PlayedStep>> {
    let what = prop_oneof![
        4 => prop_oneof![Just(0), 0i64..40_000_000].prop_map(|rendering| PlayedAction::Submit { rendering }),
        1 => Just(PlayedAction::Withdraw),
        2 => Just(PlayedAction::Nothing),
    ];
    // Distances that hit the deadline or the vblank exactly are the interesting cases.
    let after = prop_oneof![Just(0), Just(LEAD), Just(INTERVAL - LEAD), Just(INTERVAL), 0i64..30_000_000];
    prop::collection::vec((after, what).prop_map(|(after, what)| PlayedStep { after, what }), 1..60)
}

/// Plays the steps and returns the accepted frames and the events. Without `dispatch_in_between` the display is
/// dispatched only at the steps, however late that is.
fn play(steps: &[PlayedStep], options: OutputOptions, dispatch_in_between: bool) -> (Vec<u64>, Vec<DisplayEvent>) {
    let mut display = VirtualDisplay::new(MODE, options, Instant::ZERO).expect("valid options");
    let (mut now, mut taken, mut events) = (Instant::ZERO, Vec::new(), Vec::new());
    let mut fence = None;
    for (frame, step) in (1..).zip(steps) {
        let to = now + Span::from_nanos(step.after);
        while dispatch_in_between && display.next_event().is_some_and(|next| next <= to) {
            display.advance(display.next_event().expect("checked"));
        }
        now = to;
        if let Some(at) = fence.take_if(|at| *at <= now) {
            display.fence_signalled(at);
        }
        display.advance(now);
        match step.what {
            PlayedAction::Submit { rendering } => {
                if let Some(done) = try_submit(&mut display, frame, now, rendering) {
                    taken.push(frame);
                    fence = done;
                }
            }
            PlayedAction::Withdraw => {
                if display.supersede(FrameId(0), now).is_none() {
                    fence = None;
                }
            }
            PlayedAction::Nothing => {}
        }
        events.extend(std::iter::from_fn(|| display.poll_event()));
    }
    if let Some(at) = fence {
        display.fence_signalled(at);
    }
    display.advance(now + Span::from_seconds(10));
    events.extend(std::iter::from_fn(|| display.poll_event()));
    assert_eq!(display.next_event(), None, "an idle display needs no wake-up");
    (taken, events)
}

/// Submits a frame. On success returns when the fence will signal, if it is pending.
fn try_submit(display: &mut VirtualDisplay, frame: u64, now: Instant, rendering: i64) -> Option<Option<Instant>> {
    let plan = compose(display, frame);
    let done = now + Span::from_nanos(rendering);
    match display.submit(plan, (rendering == 0).then_some(now), now) {
        Ok(()) => Some((rendering != 0).then_some(done)),
        Err((error, plan)) => {
            assert_eq!(error, SubmitError::Busy);
            let PlanChange::Compose { buffer, .. } = plan.change else { panic!("the plan came back changed") };
            display.release(buffer);
            None
        }
    }
}

/// The vblank that shows a frame complete at `complete`: counted, not computed.
fn first_vblank_for(complete: Instant) -> u64 {
    (1..).find(|&n| Instant::ZERO + Span::from_nanos(n * INTERVAL - LEAD) >= complete).expect("there is one") as u64
}

proptest! {
    #[test]
    fn every_frame_taken_is_shown_once_on_the_grid_or_reported_lost(steps in steps()) {
        let (taken, events) = play(&steps, options(), true);
        let mut outcomes = BTreeMap::new();
        let mut last = 0;
        for event in &events {
            let frame = match *event {
                DisplayEvent::Presented { frame, time, sequence } => {
                    let sequence = sequence.expect("a virtual display counts");
                    prop_assert!(sequence > last, "two frames in one vblank");
                    last = sequence;
                    prop_assert_eq!(time, Instant::ZERO + Span::from_nanos(INTERVAL * sequence as i64));
                    frame
                }
                DisplayEvent::Lost { frame, .. } => frame,
                _ => continue,
            };
            prop_assert!(outcomes.insert(frame.0, event.clone()).is_none(), "two outcomes for {:?}", frame);
        }
        prop_assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), taken);
    }

    #[test]
    fn a_late_loop_changes_no_frames_fate(steps in steps()) {
        prop_assert_eq!(play(&steps, options(), true), play(&steps, options(), false));
        let range = Some((Span::from_nanos(INTERVAL), Span::from_millis(25)));
        let variable = OutputOptions { variable_refresh: range, ..options() };
        prop_assert_eq!(play(&steps, variable.clone(), true), play(&steps, variable, false));
    }

    #[test]
    fn a_frame_is_shown_by_the_first_vblank_for_which_it_was_complete(
        gaps in prop::collection::vec((0i64..25_000_000, 0i64..25_000_000), 1..40),
    ) {
        let mut display = VirtualDisplay::new(MODE, options(), Instant::ZERO).expect("valid options");
        let mut now = Instant::ZERO;
        for (frame, (gap, rendering)) in (1..).zip(gaps) {
            now += Span::from_nanos(gap);
            let plan = compose(&mut display, frame);
            display.submit(plan, None, now).expect("nothing waits");
            let done = now + Span::from_nanos(rendering);
            display.fence_signalled(done);
            let expected = first_vblank_for(done);
            now = Instant::ZERO + Span::from_nanos(INTERVAL * expected as i64);
            display.advance(now - Span::from_nanos(1));
            prop_assert_eq!(display.poll_event(), None, "too early");
            display.advance(now);
            let presented = DisplayEvent::Presented { frame: FrameId(frame), time: now, sequence: Some(expected) };
            prop_assert_eq!(display.poll_event(), Some(presented));
        }
    }

    #[test]
    fn a_variable_panel_keeps_its_range(
        gaps in prop::collection::vec(0i64..90_000_000, 1..40), shortest in 4i64..12, spread in 0i64..30,
    ) {
        let (shortest, longest) = (Span::from_millis(shortest), Span::from_millis(shortest + spread));
        let variable = OutputOptions { variable_refresh: Some((shortest, longest)), ..options() };
        let mut display = VirtualDisplay::new(MODE, variable, Instant::ZERO).expect("valid options");
        let (mut now, mut last) = (Instant::ZERO, (Instant::ZERO, 0));
        for (frame, gap) in (1..).zip(gaps) {
            now += Span::from_nanos(gap);
            let complete = now;
            submit_at(&mut display, frame, now).expect("nothing waits");
            now = display.next_event().expect("a frame waits");
            display.advance(now);
            let Some(DisplayEvent::Presented { time, sequence: Some(sequence), .. }) = display.poll_event() else {
                panic!("it was not presented")
            };
            let (elapsed, refreshes) = (time - last.0, (sequence - last.1) as i64);
            prop_assert!(elapsed >= shortest * 1 && elapsed <= longest * refreshes, "{} in {}", refreshes, elapsed);
            // All refreshes but the last were repeats, as late as the panel allows.
            let since_repeat = elapsed - longest * (refreshes - 1);
            prop_assert!(since_repeat >= shortest && since_repeat <= longest);
            let at_once = complete + Span::from_nanos(LEAD);
            prop_assert!(time == at_once || since_repeat == shortest, "it waited longer than it had to");
            last = (time, sequence);
        }
    }

    #[test]
    fn a_buffers_age_is_the_age_of_its_pixels(
        buffers in 3usize..=4,
        steps in prop::collection::vec((0u8..8, 0i64..15_000_000), 1..120),
    ) {
        let mut display =
            VirtualDisplay::new(MODE, OutputOptions { buffers, ..options() }, Instant::ZERO).expect("valid options");
        // The reference: each composed frame has its number as pixels; u32::MAX marks a buffer that was given
        // back unused.
        let (mut now, mut composed) = (Instant::ZERO, 0u32);
        for (action, gap) in steps {
            now += Span::from_nanos(gap);
            display.advance(now);
            let Some(mut buffer) = display.acquire() else { prop_assert!(false, "no buffer free"); return Ok(()) };
            let BufferStorage::Memory(memory) = &mut buffer.storage else { panic!("not in memory") };
            let expected = match memory.pixels[0] { 0 | u32::MAX => 0, number => composed - number + 1 };
            prop_assert_eq!(buffer.age, expected);
            if action == 0 {
                memory.pixels.fill(u32::MAX);
                display.release(buffer);
                continue;
            }
            memory.pixels.fill(composed + 1);
            let plan = super::stage::plan(u64::from(composed), PlanChange::Compose { buffer, damage: Vec::new() });
            match display.submit(plan, Some(now), now) {
                Ok(()) => composed += 1,
                Err((_, FramePlan { change: PlanChange::Compose { mut buffer, .. }, .. })) => {
                    let BufferStorage::Memory(memory) = &mut buffer.storage else { panic!("not in memory") };
                    memory.pixels.fill(u32::MAX);
                    display.release(buffer);
                }
                Err(_) => prop_assert!(false, "the plan came back changed"),
            }
            if action == 1 {
                display.supersede(FrameId(0), now);
            }
        }
    }
}
