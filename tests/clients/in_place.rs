//! Small changes near the pointer are written into the buffer on screen, ahead of the beam: their latency at every
//! height of the screen. Each row shows only whole content, never older than before.

mod app_rules;
mod bad_input;
mod bad_input_above;
mod input_area;
mod late_writes;
mod misses;
mod output_rules;

use upbeat::backend::headless::OutputOptions;
use upbeat::backend::headless::record::{LoggedSample, ProbeLog};
use upbeat::output::in_place;
use upbeat::render::Renderer;
use upbeat_timing::time::{Instant, Span};
use wayland_client::protocol::wl_shm::Format;

use crate::fixture::content::ContentEvent;
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

/// Size of the window, and its rectangle that changes: within 200 × 200 pixels around the pointer.
const WINDOW: (i32, i32) = (220, 160);
const INK: (i32, i32, i32, i32) = (80, 50, 60, 60);
const PAPER: u32 = 0x20_2020;
/// Time between two pointer events.
const SAMPLE: Span = Span::from_millis(1);
/// Time from the callback to the commit.
const COST: Span = Span::from_millis(2);
const INTERVAL: Span = Span::from_nanos(16_666_667);
/// The pacer learns in this time.
const WARM_UP: Span = Span::from_millis(600);
const MEASURED: Span = Span::from_millis(1_500);

/// A session whose client draws the number of the newest pointer event at the pointer.
struct InPlaceSession {
    world: TestWorld,
    artist: InPlaceClient,
}

/// The pointer and the client that draws at it.
struct InPlaceClient {
    client: ClientIndex,
    window: TestToplevel,
    corner: (i32, i32),
    /// Times of the events, which are counted from 1.
    events: Vec<Instant>,
    /// Time from the callback to the commit of each frame, counted from 1.
    cost: fn(u32) -> Span,
    frames: u32,
    /// The number being drawn, and when it will be committed.
    drawing: Option<(u32, Instant)>,
    called: usize,
}

fn options() -> OutputOptions {
    OutputOptions { front_buffer: true, cursor_plane: Some((64, 64)), ..OutputOptions::default() }
}

impl InPlaceSession {
    fn new(top: i32, on: bool) -> Self {
        Self::on(options(), top, on)
    }

    /// As [`new`](Self::new), on a display with these options.
    fn on(options: OutputOptions, top: i32, on: bool) -> Self {
        Self::in_world(TestWorld::rendered_on(options), top, on)
    }

    /// The same in this session without windows.
    fn in_world(mut world: TestWorld, top: i32, on: bool) -> Self {
        in_place::set_enabled(&mut world.state, on);
        let (client, window) = world.open("ink", WINDOW.0, WINDOW.1);
        let corner = (400, top);
        world.move_window("ink", corner);
        world.run_until_idle();
        let mut artist = InPlaceClient {
            client,
            window,
            corner,
            events: Vec::new(),
            cost: |_| COST,
            frames: 0,
            drawing: None,
            called: 0,
        };
        artist.sample(&mut world);
        artist.draw(&mut world, 1);
        InPlaceSession { world, artist }
    }

    /// Moves the pointer and lets the client draw for `span`.
    fn run(&mut self, span: Span) {
        let InPlaceSession { world, artist } = self;
        world.run_for(span, &mut |world| Some(artist.act(world)));
    }

    fn probe(&mut self) -> ProbeLog {
        let ((x, y, _, height), corner) = (INK, self.artist.corner);
        self.world.probe((corner.0 + x + 2, corner.1 + y, 2, height))
    }

    /// How many writes were lit in the next 0.2 s.
    fn written(&mut self) -> u64 {
        let before = self.counts();
        self.run(Span::from_millis(200));
        self.counts().lit - before.lit
    }

    fn counts(&self) -> in_place::InPlaceCounts {
        self.world.output(0).in_place().counts()
    }

    /// The samples of the probe in `span`, with their numbers. Each shows one number, none older than the number
    /// before.
    fn samples(&mut self, span: Span) -> Vec<(LoggedSample, u32)> {
        let log = self.probe();
        self.run(span);
        let mut last = 0;
        std::iter::from_fn(|| log.pop())
            .map(|sample| {
                let number = sample.pixels[0] & 0x00ff_ffff;
                assert!(sample.pixels.iter().all(|pixel| pixel & 0x00ff_ffff == number), "torn: {:?}", sample.pixels);
                assert!(number >= last, "{last} was seen before {number}");
                last = number;
                (sample, number)
            })
            .collect()
    }
}

impl InPlaceClient {
    /// Moves the pointer slightly in the rectangle that changes.
    fn sample(&mut self, world: &mut TestWorld) {
        self.events.push(world.now());
        let tremble = f64::from(self.events.len() as u32 % 3);
        let (x, y, width, height) = INK;
        let place = (self.corner.0 + x + width / 2, self.corner.1 + y + height / 2);
        world.point(f64::from(place.0) + tremble, f64::from(place.1));
    }

    fn draw(&mut self, world: &mut TestWorld, event: u32) {
        self.frames += 1;
        let (x, y, width, height) = INK;
        let inside = |at: i32| {
            let (column, row) = (at % WINDOW.0, at / WINDOW.0);
            (x..x + width).contains(&column) && (y..y + height).contains(&row)
        };
        let pixels: Vec<u32> = (0..WINDOW.0 * WINDOW.1).map(|at| if inside(at) { event } else { PAPER }).collect();
        let client = world.client(self.client);
        let buffer = client.buffer_of_pixels(self.frames, Format::Xrgb8888, WINDOW.0, WINDOW.1, &pixels);
        self.window.surface.attach(Some(&buffer), 0, 0);
        self.window.surface.damage_buffer(x, y, width, height);
        client.request_feedback(&self.window.surface, self.frames);
        self.window.surface.commit();
    }

    /// Does the actions that are due. Returns the time of the next.
    fn act(&mut self, world: &mut TestWorld) -> Instant {
        let now = world.now();
        if self.drawing.is_some_and(|(_, done)| done <= now)
            && let Some((event, _)) = self.drawing.take()
        {
            self.draw(world, event);
        }
        if *self.events.last().unwrap() + SAMPLE <= now {
            self.sample(world);
        }
        let called = world.client(self.client).count_content_events(|heard| matches!(heard, ContentEvent::Callback(_)));
        if called > self.called && self.drawing.is_none() {
            self.called = called;
            self.drawing = Some((self.events.len() as u32, now + (self.cost)(self.frames + 1)));
        }
        let next = *self.events.last().unwrap() + SAMPLE;
        self.drawing.map_or(next, |(_, done)| done.min(next))
    }
}

fn median(mut spans: Vec<Span>) -> Span {
    spans.sort_unstable();
    spans[spans.len() / 2]
}

/// The median time from an event to its row, and the median age of rows when lit.
fn figures(ink: &mut InPlaceSession) -> (Span, Span) {
    ink.run(WARM_UP);
    let first = ink.artist.events.len() as u32 + 1;
    let samples = ink.samples(MEASURED);
    assert!(samples.len() > 80, "a picture for nearly every refresh: {}", samples.len());
    let last = samples.last().unwrap().1;
    let of = |event: u32| ink.artist.events[event as usize - 1];
    let answered = (first..=last).map(|event| {
        let (sample, _) = samples.iter().find(|(_, number)| *number >= event).unwrap();
        sample.light - of(event)
    });
    let ages = samples.iter().filter(|(_, number)| *number >= first).map(|(sample, number)| sample.light - of(*number));
    (median(answered.collect()), median(ages.collect()))
}

#[test]
fn in_place_event_to_row_latency_is_low_at_every_height() {
    let bound = COST + Span::from_micros(300) + Span::from_millis(1) + INTERVAL / 2 + Span::from_millis(2);
    for top in [20, 280, 540] {
        let (mut with, mut without) = (InPlaceSession::new(top, true), InPlaceSession::new(top, false));
        let (row, age) = figures(&mut with);
        let (whole_row, whole_age) = figures(&mut without);
        println!("at {top}: {row} and {age} in place, {whole_row} and {whole_age} in whole pictures");
        assert!(row <= bound, "{row} at {top}");
        assert!(age <= COST + Span::from_millis(3), "{age} at {top}");
        assert!(row <= whole_row && age <= whole_age);
        // The time that the beam needs to reach the row is saved, less the extra cost of composing a whole frame.
        let way = Span::from_millis(16).scale(i64::from(top + INK.1), 720);
        assert!(whole_age - age >= way - Span::from_millis(1), "{whole_age} and {age} at {top}");
        let counts = with.counts();
        assert!(counts.lit > 100 && counts.torn == 0, "{counts:?}");
        assert_eq!(without.counts(), in_place::InPlaceCounts::default());
    }
}

/// Without a refresh that begins in time for the row, the beam's way is added to the latency of rows below the top.
#[test]
fn variable_refresh_begins_so_that_the_beam_meets_the_row() {
    // 48 to 144 Hz. The virtual panel needs nearly all of the shortest interval for its rows.
    let (shortest, longest) = (Span::from_millihertz(144_000), Span::from_millihertz(48_000));
    let variable = OutputOptions { variable_refresh: Some((shortest, longest)), ..options() };
    let app_and_output = COST + Span::from_micros(300) + Span::from_micros(1_700);
    for top in [20, 280, 540] {
        let world = || TestWorld::rendered_at(144_000, variable.clone(), Renderer::pixman().unwrap());
        let mut with = InPlaceSession::in_world(world(), top, true);
        let mut without = InPlaceSession::in_world(world(), top, false);
        let (row, age) = figures(&mut with);
        let (whole_row, whole_age) = figures(&mut without);
        println!(
            "at {top}: {row} and {age} in place, {whole_row} and {whole_age} in whole pictures, {:?}",
            with.counts()
        );
        // The bound of line 0 holds for the rows near it.
        assert!(top > 200 || row <= app_and_output.scale(3, 2) + Span::from_millis(1), "{row} at {top}");
        // Below, the beam's way is saved: the client's cost, its margin and the time of a write are left. A row near the
        // bottom needs a refresh that begins before the client is called back.
        assert!(top < 200 || age <= COST + Span::from_micros(2_500), "{age} at {top}");
        assert!(age <= whole_age && row <= whole_row, "{age} and {row} at {top}");
        assert!(top < 200 || whole_age - age >= Span::from_micros(1_500), "{whole_age} and {age} at {top}");
        assert_eq!(with.counts().torn, 0);
        assert!(top < 200 || with.counts().lit > 100, "{:?}", with.counts());
    }
}

#[test]
fn in_place_feedback_has_the_time_of_the_row() {
    let mut ink = InPlaceSession::new(540, true);
    ink.run(WARM_UP);
    let log = ink.probe();
    ink.run(Span::from_millis(300));
    let lights: Vec<Instant> = std::iter::from_fn(|| log.pop()).map(|sample| sample.light).collect();
    let told: Vec<Instant> = (1..=ink.artist.frames).filter_map(|frame| light_of(&mut ink, frame)).collect();
    // Feedback of the last commit may be missing.
    let known = lights.iter().filter(|light| told.contains(light)).count();
    assert!(lights.len() > 15 && known + 2 >= lights.len(), "{known} of {}", lights.len());
    for pair in told.windows(2) {
        assert!(pair[0] < pair[1], "{pair:?}");
    }
}

fn light_of(ink: &mut InPlaceSession, frame: u32) -> Option<Instant> {
    let client = ink.artist.client;
    ink.world.client(client).light(frame).map(|(time, _)| time)
}

#[test]
fn changes_far_from_the_pointer_or_covered_or_paced_by_vsync_are_composed() {
    let mut ink = InPlaceSession::new(280, true);
    ink.run(WARM_UP);
    assert!(ink.written() > 8);
    // The pointer moves away.
    ink.artist.corner = (700, 20);
    assert!(ink.written() <= 1, "more than the write in progress");
    ink.artist.corner = (400, 280);
    assert!(ink.written() > 8);
    // A window is placed above.
    ink.world.open("above", 40, 40);
    ink.world.move_window("above", (400 + INK.0 + 10, 280 + INK.1 + 10));
    ink.world.run_until_idle();
    assert!(ink.written() <= 1, "more than the write in progress");
    ink.world.move_window("above", (0, 0));
    ink.world.run_until_idle();
    assert!(ink.written() > 8);
    in_place::set_enabled(&mut ink.world.state, false);
    assert!(ink.written() <= 1, "more than the write in progress");
    in_place::set_enabled(&mut ink.world.state, true);
    ink.world.state.outputs.rules_mut().set_default(upbeat_timing::pacing::PacingWish::Vsync);
    ink.world.state.outputs.rules_mut().mark_all_stale();
    assert!(ink.written() <= 1, "more than the write in progress");
}

#[test]
fn in_place_writes_show_no_older_content_while_other_windows_draw() {
    for top in [20, 280, 540] {
        let mut ink = InPlaceSession::new(top, true);
        let (other, window) = ink.world.open("other", 60, 60);
        ink.world.move_window("other", (20, 20));
        ink.run(WARM_UP);
        let log = ink.probe();
        let mut frame = 0;
        let InPlaceSession { world, artist } = &mut ink;
        world.run_for(MEASURED, &mut |world| {
            // The other client draws for every refresh, so that every refresh composes a whole frame.
            if frame == 0 || world.client(other).has_received(ContentEvent::Callback(frame)) {
                frame += 1;
                world.client(other).draw(&window.surface, frame, (60, 60), frame);
                window.surface.commit();
            }
            Some(artist.act(world))
        });
        let mut last = 0;
        while let Some(sample) = log.pop() {
            let number = sample.pixels[0] & 0x00ff_ffff;
            assert!(sample.pixels.iter().all(|pixel| pixel & 0x00ff_ffff == number), "torn: {:?}", sample.pixels);
            assert!(number >= last, "{last} was seen before {number}");
            last = number;
        }
        assert!(frame > 80, "the other client had {frame} frames");
        println!("at {top}: {:?}", ink.counts());
        assert_eq!(ink.counts().torn, 0);
        assert!(top < 200 || ink.counts().lit > 60, "too few writes between frames: {:?}", ink.counts());
    }
}
