//! A game with two threads: the first records a frame while the second draws the frame before.
//!
//! ```text
//!   main      │ target 7 │ target 8 │ target 9                          events, and the text on screen
//!   recorder   ├─ 7 ─┤├─ 8 ─┤├─ 9 ─┤
//!   rasteriser          ├──── 7 ────┤├──── 8 ────┤├── 9 ──┤             bind, commit
//! ```
//!
//! A load of the simulator or a trace sets the time of each stage, as in `upbeat bench smoothness`. The target travels
//! with its frame through both threads. `P` switches the pacing, `Q` ends it.
//!
//! ```text
//! cargo run --release --example game -- --load D --pacing ahead --buffers 5
//! ```

mod common;

use std::f64::consts::TAU;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use clap::Parser;
use common::figures::ExampleFigures;
use common::mode::{ExamplePacing, pacing_text};
use common::picture::{LETTER, Picture};
use common::screen::WindowBuffers;
use common::window::{ExampleWindow, P, WindowInput};
use upbeat_bench::block_code::{self, BlockCode};
use upbeat_bench::smoothness::CostOptions;
use upbeat_client::{FramePacer, FrameTarget};
use upbeat_lab::load::FrameCost;
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

const SIZE: (usize, usize) = (640, 480);
/// Longest wait for a buffer or for the last frames: longer than a running game's window is hidden.
const PATIENCE: Span = Span::from_seconds(5);
const BALLS: u32 = 40;

/// A game with the frame costs of a load or a trace, recorded and drawn by two threads.
///
/// P switches the pacing, Q or Escape ends it.
#[derive(Parser)]
struct GameArgs {
    #[command(flatten)]
    costs: CostOptions,
    /// How frames are paced
    #[arg(long, value_enum, default_value = "ahead")]
    pacing: ExamplePacing,
    /// Pixel buffers; one is on screen
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=16))]
    buffers: u32,
    /// Frames that may be recorded further ahead than there are buffers
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=8))]
    run_ahead: u32,
}

/// A frame for the first thread.
struct RecordJob {
    number: u32,
    target: FrameTarget,
    cost: FrameCost,
    lines: [String; 2],
}

/// A recorded frame for the second thread.
struct RecordedGameFrame {
    job: RecordJob,
    /// Centre, radius and colour.
    discs: Vec<((f64, f64), f64, u32)>,
}

fn main() -> anyhow::Result<()> {
    let options = GameArgs::parse();
    let load = options.costs.costs()?;
    let ahead = options.buffers - 1 + options.run_ahead;
    let mut window = ExampleWindow::open("game", SIZE, options.buffers as usize, false)?;
    window.pacer.set_options(options.pacing.options(ahead));
    window.screen.surface.commit();
    let (to_recorder, jobs) = channel();
    let (to_rasteriser, recordings) = channel();
    let recorder = thread::spawn(move || record(&jobs, &to_rasteriser));
    let (screen, pacer) = (window.screen.clone(), window.pacer.clone());
    let rasteriser = thread::spawn(move || rasterise(&recordings, &screen, &pacer));
    let figures = play(&mut window, &load.frames, options.pacing, ahead, to_recorder)?;
    figures.report(&format!("game, {}", load.name));
    drop(recorder.join());
    rasteriser.join().map_err(|_| anyhow::anyhow!("the rasteriser panicked"))??;
    Ok(())
}

/// The main thread: sends each target to the recorder, and handles events.
fn play(
    window: &mut ExampleWindow,
    costs: &[FrameCost],
    mut mode: ExamplePacing,
    ahead: u32,
    recorder: Sender<RecordJob>,
) -> anyhow::Result<ExampleFigures> {
    let mut figures = ExampleFigures::default();
    let mut costs = costs.iter();
    window.pacer.request_frame();
    let mut until = None;
    while window.is_open() && until.is_none_or(|until| !figures.is_over() && MonotonicClock.now() < until) {
        while until.is_none()
            && let Some(target) = window.pacer.next_target()
        {
            let Some(cost) = costs.next().copied() else {
                until = Some(MonotonicClock.now() + PATIENCE);
                break;
            };
            figures.begun(target, window.pacer.now());
            figures.committed += 1;
            let lines = [pacing_text(window.pacer.effective()), figures.text()];
            // The recorder ends early only after an error, which `main` reports.
            if recorder.send(RecordJob { number: figures.committed, target, cost, lines }).is_err() {
                return Ok(figures);
            }
            window.pacer.request_frame();
        }
        window.wait(until)?;
        if window.inputs().contains(&WindowInput::Key(P)) {
            mode = mode.next();
            window.pacer.set_options(mode.options(ahead));
        }
        while let Some(event) = window.pacer.next_event() {
            figures.event(&event);
        }
    }
    Ok(figures)
}

/// The first thread: computes the positions at the frame's time.
fn record(jobs: &Receiver<RecordJob>, rasteriser: &Sender<RecordedGameFrame>) {
    for job in jobs {
        let done = MonotonicClock.now() + job.cost.record;
        let discs = (0..BALLS).map(|ball| place(ball, job.target.present)).collect();
        sleep_until(done);
        if rasteriser.send(RecordedGameFrame { job, discs }).is_err() {
            return;
        }
    }
}

/// The second thread: draws and commits.
fn rasterise(
    recordings: &Receiver<RecordedGameFrame>,
    screen: &Arc<WindowBuffers>,
    pacer: &FramePacer,
) -> io::Result<()> {
    let mut picture = Picture::new(SIZE.0, SIZE.1);
    for RecordedGameFrame { job, discs } in recordings {
        // The window was closed or hidden, so the frame is not needed.
        let Some(buffer) = screen.free.take(PATIENCE.to_duration()) else { return Ok(()) };
        let done = MonotonicClock.now() + job.cost.render;
        picture.fill(0x0014_1a26);
        for (centre, radius, colour) in discs {
            picture.disc(centre, radius, colour);
        }
        for (line, text) in job.lines.iter().enumerate() {
            picture.text((16, 16 + line as i32 * (LETTER + 8)), text, 0x00d0_d8e0);
        }
        let cost = job.cost.record + job.cost.render;
        let bar = cost.as_nanos() * 200 / job.target.interval.as_nanos().max(1);
        picture.text((16, 80), &format!("cost {:5.1} ms", cost.as_millis_f64()), 0x00d0_d8e0);
        picture.rectangle((260, 80), (bar.clamp(1, 360) as i32, LETTER), cost_colour(cost, job.target.interval));
        picture.text((16, 112), "P pacing   Q end", 0x0080_8890);
        let band = (SIZE.0 - block_code::WIDTH) / 2;
        let code = BlockCode::of_time(job.number, job.target.present);
        code.draw(&mut picture.pixels[band..], SIZE.0, SIZE.1 - block_code::HEIGHT - 8);
        sleep_until(done);
        screen.show(buffer, &picture, pacer, job.target)?;
    }
    Ok(())
}

/// Red for a frame that does not fit into a refresh.
fn cost_colour(cost: Span, interval: Span) -> u32 {
    if cost > interval { 0x00e0_5040 } else { 0x0050_c070 }
}

/// A ball's position, radius and colour at a moment.
fn place(ball: u32, at: Instant) -> ((f64, f64), f64, u32) {
    let seconds = (at.as_nanos() % 3_600_000_000_000) as f64 / 1e9;
    let (own, share) = (f64::from(ball), f64::from(ball) / f64::from(BALLS));
    let x = SIZE.0 as f64 * (0.5 + 0.46 * (seconds * (0.3 + 0.02 * own) + TAU * share).sin());
    let y = 255.0 + 105.0 * (seconds * (0.5 + 0.013 * own) + TAU * share * 3.0).cos();
    let shade = (80.0 + 150.0 * share) as u32;
    ((x, y), 6.0 + 10.0 * share, shade << 16 | 0x9000 | (255 - shade))
}

/// Sleeps for the rest of a stage's cost instead of burning CPU time, because the stages stand for a processor and a
/// GPU.
fn sleep_until(done: Instant) {
    thread::sleep((done - MonotonicClock.now()).to_duration());
}
