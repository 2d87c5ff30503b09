//! A renderer that is lost: each output retries once a refresh at most, and shows the content when a renderer is back.

use upbeat::render::{GpuFault, Renderer};

use super::*;
use crate::fixture::gles;
use crate::fixture::simulated::name;

/// How long there is no renderer.
const GONE: Span = Span::from_seconds(10);

/// Checks that an output tried to latch at most once a refresh in the elapsed `time`.
#[track_caller]
fn assert_one_try_per_refresh(world: &TestWorld, place: i32, latches: u64, time: Span) {
    let tries = world.output(place).latches() - latches;
    let refreshes = (time.as_nanos() / interval(world, place).as_nanos()) as u64;
    assert!(tries <= refreshes + 2, "{} tried {tries} times in {refreshes} refreshes", name(place));
}

#[test]
fn lost_renderer_is_retried_once_a_refresh_and_content_is_shown_later() {
    let mut world = TestWorld::simulated(&[60_000, 144_000]);
    let (x, y) = middle(0);
    world.point(x, y);
    let mut still = IdleWindow::open(&mut world, "still");
    world.run_until_idle();
    let renderer = world.state.outputs.take_renderer();
    still.commit(&mut world);
    let (turns, latches) = (world.turns(), [0, 1].map(|place| world.output(place).latches()));
    let mut mouse = moving_cursor(&world, 1, 1);
    world.run_for(GONE, &mut mouse);
    for (place, latches) in (0..).zip(latches) {
        assert_one_try_per_refresh(&world, place, latches, GONE);
    }
    // Turns for the mouse and for the attempts of two outputs.
    let turns = (world.turns() - turns) as f64 / GONE.as_seconds_f64();
    assert!(turns <= (125.0 + 60.0 + 144.0) * 2.0, "{turns} turns a second");
    world.state.outputs.set_renderer(renderer);
    // First the content that was committed without a renderer, then new content.
    let back = world.now();
    assert_frame_within_two_refreshes(&mut world, 0, back, "content from the time without a renderer");
    still.commit(&mut world);
    still.assert_update_within_two_refreshes(&mut world, 0, "new content", &mut nothing);
}

/// The same with a GPU context that is lost for so long that the outputs are switched off.
#[test]
fn outputs_are_off_while_the_gpu_context_is_lost_and_work_afterwards() {
    if gles().is_none() {
        return;
    }
    let options = upbeat::backend::headless::OutputOptions::default;
    let outputs = [(60_000, options()), (144_000, options())];
    let mut world = TestWorld::simulated_on(&outputs, Renderer::gles_alone().unwrap());
    let (x, y) = middle(0);
    world.point(x, y);
    let mut still = IdleWindow::open(&mut world, "still");
    world.run_until_idle();
    let (begun, latches) = (world.now(), [0, 1].map(|place| world.output(place).latches()));
    world.state.outputs.renderer().unwrap().inject_fault(GpuFault::Dead { contexts: 8, frames: 0 });
    still.commit(&mut world);
    world.run_until("darkness", |world| world.state.outputs.states().all(|output| !output.is_on()));
    world.run_until("light", |world| world.state.outputs.states().all(|output| output.is_on()));
    world.run_until_idle();
    let time = world.now() - begun;
    for (place, latches) in (0..).zip(latches) {
        assert_one_try_per_refresh(&world, place, latches, time);
    }
    still.commit(&mut world);
    world.run_until("the window", |world| world.client(still.client).light(still.number).is_some());
}
