//! Ink under a pointer, fingers or a pen, drawn to their predicted position at the frame's light.
//!
//! ```text
//! cargo run --example ink -- --horizon 16
//! cargo run --release --example ink -- --front-buffer
//! ```
//!
//! Dark ink is the hand's path so far. Orange ink is the predicted rest, drawn anew in every frame. There is none while
//! the hand rests, and on compositors that do not predict. The brush tip is a subsurface that follows the hand. With
//! `--front-buffer`, dark ink is written into the picture on screen while the compositor allows it. `Q` ends it.

#[path = "../common/mod.rs"]
mod common;
mod front;
mod sheet;
mod tip;

use clap::Parser;
use common::figures::ExampleFigures;
use common::mode::pacing_text;
use common::window::ExampleWindow;
use front::FrontInk;
use sheet::InkSheet;
use tip::BrushTip;
use upbeat_client::{FrameTarget, FrontBuffer, Pacing, PacingOptions, PredictedInput};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

const SIZE: (usize, usize) = (960, 600);
/// A buffer on screen, a buffer on its way, a buffer to draw into.
const BUFFERS: usize = 3;

/// Ink under a hand, on any Wayland compositor.
///
/// Q or Escape ends it.
#[derive(Parser)]
struct InkArgs {
    /// How far ahead of its last report the hand is drawn, in milliseconds; 0 for not at all
    #[arg(long, default_value_t = 33)]
    horizon: i64,
    /// Write ink into the picture on screen, where the compositor allows it
    #[arg(long)]
    front_buffer: bool,
    /// End after this number of frames
    #[arg(long)]
    frames: Option<u32>,
}

struct InkProgram {
    window: ExampleWindow,
    predicted: PredictedInput,
    sheet: InkSheet,
    tip: BrushTip,
    front: FrontInk,
    figures: ExampleFigures,
    /// A target without a free buffer.
    waiting: Option<FrameTarget>,
}

fn main() -> anyhow::Result<()> {
    let options = InkArgs::parse();
    let mut window = ExampleWindow::open("ink", SIZE, BUFFERS, false)?;
    let predicted = window.predicted_input();
    predicted.set_horizon(Span::from_millis(options.horizon));
    window.pacer.set_options(PacingOptions { pacing: Pacing::JustInTime, ..PacingOptions::default() });
    let front = options.front_buffer.then(|| window.front_buffer());
    let tip = BrushTip::new(&mut window, front.as_ref().is_some_and(FrontBuffer::is_offered))?;
    let front = FrontInk::new(front);
    window.screen.surface.commit();
    window.pacer.request_frame();
    let (sheet, figures) = (InkSheet::new(SIZE), ExampleFigures::default());
    let mut program = InkProgram { window, predicted, sheet, tip, front, figures, waiting: None };
    let wanted = options.frames.unwrap_or(u32::MAX);
    while program.window.is_open() && program.figures.committed < wanted {
        let until = program.show()?;
        program.window.wait(until)?;
        program.handle_events();
    }
    program.figures.report("ink");
    program.front.report();
    Ok(())
}

impl InkProgram {
    fn handle_events(&mut self) {
        while let Some(event) = self.window.pacer.next_event() {
            self.figures.event(&event);
        }
        for input in self.window.inputs() {
            self.tip.handle_input(&input);
            self.sheet.handle_input(input);
        }
        self.front.handle_events(&mut self.sheet);
    }

    /// Shows new ink by a write or a frame. Returns when to try again without an event.
    fn show(&mut self) -> anyhow::Result<Option<Instant>> {
        self.tip.update()?;
        self.sheet.set_texts(self.texts());
        if self.front.is_active() {
            return self.front.write_when_due(&mut self.sheet, &self.window.screen, MonotonicClock.now());
        }
        let Some(target) = self.waiting.take().or_else(|| self.window.pacer.next_target()) else { return Ok(None) };
        let Some(buffer) = self.window.screen.free.take_other(self.front.current()) else {
            self.waiting = Some(target);
            return Ok(None);
        };
        self.figures.begun(target, self.window.pacer.now());
        self.window.pacer.request_frame();
        self.figures.committed += 1;
        let picture = self.sheet.frame(&self.predicted.take());
        self.front.share(buffer, SIZE);
        self.window.screen.show(buffer, &picture, &self.window.pacer, target)?;
        Ok(None)
    }

    fn texts(&self) -> Vec<String> {
        let predicts = match self.predicted.horizon() {
            Span::ZERO => "nothing is predicted".to_owned(),
            _ if self.front.is_active() => "nothing is predicted outside of frames".to_owned(),
            horizon => format!("predicted by up to {:.0} ms", horizon.as_millis_f64()),
        };
        let pacing = pacing_text(self.window.pacer.effective());
        vec![pacing, predicts, self.tip.text(), self.front.text(), "Q end".to_owned()]
    }
}
