//! The session is locked while frames rendered ahead wait: none of these frames is shown after the lock.

use super::ahead::{AHEAD, SLOW, ahead_by, lasting, maximise};
use super::*;
use crate::fixture::gles;
use crate::lock::Locker;
use upbeat::render::Renderer;

/// OpenGL ES draws a frame in this time.
const DRAW: Span = Span::from_millis(5);

/// Locks the session with blue while a red window moves and `ready` frames wait: no red pixel is shown after the first
/// blue.
fn shows_only_the_lock_after_it(mut world: TestWorld, ready: usize) {
    let _window = maximise(&mut world);
    world.run_until("frames ahead", |world| {
        let output = world.state.outputs.states().next().unwrap();
        output.conductor().output().frames().ready() >= ready
    });
    let seen = world.probe((OUTPUT.0 / 2, OUTPUT.1 / 2, 1, 1));
    let locker = Locker::lock(&mut world, BLUE);
    let told = world.now();
    let shown = world.picture().pixels.iter().all(|pixel| pixel & 0x00ff_ffff == BLUE);
    assert!(shown, "the lock is on screen when the locker is told");
    let until = told + Span::from_millis(500);
    world.run_until("time", |world| world.now() >= until);
    let colours: Vec<Xrgb8888Pixel> =
        std::iter::from_fn(|| seen.pop()).map(|sample| sample.pixels[0] & 0x00ff_ffff).collect();
    let first = colours.iter().position(|colour| *colour == BLUE).unwrap();
    assert!(colours[..first].contains(&RED) && colours[first..].iter().all(|colour| *colour == BLUE), "{colours:x?}");
    locker.unlock(&mut world);
}

#[test]
fn frames_that_were_rendered_ahead_are_not_seen_after_the_lock() {
    // Only two buffers are left beside the buffers on screen and in flight.
    shows_only_the_lock_after_it(ahead_by(Renderer::pixman().unwrap(), SLOW, 0, lasting(8)), 2);
}

#[test]
fn frames_that_the_display_holds_are_not_seen_after_the_lock() {
    shows_only_the_lock_after_it(
        ahead_by(Renderer::pixman().unwrap(), SLOW, usize::from(AHEAD), lasting(8)),
        usize::from(AHEAD),
    );
}

#[test]
fn frames_that_another_thread_draws_are_not_seen_after_the_lock() {
    for queue in [0, usize::from(AHEAD)] {
        let Some(gles) = gles() else { return };
        let mut world = ahead_by(gles, SLOW, queue, lasting(8));
        world.drawing_takes(DRAW);
        shows_only_the_lock_after_it(world, 2);
    }
}
