//! Scroll views that the compositor moves, in virtual time: visible rows, and events to their clients.

mod changing;
mod clicks;
mod client_connection;
mod contents;
mod errors;
mod fling_disturbances;
mod global;
mod input;
mod library;
mod moving;
mod nested;
mod on_planes;
mod rendered_ahead;
mod stretched;
mod upload;
mod wanted_rows;

use upbeat::input::{InputEvent, ScrollAxis, ScrollSource};
use upbeat_timing::time::{Instant, Span};
use wayland_client::protocol::wl_shm;
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::RED;
use crate::fixture::scroll::{Axes, Behavior, Inputs, UpbeatScrollContentV1, UpbeatScrollViewV1};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

/// Size of the view; its background is red.
const VIEW: (i32, i32) = (200, 100);
/// Rows of the first tile.
const ROWS: i32 = 400;
/// Rows of the document.
const DOCUMENT: i32 = 4_000;
/// Report interval of a touchpad (125 Hz).
const TOUCHPAD: Span = Span::from_millis(8);

const REFRESH: Span = Span::from_micros(16_667);

struct ScrollStage {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    view: UpbeatScrollViewV1,
    tile: WlSurface,
    content: UpbeatScrollContentV1,
    serial: u32,
}

impl ScrollStage {
    /// A window that is a view of a document; the first rows are rendered. The colour of each row is its number.
    fn new() -> Self {
        Self::on(&[60_000])
    }

    /// The same on the first of several outputs with these refresh rates (mHz).
    fn on(rates: &[u32]) -> Self {
        Self::shown_by(TestWorld::simulated(rates))
    }

    fn shown_by(mut world: TestWorld) -> Self {
        upbeat::protocol::scroll::offer(&mut world.state, true);
        let (client, window) = world.open_filled("view", VIEW, RED);
        let view = world.client(client).view(&window.surface);
        view.set_document(0, 0, VIEW.0, DOCUMENT);
        view.set_axes(Axes::Vertical);
        view.set_inputs(Inputs::Wheel | Inputs::Finger | Inputs::Drag);
        let (tile, _) = world.client(client).subsurface(&window.surface);
        let content = world.client(client).content(&view, &tile);
        let mut stage = ScrollStage { world, client, window, view, tile, content, serial: 0 };
        stage.render(0, ROWS);
        stage.rest();
        stage
    }

    /// Replaces the rendered rows of the document by these, and commits the view.
    fn render(&mut self, first: i32, rows: i32) {
        let (tile, content) = (self.tile.clone(), self.content.clone());
        fill(&mut self.world, self.client, &tile, first, rows);
        content.set_position(0, first);
        self.window.surface.commit();
    }

    fn rest(&mut self) {
        self.world.settle();
        self.run(REFRESH * 6);
    }

    fn run(&mut self, span: Span) {
        self.world.run_for(span, &mut |_| None);
    }

    /// Document row that is visible in line `y` of the view, or another colour's value.
    fn row_at(&self, y: i32) -> i32 {
        let origin = self.world.window("view").origin();
        self.world.pixel(origin.x + 10, origin.y + y) as i32
    }

    fn scroll_to(&mut self, y: i32, behavior: Behavior) {
        self.serial += 1;
        self.view.scroll_to(0, y, behavior, self.serial);
    }

    /// Moves the pointer to the middle of the view.
    fn point(&mut self) {
        let origin = self.world.window("view").origin();
        self.world.point(f64::from(origin.x + 100), f64::from(origin.y + 50));
    }

    /// Scrolls with fingers, `pixels` every 8 ms for `times` reports, and lifts them. Calls `see` in every turn.
    fn swipe(&mut self, times: i64, pixels: f64, see: &mut dyn FnMut(&TestWorld)) {
        let start = self.world.now();
        let mut sent = 0;
        self.world.run_for(TOUCHPAD * (times + 1) + Span::from_millis(1), &mut |world| {
            see(world);
            let due = start + TOUCHPAD * (sent + 1);
            if world.now() < due {
                return Some(due);
            }
            sent += 1;
            let stop = sent > times;
            let distance = if stop { 0.0 } else { pixels };
            fingers(world, due, distance, stop);
            Some(due + TOUCHPAD)
        });
    }

    fn error(&mut self) -> Option<(String, u32)> {
        self.world.settle();
        self.world.client(self.client).error.clone()
    }
}

/// Commits rows of the document to a surface.
fn fill(world: &mut TestWorld, client: ClientIndex, tile: &WlSurface, first: i32, rows: i32) {
    let pixels: Vec<u32> = (first..first + rows).flat_map(|row| [row as u32; VIEW.0 as usize]).collect();
    let buffer = world.client(client).buffer_of_pixels(10, wl_shm::Format::Xrgb8888, VIEW.0, rows, &pixels);
    tile.attach(Some(&buffer), 0, 0);
    tile.damage_buffer(0, 0, i32::MAX, i32::MAX);
    tile.commit();
}

fn fingers(world: &mut TestWorld, time: Instant, distance: f64, stop: bool) {
    let vertical = ScrollAxis { distance, stop, ..ScrollAxis::default() };
    world.input(InputEvent::Axis { time, source: ScrollSource::Finger, horizontal: ScrollAxis::default(), vertical });
}

fn wheel(world: &mut TestWorld, notches: i32) {
    let vertical =
        ScrollAxis { distance: 15.0 * f64::from(notches), v120: Some(120 * notches), ..ScrollAxis::default() };
    let (time, horizontal) = (world.now(), ScrollAxis::default());
    world.input(InputEvent::Axis { time, source: ScrollSource::Wheel, horizontal, vertical });
}
