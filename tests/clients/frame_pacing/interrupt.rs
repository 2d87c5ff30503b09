//! Input interrupts drawing ahead until the gesture ends.

use super::paced_window::PacedWindow;
use crate::fixture::BUTTON_LEFT;
use crate::fixture::pacing::{Pacing, PacingEvent, Reason, RevokeReason, cancel_from, wire::Wish};

fn press(stage: &mut PacedWindow) {
    let origin = stage.world.window("a").origin();
    stage.world.point(f64::from(origin.x) + 10.0, f64::from(origin.y) + 10.0);
    stage.world.button(BUTTON_LEFT, true);
}

fn until_effective(stage: &mut PacedWindow, wanted: (Pacing, u32, Reason)) {
    let client = stage.client;
    stage.world.run_until("the pacing", |world| world.client(client).effective() == Some(wanted));
}

#[test]
fn press_switches_to_just_in_time_until_its_release() {
    let mut stage = PacedWindow::new(4);
    let targets = stage.targets(4);
    targets[..2].iter().for_each(|target| stage.frame(target));
    press(&mut stage);
    until_effective(&mut stage, (Pacing::JustInTime, 1, Reason::InteractiveInput));
    let client = stage.client;
    let revoked = PacingEvent::Revoked(targets[2].id, RevokeReason::Pacing);
    assert!(stage.world.client(client).data.pacing_events.contains(&revoked));
    // Requests whose targets were revoked are answered again, now one at a time.
    cancel_from(&stage.pacing, targets[0].id);
    stage.world.run_until("a target", |world| world.client(client).targets().len() == 5);
    let target = stage.world.client(client).targets()[4];
    stage.frame(&target);
    stage.world.run_until("another target", |world| world.client(client).targets().len() == 6);
    let target = stage.world.client(client).targets()[5];
    stage.frame(&target);
    assert!(stage.wait_for_fate(&target).is_ok());
    stage.world.button(BUTTON_LEFT, false);
    until_effective(&mut stage, (Pacing::Ahead, 4, Reason::Client));
    assert_eq!(stage.targets(4).len(), 4);
}

#[test]
fn bare_motion_does_not_interrupt() {
    let mut stage = PacedWindow::new(4);
    let origin = stage.world.window("a").origin();
    for step in 0..5 {
        stage.world.point(f64::from(origin.x + step), f64::from(origin.y) + 10.0);
        upbeat::session::turn::run(&mut stage.world.state);
    }
    stage.world.settle();
    assert_eq!(stage.world.client(stage.client).effective(), Some((Pacing::Ahead, 4, Reason::Client)));
}

#[test]
fn a_client_that_predicts_input_stays_ahead() {
    let mut stage = PacedWindow::new(4);
    stage.pacing.set_options(Wish::StayAhead);
    stage.surface().commit();
    stage.world.settle();
    press(&mut stage);
    assert_eq!(stage.targets(4).len(), 4);
    assert_eq!(stage.world.client(stage.client).effective(), Some((Pacing::Ahead, 4, Reason::Client)));
}

#[test]
fn just_in_time_and_vsync_answer_one_target_request_per_frame() {
    for pacing in [Pacing::JustInTime, Pacing::Vsync] {
        let mut stage = PacedWindow::new(4);
        stage.pacing.set_pacing(pacing);
        stage.surface().commit();
        stage.world.settle();
        until_effective(&mut stage, (pacing, 1, Reason::Client));
        for _ in 0..5 {
            stage.pacing.request_target();
        }
        for count in 1..=5 {
            let client = stage.client;
            stage.world.run_until("a target", |world| world.client(client).targets().len() >= count);
            let targets = stage.world.client(client).targets();
            assert_eq!(targets.len(), count, "{pacing:?}");
            stage.frame(&targets[count - 1]);
        }
        let last = stage.world.client(stage.client).targets()[4];
        assert!(stage.wait_for_fate(&last).is_ok());
    }
}
