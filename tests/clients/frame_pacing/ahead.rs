//! Targets, and the refreshes that show the frames drawn for them.

use super::paced_window::{PacedWindow, on_the_grid, refreshes_late};
use crate::fixture::content::ContentEvent;
use crate::fixture::pacing::{Pacing, PacingEvent, Reason};

#[test]
fn effective_pacing_is_sent_at_once_and_on_change() {
    let mut stage = PacedWindow::new(3);
    stage.world.settle();
    let client = stage.world.client(stage.client);
    assert_eq!(client.data.pacing_events[0], PacingEvent::Capabilities(8));
    let first =
        PacingEvent::Effective { pacing: Pacing::JustInTime, ahead: 1, min_buffers: 2, reason: Reason::Automatic };
    assert_eq!(client.data.pacing_events[1], first);
    assert_eq!(client.effective(), Some((Pacing::Ahead, 3, Reason::Client)));
}

#[test]
fn requests_are_answered_at_once_while_there_is_room() {
    let mut stage = PacedWindow::new(3);
    for _ in 0..5 {
        stage.pacing.request_target();
    }
    for _ in 0..3 {
        stage.world.settle();
        upbeat::session::turn::run(&mut stage.world.state);
    }
    stage.world.settle();
    let targets = stage.world.client(stage.client).targets();
    assert_eq!(targets.len(), 3, "{targets:?}");
    on_the_grid(&targets);
    // A frame that reaches the screen makes room for another target.
    targets.iter().for_each(|target| stage.frame(target));
    let client = stage.client;
    stage.world.run_until("all five targets", |world| world.client(client).targets().len() == 5);
    on_the_grid(&stage.world.client(client).targets());
}

#[test]
fn every_frame_is_shown_at_its_own_refresh() {
    let mut stage = PacedWindow::new(4);
    let mut shown = Vec::new();
    for _ in 0..5 {
        let targets = stage.targets(4);
        targets.iter().for_each(|target| stage.frame(target));
        stage.world.settle();
        for target in &targets {
            let at = stage.wait_for_fate(target);
            shown.push((target.id, at.map(|at| refreshes_late(target, at))));
        }
    }
    // A frame may be late, but none is early and none is out of order.
    assert!(shown.iter().all(|(_, late)| late.is_err() || late.is_ok_and(|late| late >= 0)), "{shown:?}");
    assert!(shown.iter().any(|(_, late)| *late == Ok(0)), "{shown:?}");
    let fates: Vec<u64> = stage.world.client(stage.client).fates().iter().map(|(id, _)| *id).collect();
    assert!(fates.is_sorted(), "{fates:?}");
    for (id, _) in &shown {
        assert!(stage.has_received(ContentEvent::Callback(*id as u32)), "the callback of {id}");
    }
}
