//! Cancelled frames are not shown, but their callbacks and buffer releases still arrive.

use super::stage::Stage;
use crate::fixture::content::Heard;
use crate::fixture::pacing::{DiscardReason, Paced, cancel_from};

#[test]
fn cancelled_frames_are_not_shown_and_those_before_them_are() {
    let mut stage = Stage::new(6);
    let targets = stage.targets(6);
    targets.iter().for_each(|target| stage.frame(target));
    cancel_from(&stage.pacing, targets[4].id);
    stage.world.settle();
    let client = stage.client;
    for target in &targets[4..] {
        assert_eq!(stage.world.client(client).fate(target.id), Some(Err(DiscardReason::Cancelled)));
        let number = target.id as u32;
        assert!(stage.heard(Heard::Released(number)) && stage.heard(Heard::Discarded(number)), "at once");
    }
    assert_eq!(stage.world.client(client).data.paced.last(), Some(&Paced::Cancelled(targets[4].id)));
    let last = targets[3];
    assert!(stage.fate(&last).is_ok());
    // Callbacks of cancelled frames come with the last update that was kept.
    for target in &targets {
        let number = target.id as u32;
        stage.world.until("callbacks", |world| world.client(client).heard(Heard::Called(number)));
        assert_eq!(stage.world.client(client).count(|heard| heard == Heard::Called(number)), 1);
    }
    stage.world.rest();
    assert_eq!(stage.pixel(), last.id as u32);
}

#[test]
fn after_a_cancel_targets_go_on_after_the_last_frame_that_is_kept() {
    let mut stage = Stage::new(6);
    let targets = stage.targets(6);
    targets.iter().for_each(|target| stage.frame(target));
    cancel_from(&stage.pacing, targets[3].id);
    let next = stage.targets(1)[0];
    assert!(next.id > targets[5].id);
    assert!(next.present > targets[2].present && next.present < targets[5].present, "{next:?} {targets:?}");
    stage.frame(&next);
    assert!(stage.fate(&next).is_ok());
    stage.world.rest();
    assert_eq!(stage.pixel(), next.id as u32);
}
