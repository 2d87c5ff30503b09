//! Duration of a turn while no renderer has a context.

use std::time::{Duration, Instant};

use upbeat::render::GpuFault;

use crate::fixture::content::BLUE;
use crate::render_thread::{disturb, gles_only_session, is_dark, show};
use crate::timed_figure::Noise;

const LONGEST_TURN: Duration = Duration::from_millis(500);

#[test]
#[ignore = "timed: ./up measure"]
fn main_thread_does_not_wait_for_a_context() {
    let noise = Noise::begin();
    let Some((mut world, client, window)) = gles_only_session() else { return };
    // The sixth loss in a row is the first after which the retry waits for a noticeable time.
    disturb(&world, GpuFault::Dead { contexts: 8, frames: 0 });
    show(&mut world, client, &window, 2, BLUE);
    world.run_until("darkness", |world| is_dark(world));
    let turns = (0..10).map(|_| {
        let begun = Instant::now();
        world.turn();
        begun.elapsed()
    });
    let longest = turns.max().unwrap_or_default();
    noise.judge(longest < LONGEST_TURN, format_args!("the longest turn in the dark took {longest:?}"));
}
