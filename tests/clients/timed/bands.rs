//! Cost of a frame that several threads draw in bands, all their instructions together, beside one thread's.

use upbeat::render::Renderer;
use wayland_client::protocol::wl_shm::Format;

use crate::fixture::TestWorld;
use crate::timed_figure::Noise;

/// A 4K output (2160p).
const SIZE: (i32, i32) = (3840, 2160);
/// Allowed cost, relative to one thread. The guest has one processor, so the threads' times add up.
const MOST: f64 = 1.05;
const FRAMES: usize = 12;
const THREADS: usize = 4;

/// The cheapest of some frames that are drawn anew completely, in µs from the latch to the finished pixels.
fn cheapest(threads: usize) -> f64 {
    let renderer = Renderer::pixman_in_bands(threads, 1).unwrap();
    let mut world = TestWorld::in_real_time_on(renderer, SIZE);
    let (client, window) = world.open("a", SIZE.0, SIZE.1);
    let pictures = [0x0020_4060, 0x0060_4020].map(|colour| {
        let pixels = vec![colour; (SIZE.0 * SIZE.1) as usize];
        world.client(client).buffer_of_pixels(0, Format::Xrgb8888, SIZE.0, SIZE.1, &pixels)
    });
    let newest = |world: &TestWorld| {
        let record = world.state.outputs.states().next()?.records().iter().last()?;
        Some((record.frame, record.compose_cost.to_duration().as_secs_f64() * 1e6))
    };
    let mut cost = |frame: usize| {
        window.surface.attach(Some(&pictures[frame % 2]), 0, 0);
        window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
        window.surface.commit();
        let before = newest(&world).map(|(frame, _)| frame);
        world.settle();
        world.run_until("a frame", |world| newest(world).map(|(frame, _)| frame) > before);
        newest(&world).map_or(f64::INFINITY, |(_, cost)| cost)
    };
    (0..FRAMES).map(&mut cost).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "timed: ./up measure"]
fn bands_cost_at_most_a_twentieth_more_than_one_thread() {
    let noise = Noise::begin();
    let (alone, shared) = (cheapest(1), cheapest(THREADS));
    let share = shared / alone;
    eprintln!("2160p: {alone:.0} µs by one thread, {shared:.0} µs by {THREADS}, {share:.3} of it");
    noise.judge(share <= MOST, format_args!("bands cost {share:.3} of one thread's time: {shared:.0} µs, {alone:.0}"));
}
