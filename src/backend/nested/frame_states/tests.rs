//! The outcomes of frames, for all answers of a parent.

use proptest::prelude::*;

use super::*;

const fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn events(frames: &mut NestedFrames) -> Vec<DisplayEvent> {
    std::iter::from_fn(|| frames.poll()).collect()
}

fn lost(frame: u64, reason: LossReason) -> DisplayEvent {
    DisplayEvent::Lost { frame: FrameId(frame), reason }
}

fn shown(frame: u64, millis: u64) -> DisplayEvent {
    DisplayEvent::Presented { frame: FrameId(frame), time: at(millis), sequence: Some(millis) }
}

#[test]
fn feedback_alone_reports_light() {
    let mut frames = NestedFrames::new(true);
    assert_eq!(frames.submit(FrameId(1), at(0)), CommitDecision::Commit);
    assert_eq!(frames.presented(FrameId(1), at(16), Some(16)), Some(at(0)));
    assert_eq!(frames.submit(FrameId(2), at(20)), CommitDecision::Commit, "the parent calls back later");
    frames.called_back(FrameId(1), at(21));
    assert_eq!(frames.presented(FrameId(2), at(33), Some(33)), Some(at(20)));
    assert_eq!(events(&mut frames), [shown(1, 16), shown(2, 33)]);
    assert_eq!((frames.test(), frames.deadline()), (Ok(()), None));
}

#[test]
fn a_second_frame_follows_as_soon_as_the_parent_has_taken_the_first() {
    let mut frames = NestedFrames::new(true);
    frames.submit(FrameId(1), at(0));
    assert_eq!(frames.submit(FrameId(2), at(10)), CommitDecision::Hold, "it would take the place of the first");
    assert_eq!(frames.test(), Err(SubmitError::Busy));
    frames.called_back(FrameId(1), at(12));
    assert_eq!(frames.release(at(12)), Some(FrameId(2)));
    assert_eq!(frames.presented(FrameId(1), at(24), Some(24)), Some(at(0)));
    assert_eq!(frames.presented(FrameId(2), at(40), Some(40)), Some(at(12)));
    assert_eq!(events(&mut frames), [shown(1, 24), shown(2, 40)]);
}

#[test]
fn callback_counts_as_light_without_feedback() {
    let mut frames = NestedFrames::new(false);
    frames.submit(FrameId(1), at(0));
    frames.called_back(FrameId(1), at(16));
    assert_eq!(events(&mut frames), [DisplayEvent::Presented { frame: FrameId(1), time: at(16), sequence: None }]);
}

#[test]
fn after_a_discarded_frame_the_next_one_waits_until_the_parent_calls_back() {
    let mut frames = NestedFrames::new(true);
    frames.submit(FrameId(1), at(0));
    frames.discarded(FrameId(1));
    assert_eq!(events(&mut frames), [lost(1, LossReason::Device)]);
    assert_eq!(frames.submit(FrameId(2), at(5)), CommitDecision::Hold);
    assert_eq!(frames.release(at(6)), None);
    frames.called_back(FrameId(1), at(20));
    assert_eq!(frames.release(at(20)), Some(FrameId(2)));
    frames.presented(FrameId(2), at(33), Some(33));
    assert_eq!(events(&mut frames), [shown(2, 33)]);
}

#[test]
fn silent_parent_hides_the_window_until_a_callback() {
    let mut frames = NestedFrames::new(true);
    frames.submit(FrameId(1), at(0));
    frames.expire(at(700));
    assert_eq!((events(&mut frames).len(), frames.take_visibility()), (0, None));
    frames.expire(at(800));
    assert_eq!(events(&mut frames), [lost(1, LossReason::Gone)]);
    assert_eq!((frames.take_visibility(), frames.take_visibility()), (Some(false), None));
    assert_eq!(frames.deadline(), None, "nothing wakes up while it is hidden");
    frames.called_back(FrameId(1), at(60_000));
    assert_eq!(frames.take_visibility(), Some(true));
    assert_eq!(frames.submit(FrameId(2), at(60_001)), CommitDecision::Commit);
}

#[test]
fn a_parent_that_calls_back_but_never_reports_a_frame_does_not_hang_the_output() {
    let mut frames = NestedFrames::new(true);
    frames.submit(FrameId(1), at(0));
    frames.called_back(FrameId(1), at(10));
    frames.expire(at(259));
    assert_eq!(events(&mut frames), []);
    frames.expire(at(260));
    assert_eq!(events(&mut frames), [lost(1, LossReason::Device)]);
    assert!(!frames.is_hidden() && !frames.has_feedback());
    frames.submit(FrameId(2), at(300));
    frames.called_back(FrameId(2), at(316));
    assert_eq!(events(&mut frames), [DisplayEvent::Presented { frame: FrameId(2), time: at(316), sequence: None }]);
    frames.presented(FrameId(2), at(316), None);
    assert!(frames.has_feedback(), "it reports after all");
}

#[test]
fn only_held_frames_can_be_withdrawn() {
    let mut frames = NestedFrames::new(true);
    frames.submit(FrameId(1), at(0));
    frames.submit(FrameId(2), at(1));
    assert_eq!(frames.supersede(FrameId(3)), Some(FrameId(2)));
    assert_eq!(frames.supersede(FrameId(0)), Some(FrameId(1)));
    assert_eq!(events(&mut frames), [lost(2, LossReason::Superseded)]);
}

#[test]
fn callbacks_count_as_light_after_many_discards() {
    let mut frames = NestedFrames::new(true);
    for frame in 1..=8 {
        frames.submit(FrameId(frame), at(frame * 16));
        frames.called_back(FrameId(frame), at(frame * 16 + 10));
        assert!(frames.has_feedback());
        frames.discarded(FrameId(frame));
        assert_eq!(events(&mut frames), [lost(frame, LossReason::Device)]);
    }
    assert!(!frames.has_feedback());
    frames.submit(FrameId(9), at(200));
    frames.called_back(FrameId(9), at(216));
    frames.discarded(FrameId(9));
    assert_eq!(events(&mut frames), [DisplayEvent::Presented { frame: FrameId(9), time: at(216), sequence: None }]);
    frames.submit(FrameId(10), at(220));
    frames.presented(FrameId(10), at(233), Some(233));
    assert_eq!(events(&mut frames), [shown(10, 233)]);
    assert!(frames.has_feedback(), "it reports after all");
}

#[test]
fn discards_are_trusted_after_a_first_report() {
    let mut frames = NestedFrames::new(true);
    frames.submit(FrameId(1), at(0));
    frames.presented(FrameId(1), at(16), None);
    for frame in 2..20 {
        frames.called_back(FrameId(frame - 1), at(frame * 16));
        frames.submit(FrameId(frame), at(frame * 16));
        frames.discarded(FrameId(frame));
    }
    assert!(frames.has_feedback());
    assert_eq!(events(&mut frames).len(), 19);
}

/// A call or event of a window.
#[derive(Clone, Copy, Debug)]
enum NestedFrameAction {
    Submit,
    CalledBack(u64),
    Presented(u64),
    Discarded(u64),
    Expire,
    PowerOff,
    Resize,
}

fn happening() -> impl Strategy<Value = NestedFrameAction> {
    prop_oneof![
        3 => Just(NestedFrameAction::Submit),
        3 => (0..40u64).prop_map(NestedFrameAction::CalledBack),
        3 => (0..40u64).prop_map(NestedFrameAction::Presented),
        1 => (0..40u64).prop_map(NestedFrameAction::Discarded),
        1 => Just(NestedFrameAction::Expire),
        1 => Just(NestedFrameAction::PowerOff),
        1 => Just(NestedFrameAction::Resize),
    ]
}

proptest! {
    #[test]
    fn every_frame_ends_exactly_once_for_any_parent(
        happenings in prop::collection::vec(happening(), 0..200)
    ) {
        let mut frames = NestedFrames::new(true);
        let (mut last, mut ended) = (0, Vec::new());
        for (step, happening) in (0..).zip(happenings) {
            let now = at(step * 300);
            match happening {
                NestedFrameAction::Submit if frames.test().is_ok() => {
                    last += 1;
                    frames.submit(FrameId(last), now);
                }
                NestedFrameAction::Submit => {}
                NestedFrameAction::CalledBack(frame) => frames.called_back(FrameId(frame), now),
                NestedFrameAction::Presented(frame) => {
                    frames.presented(FrameId(frame), now, None);
                }
                NestedFrameAction::Discarded(frame) => frames.discarded(FrameId(frame)),
                NestedFrameAction::Expire => frames.expire(now),
                NestedFrameAction::PowerOff => frames.lose(LossReason::Gone),
                NestedFrameAction::Resize => frames.lose_held(LossReason::ModeChange),
            }
            frames.release(now);
            ended.extend(events(&mut frames).into_iter().map(|event| match event {
                DisplayEvent::Presented { frame, .. } | DisplayEvent::Lost { frame, .. } => frame.0,
                other => panic!("{other:?}"),
            }));
        }
        frames.lose(LossReason::Gone);
        ended.extend(events(&mut frames).into_iter().map(|event| match event {
            DisplayEvent::Lost { frame, .. } => frame.0,
            other => panic!("{other:?}"),
        }));
        let mut sorted = ended.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (1..=last).collect::<Vec<_>>());
    }
}
