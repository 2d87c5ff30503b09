//! Cost of composing a frame, from the latch to the finished pixels, from the compositor's own frame records: real
//! clients, the virtual display, pixman.
//!
//! The windows are translucent, lie on top of each other and change completely in every frame, so that nothing is
//! culled. Then one opaque window that fills an output, drawn by one thread and in bands by all processors.

#![allow(missing_docs, dead_code, clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/clients/fixture/mod.rs"]
mod fixture;

use std::num::NonZeroUsize;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use fixture::TestWorld;
use upbeat::render::Renderer;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_surface::WlSurface;

const SIZE: (i32, i32) = (1280, 720);
/// Premultiplied, half transparent.
const COLOURS: [u32; 2] = [0x8040_2010, 0x8010_2040];

struct ComposeBench {
    world: TestWorld,
    windows: Vec<(WlSurface, [WlBuffer; 2])>,
    size: (i32, i32),
    frames: usize,
}

impl ComposeBench {
    fn new(windows: usize) -> Self {
        Self::on(TestWorld::in_real_time(Renderer::pixman().unwrap()), windows, SIZE, COLOURS, Format::Argb8888)
    }

    /// One opaque window that fills an output of this size, drawn by this many threads.
    fn filled(size: (i32, i32), threads: usize) -> Self {
        let renderer = Renderer::pixman_in_bands(threads, 1).unwrap();
        Self::on(TestWorld::in_real_time_on(renderer, size), 1, size, COLOURS, Format::Xrgb8888)
    }

    fn on(mut world: TestWorld, windows: usize, size: (i32, i32), colours: [u32; 2], format: Format) -> Self {
        let windows = (0..windows)
            .map(|number| {
                let (client, window) = world.open(&number.to_string(), size.0, size.1);
                let picture = |colour| vec![colour; (size.0 * size.1) as usize];
                let buffers = colours
                    .map(|colour| world.client(client).buffer_of_pixels(0, format, size.0, size.1, &picture(colour)));
                (window.surface, buffers)
            })
            .collect();
        world.run_until_idle();
        ComposeBench { world, windows, size, frames: 0 }
    }

    fn shown(world: &TestWorld) -> Option<(u64, Duration)> {
        let output = world.state.outputs.states().next()?;
        let record = output.records().iter().last()?;
        Some((record.frame, record.compose_cost.to_duration()))
    }

    /// Changes all windows and waits until the change is on screen. Returns the cost of composing.
    fn frame(&mut self) -> Duration {
        self.frames += 1;
        for (surface, buffers) in &self.windows {
            surface.attach(Some(&buffers[self.frames % 2]), 0, 0);
            surface.damage_buffer(0, 0, self.size.0, self.size.1);
            surface.commit();
        }
        let before = Self::shown(&self.world).map(|(frame, _)| frame);
        self.world.settle();
        self.world.run_until("a frame", |world| Self::shown(world).map(|(frame, _)| frame) > before);
        Self::shown(&self.world).unwrap().1
    }
}

fn compose(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compose 1280x720");
    // Flat sampling, because a frame takes a whole refresh whatever it costs.
    group.sampling_mode(SamplingMode::Flat).sample_size(20).measurement_time(Duration::from_secs(5));
    for windows in [1, 4, 12] {
        let mut stage = ComposeBench::new(windows);
        group.bench_function(format!("{windows} windows"), |bench| {
            bench.iter_custom(|frames| (0..frames).map(|_| stage.frame()).sum());
        });
    }
    group.finish();
}

fn bands(criterion: &mut Criterion) {
    let all = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    for (name, size) in [("1080p", (1920, 1080)), ("2160p", (3840, 2160))] {
        let mut group = criterion.benchmark_group(format!("compose {name}, one opaque window"));
        group.sampling_mode(SamplingMode::Flat).sample_size(20).measurement_time(Duration::from_secs(5));
        for threads in [1, all.max(2)] {
            let mut stage = ComposeBench::filled(size, threads);
            group.bench_function(format!("{threads} threads"), |bench| {
                bench.iter_custom(|frames| (0..frames).map(|_| stage.frame()).sum());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, compose, bands);
criterion_main!(benches);
