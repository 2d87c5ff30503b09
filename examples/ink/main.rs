//! Ink under a pointer or fingers, drawn to their predicted position at the frame's light.
//!
//! ```text
//! cargo run --example ink -- --horizon 16
//! ```
//!
//! Dark ink is the hand's path so far. Orange ink is the predicted rest, drawn anew in every frame. There is none while
//! the hand rests, and on compositors that do not predict. `Q` ends it.

mod common;

use std::collections::HashMap;
use std::time::Duration;

use clap::Parser;
use common::figures::ExampleFigures;
use common::mode::pacing_text;
use common::picture::{LETTER, Picture};
use common::window::{ExampleWindow, WindowInput};
use upbeat_client::{FrameTarget, Pacing, PacingOptions, PredictedDevice, PredictedPoint};
use upbeat_timing::time::Span;

const SIZE: (usize, usize) = (960, 600);
/// A buffer on screen, a buffer on its way, a buffer to draw into.
const BUFFERS: usize = 3;
const PAPER: u32 = 0x00f4_f1ea;
const INK: u32 = 0x0018_2a6b;
const AHEAD: u32 = 0x00f0_8020;
/// Half the width of a stroke, in pixels.
const NIB: f64 = 3.0;

/// Ink under a hand, on any Wayland compositor.
///
/// Q or Escape ends it.
#[derive(Parser)]
struct InkArgs {
    /// How far ahead of its last report the hand is drawn, in milliseconds; 0 for not at all
    #[arg(long, default_value_t = 33)]
    horizon: i64,
    /// End after this number of frames
    #[arg(long)]
    frames: Option<u32>,
}

/// The ink so far, and the last position of each drawing device.
struct InkDrawing {
    paper: Picture,
    nibs: HashMap<PredictedDevice, (f64, f64)>,
    pressed: bool,
}

fn main() -> anyhow::Result<()> {
    let options = InkArgs::parse();
    let mut window = ExampleWindow::open("ink", SIZE, BUFFERS, false)?;
    let predicted = window.predicted_input();
    predicted.set_horizon(Span::from_millis(options.horizon));
    window.pacer.set_options(PacingOptions { pacing: Pacing::JustInTime, ..PacingOptions::default() });
    window.screen.surface.commit();
    window.pacer.request_frame();
    let mut sheet = InkDrawing { paper: Picture::new(SIZE.0, SIZE.1), nibs: HashMap::new(), pressed: false };
    sheet.paper.fill(PAPER);
    let mut figures = ExampleFigures::default();
    let mut waiting: Option<FrameTarget> = None;
    let wanted = options.frames.unwrap_or(u32::MAX);
    while window.is_open() && figures.committed < wanted {
        for input in window.inputs() {
            sheet.handle_input(input);
        }
        if let Some(target) = waiting.take().or_else(|| window.pacer.next_target()) {
            match window.screen.free.take(Duration::ZERO) {
                Some(buffer) => {
                    figures.begun(target, window.pacer.now());
                    window.pacer.request_frame();
                    figures.committed += 1;
                    let points = predicted.take();
                    let picture = sheet.with(&points, &pacing_text(window.pacer.effective()), predicted.horizon());
                    window.screen.show(buffer, &picture, &window.pacer, target)?;
                }
                None => waiting = Some(target),
            }
        }
        window.wait(None)?;
        while let Some(event) = window.pacer.next_event() {
            figures.event(&event);
        }
    }
    figures.report("ink");
    Ok(())
}

impl InkDrawing {
    fn handle_input(&mut self, input: WindowInput) {
        match input {
            WindowInput::Button { pressed } => {
                self.pressed = pressed;
                self.nibs.remove(&PredictedDevice::Pointer);
            }
            WindowInput::Pointer { x, y } if self.pressed => self.ink_to(PredictedDevice::Pointer, (x, y)),
            WindowInput::Finger { finger, x, y, .. } => self.ink_to(PredictedDevice::Touch(finger as u32), (x, y)),
            WindowInput::FingerUp { finger } => {
                self.nibs.remove(&PredictedDevice::Touch(finger as u32));
            }
            _ => {}
        }
    }

    fn ink_to(&mut self, device: PredictedDevice, to: (f64, f64)) {
        let from = self.nibs.insert(device, to).unwrap_or(to);
        line(&mut self.paper, from, to, INK);
    }

    /// The sheet with the predicted path of each drawing device.
    fn with(&self, points: &[PredictedPoint], pacing_text: &str, horizon: Span) -> Picture {
        let mut picture = self.paper.clone();
        for point in points {
            if let Some(from) = self.nibs.get(&point.device) {
                line(&mut picture, *from, (point.x, point.y), AHEAD);
            }
        }
        let predicts = match horizon {
            Span::ZERO => "nothing is predicted".to_owned(),
            horizon => format!("predicted by up to {:.0} ms", horizon.as_millis_f64()),
        };
        for (row, text) in [pacing_text, &predicts, "Q end"].into_iter().enumerate() {
            picture.text((16, 16 + row as i32 * (LETTER + 8)), text, 0x00d0_d8e0);
        }
        picture
    }
}

fn line(picture: &mut Picture, from: (f64, f64), to: (f64, f64), colour: u32) {
    let steps = (to.0 - from.0).hypot(to.1 - from.1).ceil().max(1.0);
    for step in 0..=steps as u32 {
        let way = f64::from(step) / steps;
        picture.disc((from.0 + way * (to.0 - from.0), from.1 + way * (to.1 - from.1)), NIB, colour);
    }
}
