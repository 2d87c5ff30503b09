//! A client that waits on a clock of its own between callback and commit, as a video player does, is never late. A
//! client that takes two refreshes now and then is late at those times.

use upbeat_timing::pacing::ClientClass;
use upbeat_timing::record::MissReason;

use super::*;

const CALLBACK: u32 = 3;
const LEARNED: Span = Span::from_seconds(3);
const WATCHED: Span = Span::from_seconds(5);

/// Result for the frames of a film.
struct FilmResult {
    frames: u64,
    drops: u64,
    misses: Vec<MissReason>,
    class: ClientClass,
}

/// Plays frames, each after the callback of the previous frame. `due` gives the commit time from the frame's number,
/// the previous commit time and the time of that callback.
fn play(due: impl Fn(u32, Instant, Instant) -> Instant) -> FilmResult {
    let mut world = TestWorld::simulated(&[60_000]);
    let (client, window) = world.open_filled("film", SIZE, RED);
    world.run_until_idle();
    world.client(client).data.content_events.clear();
    let (mut number, mut next, mut is_next) = (1, world.now(), true);
    let mut act = |world: &mut TestWorld| {
        let now = world.now();
        if std::mem::take(&mut world.client(client).data.content_events).contains(&ContentEvent::Callback(CALLBACK)) {
            (next, is_next) = (due(number, next, now), true);
        }
        if is_next && next <= now {
            (number, is_next) = (number + 1, false);
            let client = world.client(client);
            client.draw(&window.surface, number, SIZE, [RED, GREEN, BLUE][number as usize % 3]);
            window.surface.frame(&client.handle(), CALLBACK);
            window.surface.commit();
        }
        is_next.then_some(next)
    };
    world.run_for(LEARNED, &mut act);
    let counted = |world: &TestWorld| {
        let statistics = world.state.outputs.statistics();
        let (_, history) = statistics.iter().next().expect("it was shown");
        let cadence = history.statistics.cadence;
        (cadence.frames.total(), cadence.drops.total())
    };
    let (before, began) = (counted(&world), world.now());
    world.run_for(WATCHED, &mut act);
    let after = counted(&world);
    let output = world.output(0);
    let class =
        world.state.surfaces.iter().find_map(|entry| output.pacer(entry.client())).expect("it is paced").class();
    let recent = world.state.outputs.statistics().recent();
    let misses = recent.filter(|record| record.committed > Some(began)).filter_map(|record| record.miss).collect();
    FilmResult { frames: after.0 - before.0, drops: after.1 - before.1, misses, class }
}

#[test]
fn client_with_its_own_clock_is_never_late() {
    for rate in [24, 30] {
        let film = play(|_, before, _| before + Span::from_seconds(1) / rate);
        let pictures = rate as u64 * 5;
        assert_eq!(film.class, ClientClass::OwnClock, "{rate} a second");
        assert!(film.frames.abs_diff(pictures) <= 1, "{} of {pictures} pictures", film.frames);
        assert_eq!((film.drops, film.misses.first()), (0, None), "{rate} a second");
    }
}

#[test]
fn client_that_sometimes_takes_two_refreshes_is_late_then() {
    let late = play(|number, _, called| called + Span::from_millis(if number.is_multiple_of(4) { 33 } else { 5 }));
    assert_ne!(late.class, ClientClass::OwnClock);
    assert!(late.drops > 30, "{} drops", late.drops);
    assert!(late.misses.iter().any(|miss| matches!(miss, MissReason::ClientLate { .. })), "{:?}", late.misses.first());
}
