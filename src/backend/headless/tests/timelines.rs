//! Timelines in virtual time: 10 ms a refresh, 1 ms of submit lead. The indented lines are the display's events.

use expect_test::{Expect, expect};

use super::stage::{MODE, TimelineStage, ms, options};
use crate::backend::headless::options::OutputOptions;
use crate::backend::{FrameId, VideoMode};
use upbeat_timing::time::Span;

fn check(stage: &TimelineStage, expected: Expect) {
    expected.assert_eq(&stage.log);
}

#[test]
fn a_frame_is_shown_by_the_first_vblank_it_was_complete_for() {
    let mut stage = TimelineStage::new(options());
    stage.submit(3.0, 1, false).submit(12.0, 2, false).submit(29.0, 3, false).submit(39.001, 4, false).until(60.0);
    check(
        &stage,
        expect![[r#"
            3.000   submit 1
                      wake at 10.000000ms
            10.000    -> presented 1 at 10.000000ms, refresh 1
                      nothing to wake for
            12.000  submit 2
                      wake at 20.000000ms
            20.000    -> presented 2 at 20.000000ms, refresh 2
                      nothing to wake for
            29.000  submit 3
                      wake at 30.000000ms
            30.000    -> presented 3 at 30.000000ms, refresh 3
                      nothing to wake for
            39.001  submit 4
                      wake at 50.000000ms
            50.000    -> presented 4 at 50.000000ms, refresh 5
                      nothing to wake for
        "#]],
    );
}

#[test]
fn a_second_flip_is_refused_while_one_waits() {
    let mut stage = TimelineStage::new(options());
    stage.submit(3.0, 1, false).submit(4.0, 2, false).submit(10.0, 3, false).until(30.0);
    check(
        &stage,
        expect![[r#"
            3.000   submit 1
                      wake at 10.000000ms
            4.000   submit 2: a flip is pending already
            10.000    -> presented 1 at 10.000000ms, refresh 1
                      nothing to wake for
            10.000  submit 3
                      wake at 20.000000ms
            20.000    -> presented 3 at 20.000000ms, refresh 2
                      nothing to wake for
        "#]],
    );
}

#[test]
fn pending_fence_waits_for_its_vblank_without_a_wakeup() {
    let mut stage = TimelineStage::new(options());
    stage.submit(3.0, 1, true).until(25.0).signal(25.0).until(40.0);
    check(
        &stage,
        expect![[r#"
            3.000   submit 1 with a pending fence
            25.000  fence signals
                      wake at 30.000000ms
            30.000    -> presented 1 at 30.000000ms, refresh 3
                      nothing to wake for
        "#]],
    );
}

#[test]
fn a_loop_that_comes_late_changes_nothing() {
    let mut stage = TimelineStage::new(options());
    // The fence signalled in time while the loop slept; the next frame is submitted as soon as it wakes.
    stage.submit(3.0, 1, false).sleep_until(37.0).submit(37.0, 2, false).until(60.0);
    check(
        &stage,
        expect![[r#"
            3.000   submit 1
                      wake at 10.000000ms
            37.000    -> presented 1 at 10.000000ms, refresh 1
                      nothing to wake for
            37.000  submit 2
                      wake at 40.000000ms
            40.000    -> presented 2 at 40.000000ms, refresh 4
                      nothing to wake for
        "#]],
    );
}

#[test]
fn a_variable_panel_scans_a_late_frame_out_at_once() {
    let range = Some((Span::from_millis(10), Span::from_millis(25)));
    let mut stage = TimelineStage::new(OutputOptions { variable_refresh: range, ..options() });
    stage.submit(3.0, 1, false).submit(12.0, 2, false).submit(33.5, 3, false).submit(72.0, 4, false).until(90.0);
    check(
        &stage,
        expect![[r#"
            3.000   submit 1
                      wake at 10.000000ms
            10.000    -> presented 1 at 10.000000ms, refresh 1
                      nothing to wake for
            12.000  submit 2
                      wake at 20.000000ms
            20.000    -> presented 2 at 20.000000ms, refresh 2
                      nothing to wake for
            33.500  submit 3
                      wake at 34.500000ms
            34.500    -> presented 3 at 34.500000ms, refresh 3
                      nothing to wake for
            72.000  submit 4
                      wake at 73.000000ms
            73.000    -> presented 4 at 73.000000ms, refresh 5
                      nothing to wake for
        "#]],
    );
}

#[test]
fn a_frame_can_be_withdrawn_until_its_deadline() {
    let mut stage = TimelineStage::new(options());
    stage.submit(2.0, 1, false).act(8.9, "withdraw 1", |display, now| {
        assert_eq!(display.supersede(FrameId(1), now), None);
    });
    stage.submit(9.0, 2, false).act(9.5, "withdraw 2", |display, now| {
        assert_eq!(display.supersede(FrameId(2), now), Some(FrameId(2)), "it is on its way");
    });
    stage.until(10.0).submit(11.0, 3, false).act(12.0, "withdraw 4", |display, now| {
        assert_eq!(display.supersede(FrameId(4), now), Some(FrameId(3)), "it is older");
    });
    check(
        stage.until(30.0),
        expect![[r#"
            2.000   submit 1
                      wake at 10.000000ms
            8.900   withdraw 1
            8.900     -> lost 1: Superseded
                      nothing to wake for
            9.000   submit 2
                      wake at 10.000000ms
            9.500   withdraw 2
            10.000    -> presented 2 at 10.000000ms, refresh 1
                      nothing to wake for
            11.000  submit 3
                      wake at 20.000000ms
            12.000  withdraw 4
            20.000    -> presented 3 at 20.000000ms, refresh 2
                      nothing to wake for
        "#]],
    );
}

#[test]
fn power_unplug_and_mode_switch_report_waiting_frames_as_lost() {
    let mut stage = TimelineStage::new(options());
    stage.submit(2.0, 1, false).act(4.0, "off", |display, now| display.set_power(false, now)).until(22.0);
    stage.act(22.0, "on", |display, now| display.set_power(true, now)).submit(23.0, 2, false);
    stage.act(33.0, "200 Hz", |display, now| {
        display.set_mode(VideoMode { refresh: 200_000, ..MODE }, now).expect("a valid mode");
    });
    stage.submit(34.0, 3, false).submit(38.5, 4, false).act(40.0, "a taller mode", |display, now| {
        display.set_mode(VideoMode { height: 3, ..MODE }, now).expect("a valid mode");
        assert!(display.last_refresh(now).is_some_and(|last| last.time == ms(40.0)));
    });
    stage.submit(41.0, 5, false).act(42.0, "unplug", |display, now| display.unplug(now)).until(90.0);
    check(
        &stage,
        expect![[r#"
            2.000   submit 1
                      wake at 10.000000ms
            4.000   off
            4.000     -> lost 1: Gone
                      nothing to wake for
            22.000  on
            23.000  submit 2
                      wake at 30.000000ms
            30.000    -> presented 2 at 30.000000ms, refresh 3
                      nothing to wake for
            33.000  200 Hz
            33.000    -> changed
            34.000  submit 3
                      wake at 38.000000ms
            38.000    -> presented 3 at 38.000000ms, refresh 5
                      nothing to wake for
            38.500  submit 4
                      wake at 43.000000ms
            40.000  a taller mode
            40.000    -> lost 4: ModeChange
            40.000    -> changed
                      nothing to wake for
            41.000  submit 5
                      wake at 50.000000ms
            42.000  unplug
            42.000    -> lost 5: Gone
            42.000    -> gone
                      nothing to wake for
        "#]],
    );
}

/// Submits frames that wait in the display, each for the refresh at a multiple of 10 ms.
fn queue(stage: &mut TimelineStage, millis: f64, frames: &[(u64, f64)]) {
    stage.until(millis);
    for (frame, present) in frames {
        stage.submit_for(millis, *frame, *present);
    }
}

#[test]
fn queued_frames_flip_one_per_refresh_however_late_the_dispatch() {
    let mut stage = TimelineStage::new(OutputOptions { queue: 2, buffers: 5, ..options() });
    queue(&mut stage, 3.0, &[(1, 10.0), (2, 20.0), (3, 30.0), (4, 40.0)]);
    stage.sleep_until(55.0);
    check(
        &stage,
        expect![[r#"
        3.000   submit 1 for 10
                  wake at 10.000000ms
        3.000   submit 2 for 20
        3.000   submit 3 for 30
        3.000   submit 4 for 40: a flip is pending already
        55.000    -> presented 1 at 10.000000ms, refresh 1
        55.000    -> presented 2 at 20.000000ms, refresh 2
        55.000    -> presented 3 at 30.000000ms, refresh 3
                  nothing to wake for
    "#]],
    );
}

#[test]
fn queued_frames_keep_their_refresh_and_can_be_withdrawn() {
    let mut stage = TimelineStage::new(OutputOptions { queue: 2, buffers: 5, can_withdraw: false, ..options() });
    queue(&mut stage, 3.0, &[(1, 30.0), (2, 40.0), (3, 50.0)]);
    stage.act(35.0, "withdraw from 3", |display, now| assert_eq!(display.supersede(FrameId(3), now), Some(FrameId(2))));
    stage.until(70.0);
    check(
        &stage,
        expect![[r#"
        3.000   submit 1 for 30
                  wake at 30.000000ms
        3.000   submit 2 for 40
        3.000   submit 3 for 50
        30.000    -> presented 1 at 30.000000ms, refresh 3
                  wake at 40.000000ms
        35.000  withdraw from 3
        35.000    -> lost 3: Superseded
        40.000    -> presented 2 at 40.000000ms, refresh 4
                  nothing to wake for
    "#]],
    );
}

#[test]
fn queued_frame_can_be_withdrawn_until_its_deadline() {
    let mut stage = TimelineStage::new(OutputOptions { queue: 2, buffers: 5, can_withdraw: false, ..options() });
    queue(&mut stage, 3.0, &[(1, 30.0), (2, 40.0), (3, 50.0)]);
    stage.act(25.0, "withdraw from 1", |display, now| assert_eq!(display.supersede(FrameId(1), now), Some(FrameId(1))));
    queue(&mut stage, 26.0, &[(4, 40.0), (5, 50.0)]);
    stage.act(35.0, "withdraw from 4", |display, now| assert_eq!(display.supersede(FrameId(4), now), None));
    stage.until(70.0);
    check(
        &stage,
        expect![[r#"
        3.000   submit 1 for 30
                  wake at 30.000000ms
        3.000   submit 2 for 40
        3.000   submit 3 for 50
        25.000  withdraw from 1
        25.000    -> lost 3: Superseded
        25.000    -> lost 2: Superseded
        26.000  submit 4 for 40
        26.000  submit 5 for 50
        30.000    -> presented 1 at 30.000000ms, refresh 3
                  wake at 40.000000ms
        35.000  withdraw from 4
        35.000    -> lost 5: Superseded
        35.000    -> lost 4: Superseded
                  nothing to wake for
    "#]],
    );
}

#[test]
fn frame_behind_a_late_frame_keeps_its_refresh_or_is_dropped() {
    let mut stage = TimelineStage::new(OutputOptions { queue: 2, buffers: 5, ..options() });
    // The first frame is too late for its refresh.
    queue(&mut stage, 9.95, &[(1, 10.0), (2, 20.0), (3, 30.0)]);
    stage.until(70.0);
    // The last frame is not dropped, since none waits behind it.
    queue(&mut stage, 79.95, &[(4, 80.0), (5, 90.0)]);
    stage.until(120.0);
    check(
        &stage,
        expect![[r#"
        9.950   submit 1 for 10
                  wake at 20.000000ms
        9.950   submit 2 for 20
        9.950   submit 3 for 30
        20.000    -> presented 1 at 20.000000ms, refresh 2
        20.000    -> lost 2: Superseded
                  wake at 30.000000ms
        30.000    -> presented 3 at 30.000000ms, refresh 3
                  nothing to wake for
        79.950  submit 4 for 80
                  wake at 90.000000ms
        79.950  submit 5 for 90
        90.000    -> presented 4 at 90.000000ms, refresh 9
                  wake at 100.000000ms
        100.000   -> presented 5 at 100.000000ms, refresh 10
                  nothing to wake for
    "#]],
    );
}

#[test]
fn a_display_that_goes_dark_loses_all_that_waits() {
    let mut stage = TimelineStage::new(OutputOptions { queue: 2, buffers: 5, ..options() });
    queue(&mut stage, 3.0, &[(1, 10.0), (2, 20.0), (3, 30.0)]);
    stage.act(12.0, "off", |display, now| display.set_power(false, now));
    stage.until(40.0);
    check(
        &stage,
        expect![[r#"
        3.000   submit 1 for 10
                  wake at 10.000000ms
        3.000   submit 2 for 20
        3.000   submit 3 for 30
        10.000    -> presented 1 at 10.000000ms, refresh 1
                  wake at 20.000000ms
        12.000  off
        12.000    -> lost 2: Gone
        12.000    -> lost 3: Gone
                  nothing to wake for
    "#]],
    );
}
