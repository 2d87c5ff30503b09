//! Protocol errors of `upbeat_frame_pacing_v1`.

use super::paced_window::{LONG, PacedWindow};
use crate::fixture::content::set_stamp;
use crate::fixture::pacing::bind;

const UNKNOWN_TARGET: u32 = 0;
const TIMESTAMP_CONFLICT: u32 = 1;
const INVALID_OPTION: u32 = 3;
const NO_BUFFER: u32 = 4;
const TARGET_USED: u32 = 5;

#[track_caller]
fn ends_with(mut stage: PacedWindow, interface: &str, code: u32) {
    stage.world.settle();
    let error = stage.world.client(stage.client).error.clone();
    assert_eq!(error, Some((interface.to_owned(), code)));
    // Other clients continue.
    stage.world.open("b", 50, 50);
    stage.world.run_until_idle();
}

const OBJECT: &str = "upbeat_frame_pacing_v1";

#[test]
fn a_surface_has_one_pacing_object() {
    let mut stage = PacedWindow::new(3);
    let surface = stage.surface();
    stage.world.client(stage.client).pacing(&surface);
    ends_with(stage, "upbeat_frame_pacing_manager_v1", 0);
}

#[test]
fn destroyed_pacing_object_may_be_replaced() {
    let mut stage = PacedWindow::new(3);
    stage.targets(2);
    stage.pacing.destroy();
    let surface = stage.surface();
    stage.pacing = stage.world.client(stage.client).pacing(&surface);
    assert_eq!(stage.targets(1)[0].id, 1);
    assert!(stage.world.client(stage.client).error.is_none());
}

#[test]
fn a_target_that_was_never_sent_cannot_be_bound() {
    let mut stage = PacedWindow::new(3);
    let target = stage.targets(1)[0];
    bind(&stage.pacing, target.id + 1);
    ends_with(stage, OBJECT, UNKNOWN_TARGET);
}

#[test]
fn a_target_is_bound_once() {
    let mut stage = PacedWindow::new(3);
    let target = stage.targets(1)[0];
    stage.frame(&target);
    bind(&stage.pacing, target.id);
    ends_with(stage, OBJECT, TARGET_USED);
}

#[test]
fn target_replaced_by_another_bind_before_the_commit_may_still_be_used() {
    let mut stage = PacedWindow::new(3);
    let targets = stage.targets(2);
    bind(&stage.pacing, targets[1].id);
    stage.frame(&targets[0]);
    stage.frame(&targets[1]);
    assert!(stage.wait_for_fate(&targets[1]).is_ok());
}

#[test]
fn a_bound_commit_attaches_a_buffer() {
    for null in [false, true] {
        let mut stage = PacedWindow::new(3);
        let target = stage.targets(1)[0];
        bind(&stage.pacing, target.id);
        if null {
            stage.surface().attach(None, 0, 0);
        }
        stage.surface().commit();
        ends_with(stage, OBJECT, NO_BUFFER);
    }
}

#[test]
fn a_bound_commit_has_no_time_stamp() {
    let mut stage = PacedWindow::new(3);
    let target = stage.targets(1)[0];
    let surface = stage.surface();
    let timer = stage.world.client(stage.client).timer(&surface);
    set_stamp(&timer, stage.world.now() + LONG);
    stage.frame(&target);
    ends_with(stage, OBJECT, TIMESTAMP_CONFLICT);
}

#[test]
fn unknown_option_is_an_error() {
    let stage = PacedWindow::new(3);
    stage.pacing.set_options(crate::fixture::pacing::wire::Wish::from_bits_retain(8));
    ends_with(stage, OBJECT, INVALID_OPTION);
}

#[test]
fn pacing_object_of_a_destroyed_surface_is_inert() {
    let mut stage = PacedWindow::new(3);
    stage.targets(1);
    stage.window.toplevel.destroy();
    stage.window.xdg.destroy();
    stage.surface().destroy();
    stage.world.settle();
    bind(&stage.pacing, 99);
    stage.pacing.request_target();
    stage.pacing.destroy();
    stage.world.settle();
    assert!(stage.world.client(stage.client).error.is_none());
}
