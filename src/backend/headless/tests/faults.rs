//! Timelines with scripted faults: 10 ms a refresh, 1 ms of submit lead.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::stage::{TimelineStage, options, submit_at};
use crate::backend::headless::fault::{FaultKind, FaultScript, FaultTime, ScriptedFault, StampFault};
use crate::backend::headless::image::PanelImage;
use crate::backend::headless::options::OutputOptions;
use crate::backend::headless::panel_watch::{PanelWatch, ScreenTime};
use crate::backend::{DisplayEvent, FrameId, VideoMode};
use upbeat_timing::time::{Instant, Span};

/// Submits a frame 3 ms after each of the first `refreshes` refreshes if none waits, with the faults of `script`.
fn play(script: &str, refreshes: u64, expected: Expect) {
    let faults = script.parse().expect("a valid script");
    let mut stage = TimelineStage::new(OutputOptions { faults, ..options() });
    for refresh in 0..refreshes {
        stage.submit(refresh as f64 * 10.0 + 3.0, refresh + 1, false);
    }
    expected.assert_eq(&stage.until(refreshes as f64 * 10.0 + 60.0).log);
}

#[test]
fn a_timestamp_can_be_wrong_in_every_way_and_the_picture_is_still_on_the_grid() {
    play(
        "refresh 2 stamp early 2ms
         refresh 3 stamp late 300us
         refresh 4 stamp duplicate
         refresh 5 stamp backwards 1ms
         refresh 6 stamp zero
         frame 8 no-sequence",
        9,
        expect![[r#"
            3.000   submit 1
                      wake at 10.000000ms
            10.000    -> presented 1 at 10.000000ms, refresh 1
                      nothing to wake for
            13.000  submit 2
                      wake at 20.000000ms
            20.000    -> presented 2 at 18.000000ms, refresh 2
                      nothing to wake for
            23.000  submit 3
                      wake at 30.000000ms
            30.000    -> presented 3 at 30.300000ms, refresh 3
                      nothing to wake for
            33.000  submit 4
                      wake at 40.000000ms
            40.000    -> presented 4 at 30.300000ms, refresh 4
                      nothing to wake for
            43.000  submit 5
                      wake at 50.000000ms
            50.000    -> presented 5 at 29.300000ms, refresh 5
                      nothing to wake for
            53.000  submit 6
                      wake at 60.000000ms
            60.000    -> presented 6 at 0.000000ms, refresh 6
                      nothing to wake for
            63.000  submit 7
                      wake at 70.000000ms
            70.000    -> presented 7 at 70.000000ms, refresh 7
                      nothing to wake for
            73.000  submit 8
                      wake at 80.000000ms
            80.000    -> presented 8 at 80.000000ms, without a number
                      nothing to wake for
            83.000  submit 9
                      wake at 90.000000ms
            90.000    -> presented 9 at 90.000000ms, refresh 9
                      nothing to wake for
        "#]],
    );
}

#[test]
fn a_held_flip_is_shown_later_and_a_lost_or_refused_frame_is_never_shown() {
    play(
        "refresh 2 hold-flip for 2\nrefresh 5 lose-frame\nframe 7 refuse-submit",
        9,
        expect![[r#"
        3.000   submit 1
                  wake at 10.000000ms
        10.000    -> presented 1 at 10.000000ms, refresh 1
                  nothing to wake for
        13.000  submit 2
                  wake at 20.000000ms
                  wake at 30.000000ms
        23.000  submit 3: a flip is pending already
                  wake at 40.000000ms
        33.000  submit 4: a flip is pending already
        40.000    -> presented 2 at 40.000000ms, refresh 4
                  nothing to wake for
        43.000  submit 5
                  wake at 50.000000ms
        50.000    -> lost 5: Device
                  nothing to wake for
        53.000  submit 6
                  wake at 60.000000ms
        60.000    -> presented 6 at 60.000000ms, refresh 6
                  nothing to wake for
        63.000  submit 7: the device refused the frame: refused by the fault script
        73.000  submit 8
                  wake at 80.000000ms
        80.000    -> presented 8 at 80.000000ms, refresh 8
                  nothing to wake for
        83.000  submit 9
                  wake at 90.000000ms
        90.000    -> presented 9 at 90.000000ms, refresh 9
                  nothing to wake for
    "#]],
    );
}

#[test]
fn delayed_events_stay_in_order_and_wake_the_display() {
    play(
        "frame 1 delay-events 15ms",
        3,
        expect![[r#"
        3.000   submit 1
                  wake at 10.000000ms
                  wake at 25.000000ms
        13.000  submit 2
                  wake at 20.000000ms
                  wake at 25.000000ms
        23.000  submit 3
        25.000    -> presented 1 at 10.000000ms, refresh 1
        25.000    -> presented 2 at 20.000000ms, refresh 2
                  wake at 30.000000ms
        30.000    -> presented 3 at 30.000000ms, refresh 3
                  nothing to wake for
    "#]],
    );
}

#[test]
fn incidents_happen_on_time_to_an_idle_display_too() {
    play(
        "at 45ms power off\nat 62ms power on\nrefresh 8 mode 6x3@200",
        3,
        expect![[r#"
                      wake at 45.000000ms
            3.000   submit 1
                      wake at 10.000000ms
            10.000    -> presented 1 at 10.000000ms, refresh 1
                      wake at 45.000000ms
            13.000  submit 2
                      wake at 20.000000ms
            20.000    -> presented 2 at 20.000000ms, refresh 2
                      wake at 45.000000ms
            23.000  submit 3
                      wake at 30.000000ms
            30.000    -> presented 3 at 30.000000ms, refresh 3
                      wake at 45.000000ms
                      wake at 62.000000ms
                      wake at 80.000000ms
            80.000    -> changed
                      nothing to wake for
        "#]],
    );
}

#[test]
fn a_plug_pulled_in_the_middle_of_a_frame_loses_it() {
    play(
        "frame 2 unplug",
        2,
        expect![[r#"
        3.000   submit 1
                  wake at 10.000000ms
        10.000    -> presented 1 at 10.000000ms, refresh 1
                  nothing to wake for
        13.000  submit 2
        13.000    -> lost 2: Gone
        13.000    -> gone
    "#]],
    );
}

/// When each image was really on screen, whatever the display reports.
#[derive(Clone, Default)]
struct LightLog(Rc<RefCell<Vec<ScreenTime>>>);

impl PanelWatch for LightLog {
    fn image_done(&mut self, _: &PanelImage<'_>, shown: ScreenTime) {
        self.0.borrow_mut().push(shown);
    }
}

fn script() -> impl Strategy<Value = FaultScript> {
    let span = || (0i64..40).prop_map(Span::from_millis);
    let when = prop_oneof![
        (0u64..20).prop_map(FaultTime::Refresh),
        (0u64..20).prop_map(|frame| FaultTime::Frame(FrameId(frame))),
        (0i64..200).prop_map(|millis| FaultTime::At(Span::from_millis(millis))),
    ];
    let stamp = prop_oneof![
        span().prop_map(StampFault::Early),
        span().prop_map(StampFault::Late),
        span().prop_map(StampFault::Backwards),
        Just(StampFault::Zero),
        Just(StampFault::Duplicate),
    ];
    let mode = VideoMode { width: 4, height: 2, refresh: 100_000 };
    let kind = prop_oneof![
        stamp.prop_map(FaultKind::Stamp),
        Just(FaultKind::NoSequence),
        Just(FaultKind::HoldFlip),
        Just(FaultKind::LoseFrame),
        Just(FaultKind::RefuseSubmit),
        span().prop_map(FaultKind::DelayEvents),
        any::<bool>().prop_map(FaultKind::Power),
        Just(FaultKind::Mode(mode)),
        Just(FaultKind::Unplug),
    ];
    let fault = (when, kind, 1u32..4).prop_map(|(when, kind, count)| ScriptedFault { when, kind, count });
    prop::collection::vec(fault, 0..8).prop_map(|faults| FaultScript { faults })
}

proptest! {
    #[test]
    fn every_accepted_frame_has_one_outcome_and_light_stays_in_order_under_faults(
        faults in script(),
        gaps in prop::collection::vec(0i64..25_000_000, 1..40),
    ) {
        let mut display = TimelineStage::new(OutputOptions { faults, ..options() }).display;
        let light = LightLog::default();
        display.add_watch(Box::new(light.clone()));
        let (mut now, mut taken, mut outcomes) = (Instant::ZERO, BTreeSet::new(), BTreeSet::new());
        for (frame, gap) in (0..).zip(gaps.into_iter().chain([1_000_000_000])) {
            let next = now + Span::from_nanos(gap);
            while let Some(wake) = display.next_event().filter(|&wake| wake <= next) {
                display.advance(wake);
                prop_assert!(display.next_event().is_none_or(|later| later > wake), "it wakes again and again");
            }
            now = next;
            display.advance(now);
            if display.acquire().map(|buffer| display.release(buffer)).is_some()
                && submit_at(&mut display, frame, now).is_ok()
            {
                taken.insert(FrameId(frame));
            }
        }
        display.unplug(now + Span::from_seconds(100));
        display.advance(now + Span::from_seconds(200));
        prop_assert_eq!(display.next_event(), None, "nothing is held back for ever");
        let mut shown_frames = BTreeSet::new();
        for event in std::iter::from_fn(|| display.poll_event()) {
            if let DisplayEvent::Presented { frame, .. } = event {
                shown_frames.insert(frame);
            }
            if let DisplayEvent::Presented { frame, .. } | DisplayEvent::Lost { frame, .. } = event {
                prop_assert!(outcomes.insert(frame), "two outcomes for {:?}", frame);
            }
        }
        prop_assert_eq!(outcomes, taken);
        let light = light.0.borrow();
        prop_assert_eq!(light.iter().map(|shown| shown.frame).collect::<BTreeSet<_>>(), shown_frames);
        for pair in light.windows(2) {
            prop_assert!(pair[0].first.sequence < pair[1].first.sequence, "two frames in one vblank");
            prop_assert!(pair[0].until <= pair[1].first.time && pair[0].first.time < pair[0].until);
        }
    }
}
