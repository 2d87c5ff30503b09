//! With a variable refresh rate the next refresh is now, or at a requested time: never in the past, and not repeatedly.

use upbeat::backend::headless::OutputOptions;
use upbeat::render::Renderer;
use upbeat_timing::record::ClientFrameRecord;

use super::*;
use crate::fixture::KEY_O;
use crate::fixture::content::{ContentEvent, set_stamp};
use crate::fixture::pacing::{Pacing, PacingTarget, bind};

/// Shortest and longest refresh interval of the panel.
const SHORTEST: Span = Span::from_millihertz(144_000);
const LONGEST: Span = Span::from_millihertz(48_000);
const REST: Span = Span::from_seconds(20);
/// Interval between two stamped updates, and how long before its stamp each is committed.
const STAMPS: Span = Span::from_millis(100);
const AHEAD: Span = Span::from_millis(250);
/// Duration, and number of updates in it.
const WHILE: Span = Span::from_seconds(10);
const UPDATES: u64 = 100;

fn variable() -> TestWorld {
    let options = OutputOptions { variable_refresh: Some((SHORTEST, LONGEST)), ..OutputOptions::default() };
    TestWorld::simulated_on(&[(144_000, options)], Renderer::pixman().unwrap())
}

#[test]
fn animation_after_an_idle_time_begins_at_once() {
    let mut world = variable();
    let style = MotionStyle::Easing { duration: GLIDE, curve: CubicBezier::LINEAR };
    world.state.shell.set_animations(AnimationStyles { overview: Some(style), ..AnimationStyles::default() });
    IdleWindow::open(&mut world, "still");
    world.run_until_idle();
    for rest in [REST, Span::from_millis(30), Span::from_seconds(600)] {
        world.run_for(rest, &mut nothing);
        let asked = world.now();
        world.chord(&[KEY_LEFT_SUPER], KEY_O);
        world.run_for(GLIDE * 2, &mut nothing);
        let records: Vec<_> = world.output(0).records().iter().filter(|record| record.latched >= asked).collect();
        assert!(records.len() > 80, "only {} frames of motion", records.len());
        for (place, record) in records.iter().enumerate() {
            assert!(record.present >= record.latched, "for a time that was over: {record:#?}");
            // While idle, the panel repeated its picture at unknown times, so it may be busy with a repetition now.
            let allowed = if place == 0 { SHORTEST } else { SHORTEST / 4 };
            let off = record.presented.unwrap() - record.present;
            assert!(off.abs() <= allowed, "shown {off} after the time that it was made for: {record:#?}");
        }
        let first = records[0].presented.unwrap() - asked;
        assert!(first <= SHORTEST * 2, "motion began after {first}");
        assert!(
            records.is_sorted_by(|before, after| after.present - before.present >= SHORTEST - Span::from_micros(10))
        );
    }
}

#[test]
fn change_after_an_idle_time_is_presented_at_once() {
    let mut world = variable();
    let mut still = IdleWindow::open(&mut world, "still");
    for rest in [REST, Span::from_millis(7), Span::from_millis(30), Span::from_seconds(600)] {
        world.run_for(rest, &mut nothing);
        still.commit(&mut world);
        still.assert_update_within_two_refreshes(&mut world, 0, &format!("after {rest}"), &mut nothing);
    }
}

#[test]
fn stamped_updates_are_latched_when_they_are_due_and_not_before() {
    let mut world = variable();
    let mut still = IdleWindow::open(&mut world, "still");
    world.run_until_idle();
    world.run_for(REST, &mut nothing);
    let timer = world.client(still.client).timer(&still.window.surface);
    let (begun, latches, turns) = (world.now(), world.output(0).latches(), world.turns());
    let (mut next, mut stamps) = (begun, Vec::new());
    let mut stamped = |world: &mut TestWorld| {
        if world.now() >= next && stamps.len() < UPDATES as usize {
            let stamp = next + AHEAD;
            set_stamp(&timer, stamp);
            still.commit(world);
            stamps.push((still.number, stamp));
            next += STAMPS;
        }
        Some(next).filter(|_| stamps.len() < UPDATES as usize)
    };
    world.run_for(WHILE + AHEAD * 2, &mut stamped);
    for (number, stamp) in stamps {
        let (light, _) = world.client(still.client).light(number).unwrap_or_else(|| panic!("{number} was not shown"));
        let off = light - stamp;
        // An update may be shown a little before its stamp.
        assert!(off > Span::from_millis(-1) && off <= SHORTEST * 2, "update {number} was shown {off} after its time");
    }
    let latched = world.output(0).latches() - latches;
    assert!(latched <= 3 * UPDATES, "{latched} latches for {UPDATES} updates");
    let turns = world.turns() - turns;
    assert!(turns <= 10 * UPDATES, "{turns} turns for {UPDATES} updates");
}

/// A client that requests callbacks without drawing gets them at the panel's shortest interval, whether it asks for
/// presentation feedback, which needs a latch, or not.
#[test]
fn callbacks_without_content_come_at_the_shortest_interval() {
    for (has_feedback, pause) in [(true, 0), (false, 0), (false, 2)] {
        let pause = Span::from_millis(pause);
        let mut world = variable();
        let (client, window) = world.open_filled("asks", SIZE, RED);
        world.run_until_idle();
        world.client(client).data.content_events.clear();
        let ask = |world: &mut TestWorld| {
            let client = world.client(client);
            match has_feedback {
                true => client.request_feedback(&window.surface, 3),
                false => drop(window.surface.frame(&client.handle(), 3)),
            }
            window.surface.commit();
        };
        ask(&mut world);
        let (mut called, mut asks_at) = (vec![world.now()], None);
        world.run_for(Span::from_seconds(1), &mut |world| {
            let now = world.now();
            if std::mem::take(&mut world.client(client).data.content_events).contains(&ContentEvent::Callback(3)) {
                called.push(now);
                asks_at = Some(now + pause);
            }
            if asks_at.take_if(|at| *at <= now).is_some() {
                ask(world);
            }
            asks_at
        });
        let gaps = || called[1..].windows(2).map(|pair| pair[1] - pair[0]);
        let (shortest, longest) = (gaps().min().expect("callbacks"), gaps().max().expect("callbacks"));
        assert!(longest <= SHORTEST * 2 && called.len() > 70, "{} callbacks, {longest} apart at most", called.len());
        assert!(shortest >= SHORTEST - Span::from_micros(50), "{shortest} between two callbacks");
    }
}

/// A pseudorandom number from 0 to 1.
fn random(number: u32) -> f64 {
    let mixed = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24)
}

/// During interaction frames need not wait for the panel, however much their costs differ, within the panel's range.
#[test]
fn client_with_variable_refresh_waits_only_for_its_own_frame_cost() {
    for (least, most) in [(2.0, 2.0), (1.0, 9.0), (4.0, 14.0), (8.0, 20.0), (17.0, 20.5)] {
        let cost = |number| Span::from_millis_f64(least + (most - least) * random(number));
        let records = vrr_cadence::frame_records(cost, true);
        let own = |record: &ClientFrameRecord| Some(record.committed? - record.callback_sent?);
        let waited = |record: &ClientFrameRecord| Some(record.callback_to_light()? - own(record)?);
        let mut waits: Vec<Span> = records.iter().filter_map(waited).collect();
        waits.sort();
        assert!(waits.len() > 40, "{least} to {most} ms: {} frames", waits.len());
        let longest = waits[(waits.len() - 1) * 99 / 100];
        assert!(longest <= vrr_cadence::TO_LIGHT, "{least} to {most} ms: {longest} on top of its own cost");
    }
}

/// Frame cost of a client that draws ahead, the number of frames it draws ahead, and the allowed error of their light.
const DRAWS: Span = Span::from_millis(11);
const LIMIT: u32 = 3;
const EXACT: Span = Span::from_micros(500);

/// Queued frames are shown at their times and at their client's rate, whatever else changes on the output.
#[test]
fn queued_frames_keep_their_rate_beside_other_damage() {
    let mut world = variable();
    let (client, window) = world.open_filled("ahead", SIZE, RED);
    let mut still = IdleWindow::open(&mut world, "still");
    let pacing = world.client(client).pacing(&window.surface);
    pacing.set_pacing(Pacing::Ahead);
    pacing.set_ahead_limit(LIMIT);
    (0..LIMIT).for_each(|_| pacing.request_target());
    window.surface.commit();
    let (mut taken, mut drawing, mut shown) = (0, None::<(PacingTarget, Instant)>, Vec::new());
    let (begun, mut next) = (world.now(), world.now());
    world.run_for(WHILE / 2, &mut |world| {
        let now = world.now();
        if let Some((target, _)) = drawing.take_if(|(_, done)| *done <= now) {
            bind(&pacing, target.id);
            world.client(client).draw(&window.surface, 1_000 + target.id as u32, SIZE, BLUE);
            window.surface.commit();
            pacing.request_target();
            shown.push((target, now));
        }
        if drawing.is_none()
            && let Some(target) = world.client(client).targets().get(taken).copied()
        {
            (drawing, taken) = (Some((target, now + DRAWS)), taken + 1);
        }
        if now >= next && now > begun + WHILE / 10 {
            next = now + Span::from_micros(4_300);
            still.commit(world);
        }
        drawing.map(|(_, done)| done).into_iter().chain(Some(next)).min()
    });
    let late: Vec<_> = shown.iter().filter(|(target, _)| target.present > begun + WHILE / 10 * 2).collect();
    assert!(late.len() > 200, "{} frames", late.len());
    for pair in late.windows(2).take(late.len() - 8) {
        let (before, (target, committed)) = (&pair[0].0, &pair[1]);
        let light = world.client(client).fate(target.id).expect("it is over").expect("it was shown");
        let off = light - target.present;
        assert!(off.abs() <= EXACT, "{off} off, committed {} before its time", target.present - *committed);
        assert!(target.present - before.present < DRAWS + SHORTEST / 4 * 2, "no rate that it could not keep");
    }
}
