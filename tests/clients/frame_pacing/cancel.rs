//! Cancelled frames are not shown, but their callbacks and buffer releases still arrive.

use super::paced_window::PacedWindow;
use crate::fixture::content::ContentEvent;
use crate::fixture::pacing::{DiscardReason, PacingEvent, cancel_from};

#[test]
fn cancelled_frames_are_not_shown_but_earlier_frames_are() {
    let mut stage = PacedWindow::new(6);
    let targets = stage.targets(6);
    targets.iter().for_each(|target| stage.frame(target));
    cancel_from(&stage.pacing, targets[4].id);
    stage.world.settle();
    let client = stage.client;
    for target in &targets[4..] {
        assert_eq!(stage.world.client(client).fate(target.id), Some(Err(DiscardReason::Cancelled)));
        let number = target.id as u32;
        assert!(
            stage.has_received(ContentEvent::Released(number)) && stage.has_received(ContentEvent::Discarded(number)),
            "at once"
        );
    }
    assert_eq!(stage.world.client(client).data.pacing_events.last(), Some(&PacingEvent::Cancelled(targets[4].id)));
    let last = targets[3];
    assert!(stage.wait_for_fate(&last).is_ok());
    // Callbacks of cancelled frames come with the last update that was kept.
    for target in &targets {
        let number = target.id as u32;
        stage.world.run_until("callbacks", |world| world.client(client).has_received(ContentEvent::Callback(number)));
        assert_eq!(stage.world.client(client).count_content_events(|heard| heard == ContentEvent::Callback(number)), 1);
    }
    stage.world.run_until_idle();
    assert_eq!(stage.pixel(), last.id as u32);
}

#[test]
fn targets_after_a_cancel_follow_the_last_kept_frame() {
    let mut stage = PacedWindow::new(6);
    let targets = stage.targets(6);
    targets.iter().for_each(|target| stage.frame(target));
    cancel_from(&stage.pacing, targets[3].id);
    let next = stage.targets(1)[0];
    assert!(next.id > targets[5].id);
    assert!(next.present > targets[2].present && next.present < targets[5].present, "{next:?} {targets:?}");
    stage.frame(&next);
    assert!(stage.wait_for_fate(&next).is_ok());
    stage.world.run_until_idle();
    assert_eq!(stage.pixel(), next.id as u32);
}
