//! A renderer that is lost: each output retries once a refresh at most, and shows the content when a renderer is back.

use upbeat::render::{Fault, Renderer};

use super::*;
use crate::fixture::gles;
use crate::fixture::simulated::name;

/// How long there is no renderer.
const GONE: Span = Span::from_seconds(10);

/// Checks that an output tried to latch at most once a refresh in the elapsed `time`.
#[track_caller]
fn tries_at_its_pace(world: &World, place: i32, latches: u64, time: Span) {
    let tries = world.output(place).latches() - latches;
    let refreshes = (time.as_nanos() / interval(world, place).as_nanos()) as u64;
    assert!(tries <= refreshes + 2, "{} tried {tries} times in {refreshes} refreshes", name(place));
}

#[test]
fn what_cannot_be_drawn_is_tried_once_a_refresh_and_shown_when_it_can() {
    let mut world = World::simulated(&[60_000, 144_000]);
    let (x, y) = middle(0);
    world.point(x, y);
    let mut still = Still::open(&mut world, "still");
    world.rest();
    let renderer = world.state.outputs.take_renderer();
    still.commit(&mut world);
    let (turns, latches) = (world.turns(), [0, 1].map(|place| world.output(place).latches()));
    let mut mouse = cursor(&world, 1, 1);
    world.run_for(GONE, &mut mouse);
    for (place, latches) in (0..).zip(latches) {
        tries_at_its_pace(&world, place, latches, GONE);
    }
    // Turns for the mouse and for the attempts of two outputs.
    let turns = (world.turns() - turns) as f64 / GONE.as_seconds_f64();
    assert!(turns <= (125.0 + 60.0 + 144.0) * 2.0, "{turns} turns a second");
    world.state.outputs.set_renderer(renderer);
    // First the content that was committed without a renderer, then new content.
    let back = world.now();
    is_soon_shown(&mut world, 0, back, "content from the time without a renderer");
    still.commit(&mut world);
    still.is_soon_seen(&mut world, 0, "new content", &mut nothing);
}

/// The same with a GPU context that is lost for so long that the outputs are switched off.
#[test]
fn outputs_are_dark_while_a_context_is_lost_and_answer_after_it() {
    if gles().is_none() {
        return;
    }
    let options = upbeat::backend::headless::OutputOptions::default;
    let outputs = [(60_000, options()), (144_000, options())];
    let mut world = World::simulated_on(&outputs, Renderer::gles_alone().unwrap());
    let (x, y) = middle(0);
    world.point(x, y);
    let mut still = Still::open(&mut world, "still");
    world.rest();
    let (begun, latches) = (world.now(), [0, 1].map(|place| world.output(place).latches()));
    world.state.outputs.renderer().unwrap().disturb(Fault::Dead { contexts: 8, frames: 0 });
    still.commit(&mut world);
    world.until("darkness", |world| world.state.outputs.states().all(|output| !output.is_on()));
    world.until("light", |world| world.state.outputs.states().all(|output| output.is_on()));
    world.rest();
    let time = world.now() - begun;
    for (place, latches) in (0..).zip(latches) {
        tries_at_its_pace(&world, place, latches, time);
    }
    still.commit(&mut world);
    world.until("the window", |world| world.client(still.client).light(still.number).is_some());
}
