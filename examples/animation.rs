//! A disc that is at the right place when its frame is shown.
//!
//! ```text
//! cargo run --example animation -- --pacing ahead --ahead 3
//! ```
//!
//! The disc's position depends only on the time for which the frame is drawn. The band of blocks below it encodes that
//! time (`upbeat_bench::block_code`), so that a photo of the screen can be compared with the moment at which it was
//! taken. `P` switches the pacing, `Q` ends it.

mod common;

use std::f64::consts::TAU;
use std::thread::sleep;
use std::time::Duration;

use clap::Parser;
use common::figures::ExampleFigures;
use common::mode::{ExamplePacing, pacing_text};
use common::picture::{LETTER, Picture};
use common::window::{ExampleWindow, P, WindowInput};
use upbeat_bench::block_code::{self, BlockCode};
use upbeat_client::FrameTarget;
use upbeat_timing::time::{Instant, Span};

const SIZE: (usize, usize) = (640, 400);
/// Time for one turn.
const ROUND: Span = Span::from_millis(2_000);
/// Longest wait for the last frames, which a hidden window never shows.
const LAST_LIGHT: Span = Span::from_seconds(2);

/// A disc drawn for the moment at which its frame is shown, on any Wayland compositor.
///
/// P switches the pacing, Q or Escape ends it.
#[derive(Parser)]
struct AnimationArgs {
    /// How frames are paced
    #[arg(long, value_enum, default_value = "ahead")]
    pacing: ExamplePacing,
    /// How many frames may be in flight when drawn ahead
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    ahead: u32,
    /// End after this number of frames
    #[arg(long)]
    frames: Option<u32>,
    /// Predict when frames will be shown, as on compositors without upbeat_frame_pacing_v1
    #[arg(long)]
    predict: bool,
    /// Let one frame in forty take this many milliseconds longer
    #[arg(long, value_name = "MS", default_value_t = 0)]
    heavy: u64,
}

/// Distance between two heavy frames, in frames.
const HEAVY_EVERY: u32 = 40;

fn main() -> anyhow::Result<()> {
    let options = AnimationArgs::parse();
    // One buffer more than frames in flight, because the buffer on screen is released only when the next frame is
    // shown.
    let mut window = ExampleWindow::open("animation", SIZE, options.ahead as usize + 1, options.predict)?;
    let mut mode = options.pacing;
    window.pacer.set_options(mode.options(options.ahead));
    window.screen.surface.commit();
    window.pacer.request_frame();
    let mut figures = ExampleFigures::default();
    let mut picture = Picture::new(SIZE.0, SIZE.1);
    let mut waiting: Option<FrameTarget> = None;
    let wanted = options.frames.unwrap_or(u32::MAX);
    while window.is_open() && figures.committed < wanted {
        while figures.committed < wanted
            && let Some(target) = waiting.take().or_else(|| window.pacer.next_target())
        {
            let Some(buffer) = window.screen.free.take(Duration::ZERO) else {
                waiting = Some(target);
                break;
            };
            figures.begun(target, window.pacer.now());
            window.pacer.request_frame();
            figures.committed += 1;
            if figures.committed.is_multiple_of(HEAVY_EVERY) {
                sleep(Duration::from_millis(options.heavy));
            }
            draw(&mut picture, target.present, figures.committed);
            let lines = [pacing_text(window.pacer.effective()), figures.text(), "P pacing   Q end".to_owned()];
            for (line, text) in lines.iter().enumerate() {
                picture.text((16, 16 + line as i32 * (LETTER + 8)), text, 0x00d0_d8e0);
            }
            window.screen.show(buffer, &picture, &window.pacer, target)?;
        }
        window.wait(None)?;
        if window.inputs().contains(&WindowInput::Key(P)) {
            mode = mode.next();
            window.pacer.set_options(mode.options(options.ahead));
        }
        count(&window, &mut figures);
    }
    let until = window.pacer.now() + LAST_LIGHT;
    while window.is_open() && !figures.is_over() && window.pacer.now() < until {
        window.wait(Some(until))?;
        count(&window, &mut figures);
    }
    figures.report("animation");
    Ok(())
}

fn count(window: &ExampleWindow, figures: &mut ExampleFigures) {
    while let Some(event) = window.pacer.next_event() {
        figures.event(&event);
    }
}

/// Draws the picture for `present`.
fn draw(picture: &mut Picture, present: Instant, frame: u32) {
    picture.fill(0x0018_2030);
    let angle = TAU * (present.as_nanos() % ROUND.as_nanos() as u64) as f64 / ROUND.as_nanos() as f64;
    let (centre, radius) = ((SIZE.0 as f64 / 2.0, 200.0), 80.0);
    for step in 0..60 {
        let angle = TAU * f64::from(step) / 60.0;
        picture.disc(on_circle(centre, radius + 22.0, angle), if step % 15 == 0 { 4.0 } else { 2.0 }, 0x0060_6a80);
    }
    picture.disc(on_circle(centre, radius, angle), 16.0, 0x00ff_b040);
    let band = (SIZE.0 - block_code::WIDTH) / 2;
    BlockCode::of_time(frame, present).draw(&mut picture.pixels[band..], SIZE.0, SIZE.1 - block_code::HEIGHT - 8);
}

fn on_circle(centre: (f64, f64), radius: f64, angle: f64) -> (f64, f64) {
    (centre.0 + radius * angle.sin(), centre.1 - radius * angle.cos())
}
