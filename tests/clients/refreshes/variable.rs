//! Where refreshes have no grid the next one is now, or when somebody wants it: never before now, and not again and again.

use upbeat::backend::headless::OutputOptions;
use upbeat::render::Renderer;

use super::*;
use crate::fixture::KEY_O;
use crate::fixture::content::set_stamp;

/// What the panel can do.
const SHORTEST: Span = Span::from_millihertz(144_000);
const LONGEST: Span = Span::from_millihertz(48_000);
const REST: Span = Span::from_seconds(20);
/// Between two stamped updates, and how far ahead they are committed.
const STAMPS: Span = Span::from_millis(100);
const AHEAD: Span = Span::from_millis(250);
/// How long it goes on, and how many there are meanwhile.
const WHILE: Span = Span::from_seconds(10);
const UPDATES: u64 = 100;

fn variable() -> World {
    let options = OutputOptions { variable_refresh: Some((SHORTEST, LONGEST)), ..OutputOptions::default() };
    World::simulated_on(&[(144_000, options)], Renderer::pixman().unwrap())
}

#[test]
fn motion_after_a_rest_begins_now() {
    let mut world = variable();
    let style = Style::Easing { duration: GLIDE, curve: CubicBezier::LINEAR };
    world.state.shell.set_animations(Animations { overview: Some(style), ..Animations::default() });
    Still::open(&mut world, "still");
    world.rest();
    for rest in [REST, Span::from_millis(30), Span::from_seconds(600)] {
        world.run_for(rest, &mut nothing);
        let asked = world.now();
        world.chord(&[KEY_LEFT_SUPER], KEY_O);
        world.run_for(GLIDE * 2, &mut nothing);
        let records: Vec<_> = world.output(0).records.iter().filter(|record| record.latched >= asked).collect();
        assert!(records.len() > 80, "only {} frames of motion", records.len());
        for (place, record) in records.iter().enumerate() {
            assert!(record.present >= record.latched, "for a time that was over: {record:#?}");
            // While nothing came the panel repeated its picture, nobody knows when, and may be busy with that.
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
fn what_changes_after_a_rest_is_seen_at_once() {
    let mut world = variable();
    let mut still = Still::open(&mut world, "still");
    for rest in [REST, Span::from_millis(7), Span::from_millis(30), Span::from_seconds(600)] {
        world.run_for(rest, &mut nothing);
        still.commit(&mut world);
        still.is_soon_seen(&mut world, 0, &format!("after {rest}"), &mut nothing);
    }
}

#[test]
fn stamped_updates_are_latched_when_they_are_due_and_not_before() {
    let mut world = variable();
    let mut still = Still::open(&mut world, "still");
    world.rest();
    world.run_for(REST, &mut nothing);
    let timer = world.client(still.client).timer(&still.window.surface);
    let (begun, latches, turns) = (world.now(), world.output(0).latches(), world.turns());
    let (mut next, mut stamps) = (begun, Vec::new());
    let mut stamped = |world: &mut World| {
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
        // A stamp may be met a little early.
        assert!(off > Span::from_millis(-1) && off <= SHORTEST * 2, "update {number} was shown {off} after its time");
    }
    let latched = world.output(0).latches() - latches;
    assert!(latched <= 3 * UPDATES, "{latched} latches for {UPDATES} updates");
    let turns = world.turns() - turns;
    assert!(turns <= 10 * UPDATES, "{turns} turns for {UPDATES} updates");
}
