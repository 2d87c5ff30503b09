//! Frames that wait while something else changes: each gets exactly one end, in order, and nothing is kept.

use std::os::fd::AsFd;

use super::paced_window::{PacedWindow, SIZE};
use crate::fixture::content::{BLUE, ContentEvent, GREEN};
use crate::fixture::pacing::{
    DiscardReason, Pacing, PacingEvent, PacingTarget, Reason, RevokeReason, bind, cancel_from, wire::Wish,
};
use crate::fixture::{OUTPUT, TestToplevel};
use upbeat::surface::fence;
use upbeat_timing::time::{Instant, Span};

/// Every frame for these targets ended once, in order. Each was called back once, and released at most once.
#[track_caller]
fn all_ended_once(stage: &mut PacedWindow, ids: std::ops::RangeInclusive<u64>) {
    let client = stage.client;
    for id in ids.clone() {
        let number = id as u32;
        stage.world.run_until(&format!("the end of {id}"), |world| {
            let client = world.client(client);
            client.fate(id).is_some() && client.has_received(ContentEvent::Callback(number))
        });
    }
    stage.world.settle();
    let client = stage.world.client(client);
    let fates: Vec<u64> = client.fates().iter().map(|(id, _)| *id).filter(|id| ids.contains(id)).collect();
    assert_eq!(fates, ids.clone().collect::<Vec<_>>(), "once and in order");
    let shown: Vec<_> = client.fates().iter().filter_map(|(_, fate)| fate.ok()).collect();
    assert!(shown.is_sorted(), "{shown:?}");
    for id in ids {
        let number = id as u32;
        assert_eq!(client.count_content_events(|heard| heard.is_end_of_feedback(number)), 1, "feedback of {id}");
        assert_eq!(
            client.count_content_events(|heard| heard == ContentEvent::Callback(number)),
            1,
            "callbacks of {id}"
        );
        assert!(client.count_content_events(|heard| heard == ContentEvent::Released(number)) <= 1, "releases of {id}");
    }
}

fn wait_for_releases(stage: &mut PacedWindow, ids: std::ops::RangeInclusive<u64>) {
    let client = stage.client;
    for id in ids {
        stage.world.run_until(&format!("the release of {id}"), |world| {
            world.client(client).has_received(ContentEvent::Released(id as u32))
        });
    }
}

fn revocations(stage: &mut PacedWindow, reason: RevokeReason) -> usize {
    let paced = &stage.world.client(stage.client).data.pacing_events;
    paced.iter().filter(|paced| matches!(paced, PacingEvent::Revoked(_, why) if *why == reason)).count()
}

fn cover(stage: &mut PacedWindow) -> TestToplevel {
    let cover = stage.world.open_in(stage.client, "cover", OUTPUT.0, OUTPUT.1);
    stage.world.client(stage.client).draw(&cover.surface, 900, OUTPUT, BLUE);
    cover.surface.commit();
    stage.wait_for_feedback(900);
    cover
}

/// When each frame was shown. A frame may be discarded for a newer one only if it would have been two refreshes late.
fn lights(stage: &mut PacedWindow, targets: &[PacingTarget]) -> Vec<Instant> {
    let fates: Vec<_> = targets.iter().map(|target| stage.wait_for_fate(target)).collect();
    let mut shown: Vec<Instant> = Vec::new();
    for (target, fate) in targets.iter().zip(&fates).rev() {
        match fate {
            Ok(light) => shown.insert(0, *light),
            Err(reason) => {
                let next = shown.first().expect("no newer frame was shown");
                assert_eq!(*reason, DiscardReason::Newer);
                assert!(*next > target.present + target.interval * 3 / 2, "{target:?} was discarded: {fates:?}");
            }
        }
    }
    assert!(shown.windows(2).all(|pair| pair[0] < pair[1]), "{shown:?}");
    shown
}

#[test]
fn late_frame_and_the_frames_behind_it_each_get_a_refresh() {
    let mut stage = PacedWindow::new(3);
    let targets = stage.targets(3);
    let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    let server = stage.world.window("a").surface().clone();
    stage.frame(&targets[0]);
    stage.world.settle();
    fence::acquire(&mut stage.world.state, &server, Box::new(event.as_fd().try_clone_to_owned().unwrap()));
    stage.frame(&targets[1]);
    stage.world.settle();
    stage.frame(&targets[2]);
    stage.world.run_until("its target's time", |world| world.now() > targets[1].present);
    rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
    lights(&mut stage, &targets);
    let margin = stage.world.client(stage.client).data.pacing_events.iter().find_map(|paced| match paced {
        PacingEvent::Presented { id, margin, .. } if *id == targets[1].id => Some(*margin),
        _ => None,
    });
    assert!(margin.is_some_and(|margin| margin < 0), "the frame was late: {margin:?}");
    all_ended_once(&mut stage, 1..=3);
    wait_for_releases(&mut stage, 1..=2);
}

#[test]
fn frames_two_refreshes_late_are_discarded_for_the_newest_due_frame() {
    let mut stage = PacedWindow::new(3);
    let targets = stage.targets(3);
    let over = targets[2].present + targets[2].interval;
    stage.world.run_until("two refreshes more", |world| world.now() > over);
    targets.iter().for_each(|target| stage.frame(target));
    let fates: Vec<_> = targets.iter().map(|target| stage.wait_for_fate(target).err()).collect();
    assert_eq!(fates, [Some(DiscardReason::Newer), Some(DiscardReason::Newer), None]);
    all_ended_once(&mut stage, 1..=3);
    wait_for_releases(&mut stage, 1..=2);
}

#[test]
fn targets_sent_after_a_late_frame_are_later_than_the_late_frames() {
    let mut stage = PacedWindow::new(3);
    let targets = stage.targets(2);
    stage.world.run_until("the first target's time", |world| world.now() > targets[0].present);
    targets.iter().for_each(|target| stage.frame(target));
    let next = stage.targets(1)[0];
    let shown = lights(&mut stage, &targets);
    assert!(next.present > targets[1].present, "{shown:?} {next:?}");
    stage.frame(&next);
    assert!(stage.wait_for_fate(&next).expect("the frame was discarded") > shown[shown.len() - 1]);
    all_ended_once(&mut stage, 1..=3);
}

#[test]
fn latest_ready_shows_the_newest_frame_before_its_time() {
    let mut stage = PacedWindow::new(6);
    stage.pacing.set_options(Wish::LatestReady);
    stage.surface().commit();
    stage.world.settle();
    let targets = stage.targets(6);
    targets.iter().for_each(|target| stage.frame(target));
    let shown = stage.wait_for_fate(&targets[5]).unwrap();
    assert!(shown < targets[5].present, "shown at {shown}, drawn for {}", targets[5].present);
    all_ended_once(&mut stage, 1..=6);
}

#[test]
fn a_frame_for_a_revoked_target_is_shown_at_its_time_or_later() {
    let mut stage = PacedWindow::new(4);
    let targets = stage.targets(4);
    cancel_from(&stage.pacing, targets[0].id);
    stage.world.settle();
    assert_eq!(revocations(&mut stage, RevokeReason::Cancelled), 1);
    stage.frame(&targets[3]);
    let shown = stage.wait_for_fate(&targets[3]).unwrap();
    assert!(shown + Span::from_millis(1) >= targets[3].present);
    // All four requests are answered again.
    let client = stage.client;
    stage.world.run_until("new targets", |world| world.client(client).targets().len() == 8);
}

#[test]
fn hidden_window_discards_frames_and_gets_targets_slowly() {
    let mut stage = PacedWindow::new(3);
    let cover = cover(&mut stage);
    let client = stage.client;
    stage.world.run_until("hidden", |world| world.client(client).effective().is_some_and(|e| e.2 == Reason::Hidden));
    for _ in 0..2 {
        let target = stage.targets(1)[0];
        stage.frame(&target);
        assert_eq!(stage.wait_for_fate(&target), Err(DiscardReason::Unseen));
    }
    cover.surface.attach(None, 0, 0);
    cover.surface.commit();
    stage.world.run_until("seen", |world| world.client(client).effective().is_some_and(|e| e.0 == Pacing::Ahead));
    let targets = stage.targets(3);
    targets.iter().for_each(|target| stage.frame(target));
    assert!(stage.wait_for_fate(&targets[2]).is_ok());
}

#[test]
fn frames_end_without_an_output_and_continue_on_a_new_output() {
    let mut stage = PacedWindow::new(3);
    let targets = stage.targets(3);
    targets.iter().for_each(|target| stage.frame(target));
    stage.world.settle();
    stage.world.unplug("TEST-1");
    all_ended_once(&mut stage, 1..=3);
    let target = stage.targets(1)[0];
    stage.frame(&target);
    assert_eq!(stage.wait_for_fate(&target), Err(DiscardReason::Unseen));
    stage.world.plug_in("TEST-2", 60_000);
    let client = stage.client;
    stage.world.run_until("seen", |world| world.client(client).effective().is_some_and(|e| e.0 == Pacing::Ahead));
    let targets = stage.targets(3);
    targets.iter().for_each(|target| stage.frame(target));
    assert!(stage.wait_for_fate(&targets[2]).is_ok());
}

#[test]
fn unplugging_an_output_reissues_targets_on_another() {
    let mut stage = PacedWindow::new(6);
    stage.world.plug_in("TEST-2", 30_000);
    stage.world.run_until_idle();
    let targets = stage.targets(6);
    targets[..3].iter().for_each(|target| stage.frame(target));
    stage.world.settle();
    stage.world.unplug("TEST-1");
    let client = stage.client;
    stage.world.run_until("new targets", |world| world.client(client).targets().len() >= 9);
    assert!(revocations(&mut stage, RevokeReason::Output) >= 1);
    let fresh = stage.world.client(client).targets().split_off(6);
    fresh.iter().for_each(|target| stage.frame(target));
    let last = *fresh.last().unwrap();
    assert!(stage.wait_for_fate(&last).is_ok());
    assert_eq!(stage.world.client(client).targets().last().unwrap().interval.as_nanos() / 1_000_000, 33);
    all_ended_once(&mut stage, 1..=3);
}

#[test]
fn refresh_rate_change_reissues_targets() {
    let mut stage = PacedWindow::new(6);
    let targets = stage.targets(6);
    targets[..3].iter().for_each(|target| stage.frame(target));
    stage.world.settle();
    stage.world.set_refresh("TEST-1", 120_000);
    let client = stage.client;
    stage.world.run_until("new targets", |world| world.client(client).targets().len() >= 9);
    assert!(revocations(&mut stage, RevokeReason::Output) >= 1);
    let fresh = stage.world.client(client).targets().split_off(6);
    assert_eq!(fresh[0].interval.as_nanos() / 1_000_000, 8);
    fresh.iter().for_each(|target| stage.frame(target));
    assert!(stage.wait_for_fate(fresh.last().unwrap()).is_ok());
    all_ended_once(&mut stage, 1..=3);
}

#[test]
fn cancel_keeps_the_frame_that_acknowledges_a_configure_and_all_before_it() {
    let mut stage = PacedWindow::new(6);
    let targets = stage.targets(6);
    stage.frame(&targets[0]);
    stage.frame(&targets[1]);
    stage.window.toplevel.set_maximized();
    stage.world.settle();
    stage.world.client(stage.client).ack_newest_configure();
    targets[2..].iter().for_each(|target| stage.frame(target));
    cancel_from(&stage.pacing, targets[1].id);
    stage.world.settle();
    let client = stage.client;
    assert_eq!(stage.world.client(client).data.pacing_events.last(), Some(&PacingEvent::Cancelled(targets[3].id)));
    assert!(
        targets[3..]
            .iter()
            .all(|target| { stage.world.client(client).fate(target.id) == Some(Err(DiscardReason::Cancelled)) })
    );
    assert!(stage.wait_for_fate(&targets[2]).is_ok());
    stage.world.run_until_idle();
    assert_eq!(stage.world.client(client).fates().len(), 6);
    stage.world.run_until("callbacks", |world| {
        world.client(client).has_received(ContentEvent::Callback(targets[5].id as u32))
    });
}

#[test]
fn buffer_scale_of_a_cancelled_frame_does_not_apply_to_another() {
    let mut stage = PacedWindow::new(6);
    let targets = stage.targets(3);
    stage.frame(&targets[0]);
    stage.surface().set_buffer_scale(2);
    stage.frame(&targets[1]);
    cancel_from(&stage.pacing, targets[1].id);
    assert!(stage.wait_for_fate(&targets[0]).is_ok());
    let client = stage.client;
    stage.world.run_until("the callback", |world| {
        world.client(client).has_received(ContentEvent::Callback(targets[1].id as u32))
    });
    stage.world.run_until_idle();
    assert_eq!(stage.world.window("a").rect().size, SIZE.into());
    assert_eq!(stage.pixel(), targets[0].id as u32);
}

#[test]
fn synchronised_subsurface_is_shown_and_reported_with_its_parent() {
    let mut stage = PacedWindow::new(3);
    let parent = stage.surface();
    let (child, _subsurface) = stage.world.client(stage.client).subsurface(&parent);
    let pacing = stage.world.client(stage.client).pacing(&child);
    // The events of both objects are in one list, so only the child requests targets.
    pacing.request_target();
    let client = stage.client;
    stage.world.run_until("a target", |world| world.client(client).targets().len() == 1);
    let target = stage.world.client(client).targets()[0];
    bind(&pacing, target.id);
    stage.world.client(client).draw(&child, 50, (10, 10), GREEN);
    child.commit();
    stage.world.settle();
    cancel_from(&pacing, target.id);
    stage.world.settle();
    assert_eq!(
        stage.world.client(client).data.pacing_events.last(),
        Some(&PacingEvent::Cancelled(target.id + 1)),
        "it stays"
    );
    stage.draw(51, BLUE);
    parent.commit();
    stage.wait_for_feedback(50);
    assert!(stage.wait_for_fate(&target).is_ok());
}

#[test]
fn a_desynchronised_child_has_refreshes_of_its_own() {
    let mut stage = PacedWindow::new(3);
    let parent = stage.surface();
    let (child, subsurface) = stage.world.client(stage.client).subsurface(&parent);
    subsurface.set_desync();
    stage.draw(60, BLUE);
    parent.commit();
    stage.wait_for_feedback(60);
    let pacing = stage.world.client(stage.client).pacing(&child);
    pacing.set_ahead_limit(3);
    child.commit();
    let client = stage.client;
    (0..3).for_each(|_| pacing.request_target());
    stage.world.run_until("targets", |world| world.client(client).targets().len() == 3);
    let targets = stage.world.client(client).targets();
    for target in &targets {
        bind(&pacing, target.id);
        stage.world.client(client).draw(&child, target.id as u32, (10, 10), target.id as u32);
        child.commit();
    }
    all_ended_once(&mut stage, 1..=3);
    assert!(stage.world.client(client).fate(3).unwrap().is_ok());
}

#[test]
fn destroyed_surface_or_dead_client_releases_all_frames() {
    for dies in [false, true] {
        let mut stage = PacedWindow::new(6);
        let targets = stage.targets(6);
        targets.iter().for_each(|target| stage.frame(target));
        cancel_from(&stage.pacing, targets[5].id);
        stage.world.settle();
        let client = stage.client;
        if dies {
            stage.world.kill(client);
            let (other, window) = stage.world.open("b", 50, 50);
            stage.world.client(other).draw(&window.surface, 70, (50, 50), GREEN);
            window.surface.commit();
            stage.world.run_until("light", |world| world.client(other).light(70).is_some());
            continue;
        }
        stage.window.toplevel.destroy();
        stage.window.xdg.destroy();
        stage.surface().destroy();
        wait_for_releases(&mut stage, 1..=6);
        // The feedback of a frame in flight comes when it is shown, which may be after the release of its buffer.
        (1..=6).for_each(|id| stage.wait_for_feedback(id));
        stage.world.settle();
        assert!(
            (1..=6)
                .all(|id| stage.world.client(client).count_content_events(|heard| heard.is_end_of_feedback(id)) == 1)
        );
    }
}

#[test]
fn frames_keep_their_target_after_the_pacing_object_is_destroyed() {
    let mut stage = PacedWindow::new(3);
    let targets = stage.targets(3);
    targets.iter().for_each(|target| stage.frame(target));
    stage.pacing.destroy();
    stage.wait_for_feedback(3);
    let shown = stage.world.client(stage.client).light(3).map(|(at, _)| at);
    assert!(shown.is_none_or(|at| at + Span::from_millis(1) >= targets[2].present));
    wait_for_releases(&mut stage, 1..=2);
}

#[test]
fn frames_may_wait_before_the_window_is_mapped() {
    let mut world = crate::fixture::TestWorld::rendered();
    let client = world.connect();
    let window = world.client(client).toplevel("a");
    let pacing = world.client(client).pacing(&window.surface);
    pacing.set_pacing(Pacing::Ahead);
    pacing.set_ahead_limit(4);
    world.settle();
    world.client(client).ack_newest_configure();
    window.surface.commit();
    let mut stage = PacedWindow { world, client, window, pacing };
    let targets = stage.targets(4);
    targets.iter().for_each(|target| stage.frame(target));
    all_ended_once(&mut stage, 1..=4);
    assert!(stage.wait_for_fate(&targets[3]).is_ok());
}
