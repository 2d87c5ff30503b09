//! Duration of a turn while no renderer has a context.

use std::time::{Duration, Instant};

use upbeat::render::Fault;

use crate::drawing::{by_gles_alone, disturb, is_dark, show};
use crate::fixture::content::BLUE;
use crate::timed_figure::Noise;

const LONGEST_TURN: Duration = Duration::from_millis(500);

#[test]
#[ignore = "timed: ./up measure"]
fn main_thread_does_not_wait_for_a_context() {
    let noise = Noise::begin();
    let Some((mut world, client, window)) = by_gles_alone() else { return };
    // The sixth loss in a row is the first after which the retry waits for a noticeable time.
    disturb(&world, Fault::Dead { contexts: 8, frames: 0 });
    show(&mut world, client, &window, 2, BLUE);
    world.until("darkness", |world| is_dark(world));
    let turns = (0..10).map(|_| {
        let begun = Instant::now();
        world.turn();
        begun.elapsed()
    });
    let longest = turns.max().unwrap_or_default();
    noise.judge(longest < LONGEST_TURN, format_args!("the longest turn in the dark took {longest:?}"));
}
