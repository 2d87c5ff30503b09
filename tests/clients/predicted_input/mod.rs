//! `upbeat_predicted_input_v1`: predicted positions of pointer, touch and pen, and event times in nanoseconds.

mod lifetime;
mod strokes;
mod timestamps;

use upbeat::input::{self, InputEvent};
use upbeat::ipc::injected_input::device_events;
use upbeat_record::ipc::message::input::InputEvent as Injected;
use upbeat_timing::time::{Instant, Span};

use crate::fixture::content::ContentEvent;
use crate::fixture::predicted_input::{ReceivedPrediction, UpbeatPredictedInputV1};
use crate::fixture::{ClientIndex, SMALL, TestToplevel, TestWorld};

/// Report interval of the device in these tests: slower than a mouse, faster than a touch screen.
const REPORTS: Span = Span::from_millis(4);
/// Rounding to 24.8 fixed point, and half a pixel that is not visible.
const TOLERANCE: f64 = 0.5;

/// A window that covers the screen and draws at each frame callback.
struct StrokeWindow {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    frames: u32,
}

impl StrokeWindow {
    fn new() -> Self {
        let mut world = TestWorld::simulated(&[60_000]);
        let (client, window) = world.open("sheet", SMALL.0, SMALL.1);
        let mut sheet = StrokeWindow { world, client, window, frames: 0 };
        sheet.draw();
        sheet.world.run_until_idle();
        sheet
    }

    fn predicted(&mut self) -> UpbeatPredictedInputV1 {
        let surface = self.window.surface.clone();
        let object = self.world.client(self.client).predicted_input(&surface);
        self.world.settle();
        object
    }

    fn draw(&mut self) {
        self.frames += 1;
        let (surface, number) = (self.window.surface.clone(), self.frames);
        self.world.client(self.client).draw(&surface, number, SMALL, number);
        surface.commit();
    }

    /// Origin of the surface in global coordinates.
    fn origin(&self) -> (f64, f64) {
        let origin = self.world.window("sheet").origin();
        (f64::from(origin.x), f64::from(origin.y))
    }

    /// For `span`, injects the input that `report` gives for the elapsed time, at each [`REPORTS`]; the client draws.
    /// Returns the start.
    fn play(&mut self, span: Span, mut report: impl FnMut(Span) -> Vec<Injected>) -> Instant {
        let start = self.world.now();
        let (client, surface) = (self.client, self.window.surface.clone());
        let mut next = start;
        let frames = &mut self.frames;
        self.world.run_for(span, &mut |world| {
            while next <= world.now() {
                for event in report(next - start).into_iter().flat_map(|event| device_events(event, next)) {
                    input::handle(&mut world.state, event);
                }
                next += REPORTS;
            }
            if world.client(client).has_received(ContentEvent::Callback(*frames)) {
                *frames += 1;
                world.client(client).draw(&surface, *frames, SMALL, *frames);
                surface.commit();
            }
            Some(next)
        });
        start
    }

    fn predictions(&mut self) -> Vec<ReceivedPrediction> {
        self.world.client(self.client).predictions()
    }
}

/// The pointer moves right and down, a quarter of a pixel per millisecond.
fn stroke(origin: (f64, f64)) -> impl FnMut(Span) -> Vec<Injected> {
    move |since| {
        let (x, y) = on_stroke(since.as_millis_f64());
        vec![Injected::PointerMove { x: origin.0 + x, y: origin.1 + y }]
    }
}

fn on_stroke(millis: f64) -> (f64, f64) {
    (10.0 + 0.25 * millis, 20.0 + 0.125 * millis)
}

/// Checks that each prediction is the position of the stroke, begun at `start`, when its frame was presented.
#[track_caller]
fn follow_the_stroke(predictions: &[ReceivedPrediction], start: Instant) {
    for said in predictions {
        let (x, y) = on_stroke((said.present - start).as_millis_f64());
        let (off_x, off_y) = ((said.x - x).abs(), (said.y - y).abs());
        assert!(off_x <= said.error.0 + TOLERANCE && off_y <= said.error.1 + TOLERANCE, "{said:?}, it was at {x} {y}");
    }
}

fn device_event(world: &mut TestWorld, event: Injected) {
    let time = world.now();
    let events: Vec<InputEvent> = device_events(event, time).collect();
    events.into_iter().for_each(|event| world.input(event));
}
