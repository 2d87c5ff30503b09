//! Writes at random heights, costs and phases keep the beam's time: none is torn, and no row shows older content after
//! newer. A write that is made late on purpose is found torn.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use upbeat::backend::{FrameId, FramePlan, PixelRect, PlanChange};
use upbeat_timing::time::{Instant, Span};

use super::{INK, InPlaceSession, PAPER, WARM_UP, WINDOW};
use crate::fixture::OUTPUT;
use crate::fixture::seeds::first_seed;
use crate::fixture::simulated::nothing;

/// Writes at each of several heights; `src/backend/headless/tests/beam.rs` makes ten thousand.
const HEIGHTS: usize = 8;
const WRITES: u64 = 40;
/// A height is left after this time, however few writes it had.
const PATIENCE: Span = Span::from_seconds(3);

/// A cost between 0.3 and 9 ms, mostly below 3 ms.
fn cost(frame: u32) -> Span {
    let mut rng = StdRng::seed_from_u64(u64::from(frame));
    let most = if rng.random_ratio(1, 8) { 9_000 } else { 3_000 };
    Span::from_micros(rng.random_range(300..most))
}

#[test]
fn writes_of_random_heights_costs_and_phases_are_never_torn() {
    let mut rng = StdRng::seed_from_u64(first_seed());
    let mut ink = InPlaceSession::new(280, true);
    ink.artist.cost = cost;
    ink.run(WARM_UP);
    let mut newest = 0;
    for _ in 0..HEIGHTS {
        ink.artist.corner.1 = rng.random_range(0..OUTPUT.1 - WINDOW.1);
        ink.world.move_window("ink", ink.artist.corner);
        ink.run(Span::from_nanos(rng.random_range(50_000_000..80_000_000)));
        let (before, begun) = (ink.counts().lit, ink.world.now());
        while ink.counts().lit < before + WRITES {
            assert!(ink.world.now() - begun < PATIENCE, "{:?} at {}", ink.counts(), ink.artist.corner.1);
            // Asserts that each row has whole content, never older than before.
            let samples = ink.samples(Span::from_millis(100));
            let (first, last) = (samples.first().map(|(_, number)| *number), samples.last().map(|(_, number)| *number));
            assert!(first >= Some(newest), "{newest} was seen before {first:?}");
            newest = last.unwrap_or(newest);
        }
    }
    println!("{:?}", ink.counts());
    assert_eq!(ink.counts().torn, 0);
}

#[test]
fn write_that_is_made_late_on_purpose_is_found_torn() {
    let mut ink = InPlaceSession::new(280, true);
    ink.run(WARM_UP);
    let world = &mut ink.world;
    world.run_for(Span::from_millis(100), &mut nothing);
    let log = ink.probe();
    let (x, y, width, height) = INK;
    let rect = PixelRect { x: ink.artist.corner.0 + x, y: ink.artist.corner.1 + y, width, height };
    let world = &mut ink.world;
    let vsync = world.output(0).conductor().output().vsync();
    let present = vsync.present(vsync.at_or_after(world.now()));
    let scan = world.output(0).display().capabilities().scan.unwrap();
    // The beam is in the middle of the rectangle.
    let at: Instant = scan.line_start(present, rect.y + rect.height / 2);
    let wait = at - world.now();
    world.run_for(wait, &mut nothing);
    let pixels = vec![PAPER + 1; (width * height) as usize];
    let plan = FramePlan::plain(FrameId(u64::MAX), PlanChange::FrontRectangle { rect, pixels });
    let output = world.state.outputs.states_mut().next().unwrap();
    output.display_mut().submit(plan).map_err(|(error, _)| error).unwrap();
    world.run_for(Span::from_millis(50), &mut nothing);
    assert_eq!(ink.counts().torn, 1);
    let is_mixed = |pixels: &[u32]| pixels.windows(2).any(|pair| pair[0] != pair[1]);
    assert!(std::iter::from_fn(|| log.pop()).any(|sample| is_mixed(&sample.pixels)), "the pixels show it, too");
}
