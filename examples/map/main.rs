//! A map that is drawn ahead during a zoom, although the fingers' positions are not known yet.
//!
//! ```text
//! cargo run --release --example map          wheel, or two fingers; P switches the pacing, Q ends it
//! ```
//!
//! New tiles make frames heavy just when a zoom crosses from one level to the next. So during the gesture the map is
//! drawn several frames ahead, each with the zoom that is predicted for its display time (`gesture`). When the fingers
//! stop, the frames drawn for a wrong prediction are cancelled, and the rest is drawn just in time. A map at rest draws
//! nothing.

#[path = "../common/mod.rs"]
mod common;
mod gesture;
mod tiles;

use std::time::Duration;

use clap::Parser;
use common::figures::ExampleFigures;
use common::mode::{ExamplePacing, pacing_text};
use common::picture::{LETTER, Picture};
use common::window::{ExampleWindow, P, WindowInput};
use gesture::ZoomState;
use tiles::TileCache;
use upbeat_client::{FrameTarget, PacerEvent, TargetId};
use upbeat_timing::time::Instant;

const SIZE: (usize, usize) = (640, 480);

/// A map to zoom by the wheel or by two fingers, drawn ahead of the display while it is zoomed.
///
/// P switches the pacing, Q or Escape ends it.
#[derive(Parser)]
struct MapArgs {
    /// Fixed pacing of frames; default: ahead during a zoom, otherwise just in time
    #[arg(long, value_enum)]
    pacing: Option<ExamplePacing>,
    /// How many frames may be in flight when drawn ahead
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    ahead: u32,
    /// Least time to draw one tile, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5)]
    tile_cost: u64,
}

struct MapExample {
    options: MapArgs,
    window: ExampleWindow,
    zooming: ZoomState,
    tiles: TileCache,
    picture: Picture,
    figures: ExampleFigures,
    /// Fixed pacing, by option or by key.
    chosen: Option<ExamplePacing>,
    /// The pacing that was requested last.
    requested: Option<ExamplePacing>,
    /// A target for which no buffer was free.
    waiting: Option<FrameTarget>,
    /// The last target that was shown.
    last_shown: TargetId,
    is_dirty: bool,
    cancelled: u32,
}

fn main() -> anyhow::Result<()> {
    let options = MapArgs::parse();
    let mut map = MapExample {
        window: ExampleWindow::open("map", SIZE, options.ahead as usize + 1, false)?,
        zooming: ZoomState::new(SIZE, tiles::coast()),
        tiles: TileCache::new(Duration::from_millis(options.tile_cost)),
        picture: Picture::new(SIZE.0, SIZE.1),
        figures: ExampleFigures::default(),
        chosen: options.pacing,
        requested: None,
        waiting: None,
        last_shown: TargetId::default(),
        is_dirty: true,
        cancelled: 0,
        options,
    };
    while map.window.is_open() {
        map.choose_pacing();
        map.draw_all()?;
        let until = map.zooming.ends();
        map.window.wait(until)?;
        map.handle_events();
    }
    map.figures.report("map");
    Ok(())
}

impl MapExample {
    fn handle_events(&mut self) {
        for input in self.window.inputs() {
            match input {
                WindowInput::Key(P) => {
                    self.chosen = match self.chosen {
                        None => Some(ExamplePacing::Vsync),
                        Some(ExamplePacing::Ahead) => None,
                        Some(mode) => Some(mode.next()),
                    };
                    self.is_dirty = true;
                }
                input => self.zooming.input(input),
            }
        }
        if self.zooming.end(self.window.pacer.now()) {
            // The fingers rest, so frames that were drawn for further motion are wrong.
            self.window.pacer.cancel_from(TargetId(self.last_shown.0 + 1));
            self.waiting = None;
            self.is_dirty = true;
        }
        while let Some(event) = self.window.pacer.next_event() {
            self.figures.event(&event);
            match event {
                PacerEvent::Ended { target, outcome } if outcome.refreshes_late(&target).is_some() => {
                    self.last_shown = self.last_shown.max(target.id);
                }
                PacerEvent::Cancelled { .. } => self.cancelled += 1,
                PacerEvent::Effective(_) => self.is_dirty = true,
                _ => {}
            }
        }
    }

    /// Requests the pacing that suits the gesture, from the next frame on.
    fn choose_pacing(&mut self) {
        let suits = if self.zooming.is_going_on() { ExamplePacing::Ahead } else { ExamplePacing::JustInTime };
        let mode = self.chosen.unwrap_or(suits);
        if self.requested.replace(mode) != Some(mode) {
            self.window.pacer.set_options(mode.options(self.options.ahead));
            self.is_dirty = true;
        }
    }

    fn draw_all(&mut self) -> anyhow::Result<()> {
        loop {
            if self.is_dirty || self.zooming.moves(self.window.pacer.now()) {
                self.window.pacer.request_frame();
            } else {
                self.figures.paused();
            }
            let Some(target) = self.waiting.take().or_else(|| self.window.pacer.next_target()) else { return Ok(()) };
            let Some(buffer) = self.window.screen.free.take(Duration::ZERO) else {
                self.waiting = Some(target);
                return Ok(());
            };
            self.figures.begun(target, self.window.pacer.now());
            self.figures.committed += 1;
            self.draw(target.present);
            self.window.screen.show(buffer, &self.picture, &self.window.pacer, target)?;
        }
    }

    /// Draws the picture for `present`.
    fn draw(&mut self, present: Instant) {
        let view = self.zooming.view(present);
        // Tiles that are still missing need another frame.
        self.is_dirty = !self.tiles.draw(&mut self.picture, view);
        let lines = [
            pacing_text(self.window.pacer.effective()),
            self.figures.text(),
            format!("zoom {:.2}   called back {}", view.zoom, self.cancelled),
            "P pacing   Q end".to_owned(),
        ];
        for (line, text) in lines.iter().enumerate() {
            self.picture.text((16, 16 + line as i32 * (LETTER + 8)), text, 0x00d0_d8e0);
        }
    }
}
