//! Cost of the virtual display per frame besides drawing: it must be negligible beside the measurements on it.

#![expect(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench may fail loudly, and criterion's macros document nothing"
)]

use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use upbeat::backend::headless::record::{ProbeLog, Recording};
use upbeat::backend::headless::{HeadlessBackend, HeadlessOutput, OutputOptions};
use upbeat::backend::{Display, FrameId, FramePlan, PixelRect, PlanChange, VideoMode};
use upbeat_record::recording::StreamFile;
use upbeat_timing::time::{Instant, SimulatedClock};

const MODE: VideoMode = VideoMode { width: 1920, height: 1080, refresh: 60_000 };

/// An output on a simulated clock. Its timer is real, so that the system calls count.
fn output() -> (Rc<SimulatedClock>, HeadlessBackend, HeadlessOutput) {
    // Far in the future of the real clock, so that the timer never fires.
    let clock = Rc::new(SimulatedClock::starting_at(Instant::from_nanos(1 << 60)));
    let mut backend = HeadlessBackend::with_clock(clock.clone()).unwrap();
    let output = backend.add_output("HEADLESS-1", MODE, OutputOptions::default()).unwrap();
    (clock, backend, output)
}

fn plan(output: &mut HeadlessOutput, frame: u64) -> FramePlan {
    let buffer = output.acquire().unwrap();
    FramePlan::plain(FrameId(frame), PlanChange::Compose { buffer, damage: Vec::new() })
}

fn show(clock: &SimulatedClock, backend: &mut HeadlessBackend, output: &mut HeadlessOutput, frame: u64) {
    let plan = plan(output, frame);
    output.submit(plan).map_err(|(error, _)| error).unwrap();
    clock.set(backend.next_event().unwrap());
    backend.dispatch();
    black_box(output.poll_event().unwrap());
}

fn frame(c: &mut Criterion) {
    let mut group = c.benchmark_group("virtual_display");
    let (clock, mut backend, mut output) = output();
    let mut number = 0..;
    let mut next = || number.next().unwrap();
    (0..4).for_each(|_| show(&clock, &mut backend, &mut output, next()));

    group.bench_function("acquire_submit_dispatch_poll", |b| {
        b.iter(|| show(&clock, &mut backend, &mut output, next()));
    });
    group.bench_function("dispatch_idle", |b| b.iter(|| backend.dispatch()));

    let (log, probe) = ProbeLog::new(PixelRect { x: 8, y: 8, width: 64, height: 8 }, 16);
    let watch = output.add_watch(probe);
    group.bench_function("the_same_with_a_probe", |b| {
        b.iter(|| show(&clock, &mut backend, &mut output, next()));
    });
    output.remove_watch(watch);
    black_box(log.pop());

    let recording = Recording::start(&output, StreamFile::new(std::io::sink()).unwrap()).unwrap();
    let mut shown = 0;
    group.sample_size(20).bench_function("the_same_recorded_at_1080p", |b| {
        b.iter_custom(|iterations| {
            let mut spent = Duration::ZERO;
            for _ in 0..iterations {
                let start = std::time::Instant::now();
                show(&clock, &mut backend, &mut output, next());
                spent += start.elapsed();
                shown += 1;
                // Wait for the recorder, so that only the copy is measured. The newest image is still on screen.
                while recording.tally().recorded < shown - 1 {
                    std::thread::yield_now();
                }
            }
            spent
        });
    });
    println!("{:?}", recording.finish());
    group.finish();
}

criterion_group!(benches, frame);
criterion_main!(benches);
