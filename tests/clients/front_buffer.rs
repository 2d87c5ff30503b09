//! Front buffer rendering ahead of the beam (`upbeat_late_latch_v1`): its latency at every height of the screen. While
//! a client keeps the time of the beam, each row shows only whole content, never older than before. Clients that miss
//! the beam tear only their own pixels.

mod random;
mod revoked;

use upbeat::backend::headless::OutputOptions;
use upbeat::backend::headless::record::ProbeLog;
use upbeat::config::FrontBufferOption;
use upbeat::output::clients::front_buffer;
use upbeat::output::in_place;
use upbeat::output::power;
use upbeat::protocol::late_latch;
use upbeat_timing::time::{Instant, Span};
use wayland_client::Proxy;

use crate::capture::{capture_buffer, pixel, ready_and_failed, request_pictures};
use crate::fixture::content::{BLUE, ContentEvent, GREEN};
use crate::fixture::late_latch::{
    FrontBufferEvent, Reason, UpbeatFrontBufferV1, UpbeatLateLatchManagerV1, WritableBuffer,
};
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

const WINDOW: (i32, i32) = (220, 160);
const INK: (i32, i32, i32, i32) = (80, 50, 60, 60);
const LEFT: i32 = 400;
/// Time between two pointer events.
const SAMPLE: Span = Span::from_millis(1);
/// Drawing time of a frame.
const COST: Span = Span::from_millis(2);
/// The client is done this long before the beam arrives.
const SPARE: Span = Span::from_micros(300);
const INTERVAL: Span = Span::from_nanos(16_666_667);
const MEASURED: Span = Span::from_millis(1_500);
const A_WHILE: Span = Span::from_millis(100);

/// A window whose client writes into it while it is on screen.
struct FrontBufferWindow {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    canvas: WritableBuffer,
    front: UpbeatFrontBufferV1,
}

impl FrontBufferWindow {
    fn new(top: i32) -> Self {
        let options = OutputOptions { front_buffer: true, cursor_plane: Some((64, 64)), ..OutputOptions::default() };
        let mut world = TestWorld::rendered_on(options);
        late_latch::offer(&mut world.state, true);
        front_buffer::set_enabled(&mut world.state, true);
        let (client, window) = world.open("ink", WINDOW.0, WINDOW.1);
        world.move_window("ink", (LEFT, top));
        world.run_until_idle();
        let canvas = world.client(client).canvas(WINDOW, 0);
        let front = world.client(client).front_buffer(&window.surface);
        let mut stage = FrontBufferWindow { world, client, window, canvas, front };
        stage.share(INK);
        stage
    }

    /// Commits the canvas and requests to share this rectangle of it.
    fn share(&mut self, (x, y, width, height): (i32, i32, i32, i32)) {
        self.front.share(x, y, width, height);
        self.window.surface.attach(Some(&self.canvas.buffer), 0, 0);
        self.window.surface.damage_buffer(0, 0, WINDOW.0, WINDOW.1);
        self.window.surface.commit();
        self.pass();
    }

    fn pass(&mut self) {
        self.world.run_for(A_WHILE, &mut nothing);
    }

    fn take_front_buffer_events(&mut self) -> Vec<FrontBufferEvent> {
        std::mem::take(&mut self.world.client(self.client).data.front_buffer_events)
    }

    /// The events since the last call, without `Scan`.
    fn take_events_without_scan(&mut self) -> Vec<FrontBufferEvent> {
        self.take_front_buffer_events()
            .into_iter()
            .filter(|told| !matches!(told, FrontBufferEvent::Scan { .. }))
            .collect()
    }

    /// Acknowledges the newest `inactive`, if any, so that the front buffer becomes active again.
    fn acknowledge_inactive(&mut self) {
        let ended = self.world.client(self.client).data.front_buffer_events.iter().rev().find_map(|told| match told {
            FrontBufferEvent::Inactive(serial, _) => Some(*serial),
            _ => None,
        });
        ended.into_iter().for_each(|serial| self.front.ack_inactive(serial));
        self.pass();
        assert_eq!(self.shared(), 1);
    }

    fn probe(&mut self, top: i32) -> ProbeLog {
        let (x, y, _, height) = INK;
        self.world.probe((LEFT + x + 2, top + y, 2, height))
    }

    fn shared(&self) -> usize {
        self.world.state.outputs.shared()
    }

    fn error(&mut self) -> Option<(String, u32)> {
        self.pass();
        self.world.client(self.client).error.clone()
    }
}

/// A pointer, and a client that writes the number of the newest event just ahead of the beam.
struct BeamRacingClient {
    /// Times of the events, which are counted from 1.
    events: Vec<Instant>,
    interval: Span,
    /// The client is done this long before the beam arrives.
    spare: Span,
    /// The number being drawn, and when it will be written.
    writing: Option<(u32, Instant)>,
    next: Instant,
    written: u32,
    /// The number written last.
    newest: u32,
}

impl BeamRacingClient {
    fn new(stage: &mut FrontBufferWindow) -> Self {
        let told = stage.take_front_buffer_events();
        let scan = told.iter().rev().find_map(|told| match told {
            FrontBufferEvent::Scan { anchor, interval, line, first_line } => {
                Some((*anchor, *interval, *line, *first_line))
            }
            _ => None,
        });
        let (anchor, interval, line, first_line) = scan.unwrap_or_else(|| panic!("{told:?}"));
        assert!(matches!(told.last(), Some(FrontBufferEvent::Active(_))), "{told:?}");
        let read = anchor + line * i64::from(first_line);
        let now = stage.world.now();
        let next = read + interval * ((now - read).as_nanos() / interval.as_nanos() + 2);
        BeamRacingClient { events: vec![now], interval, spare: SPARE, writing: None, next, written: 0, newest: 0 }
    }

    /// Does the actions that are due. Returns the time of the next.
    fn act(&mut self, world: &mut TestWorld, canvas: &WritableBuffer, front: &UpbeatFrontBufferV1) -> Instant {
        let now = world.now();
        if *self.events.last().unwrap() + SAMPLE <= now {
            self.events.push(now);
        }
        if let Some((event, _)) = self.writing.filter(|(_, done)| *done <= now) {
            (self.writing, self.newest) = (None, event);
            canvas.fill(INK, event);
            self.written += 1;
            let (x, y, width, height) = INK;
            front.written(self.written, x, y, width, height);
            self.next += self.interval;
        }
        let begin = self.next - self.spare - COST;
        if self.writing.is_none() && begin <= now {
            self.writing = Some((self.events.len() as u32, now + COST));
        }
        let then = self.writing.map_or(begin, |(_, done)| done);
        then.min(*self.events.last().unwrap() + SAMPLE)
    }
}

/// Runs pointer and client for `span`, calling `others` before each turn.
fn run(
    stage: &mut FrontBufferWindow,
    artist: &mut BeamRacingClient,
    span: Span,
    mut others: impl FnMut(&mut TestWorld),
) {
    let FrontBufferWindow { world, canvas, front, .. } = stage;
    world.run_for(span, &mut |world| {
        others(world);
        Some(artist.act(world, canvas, front))
    });
}

/// For each sample: its newest number and when its first row was lit. Also the number of torn samples.
fn samples(log: &ProbeLog) -> (Vec<(u32, Instant)>, usize) {
    let (mut samples, mut torn, mut last) = (Vec::new(), 0, 0);
    while let Some(sample) = log.pop() {
        let number = sample.pixels[0] & 0x00ff_ffff;
        torn += usize::from(sample.pixels.iter().any(|pixel| pixel & 0x00ff_ffff != number));
        assert!(number >= last, "{last} was seen before {number}");
        last = number;
        samples.push((number, sample.light));
    }
    (samples, torn)
}

fn median(mut spans: Vec<Span>) -> Span {
    spans.sort_unstable();
    spans[spans.len() / 2]
}

#[test]
fn event_to_row_latency_is_equal_at_every_height_and_light_events_match_the_display() {
    let bound = COST + Span::from_micros(300) + Span::from_millis(1) + INTERVAL / 2 + Span::from_millis(2);
    for top in [20, 280, 540] {
        let mut stage = FrontBufferWindow::new(top);
        let mut artist = BeamRacingClient::new(&mut stage);
        run(&mut stage, &mut artist, Span::from_millis(100), |_| {});
        let log = stage.probe(top);
        let (first, frames) = (artist.events.len(), stage.world.output(0).latches());
        run(&mut stage, &mut artist, MEASURED, |_| {});
        assert_eq!(stage.world.output(0).latches(), frames, "nothing is drawn");
        let (samples, torn) = samples(&log);
        assert_eq!(torn, 0);
        assert!(samples.len() > 85, "a picture for every refresh: {}", samples.len());
        let last = samples.last().unwrap().0 as usize;
        let of = |event: usize| artist.events[event - 1];
        let row = (first + 1..=last).map(|event| {
            let (_, light) = samples.iter().find(|(number, _)| *number as usize >= event).unwrap();
            *light - of(event)
        });
        let row = median(row.collect());
        let known = samples.iter().filter(|(number, _)| *number as usize > first);
        let age = median(known.map(|(number, light)| *light - of(*number as usize)).collect());
        println!("at {top}: {row}, {age} old");
        assert!(row <= bound, "{row} at {top}");
        assert!(age <= COST + Span::from_millis(3), "{age} at {top}");
        let told = stage.take_front_buffer_events();
        assert!(
            !told.iter().any(|told| matches!(told, FrontBufferEvent::Missed(_) | FrontBufferEvent::Inactive(..))),
            "{told:?}"
        );
        let lights: Vec<Instant> = told
            .iter()
            .filter_map(|told| if let FrontBufferEvent::Light(_, at) = told { Some(*at) } else { None })
            .collect();
        assert!(lights.len() as u32 + 2 >= artist.written, "{} of {}", lights.len(), artist.written);
        let seen = samples.iter().skip(1).filter(|(_, light)| lights.contains(light)).count();
        assert!(seen + 2 >= samples.len(), "{seen} of {}", samples.len());
    }
}

#[test]
fn front_buffer_shows_no_older_content_while_other_windows_draw() {
    for top in [20, 540] {
        let mut stage = FrontBufferWindow::new(top);
        let (other, window) = stage.world.open("other", 60, 60);
        stage.world.move_window("other", (20, 20));
        stage.pass();
        stage.acknowledge_inactive();
        let mut artist = BeamRacingClient::new(&mut stage);
        let log = stage.probe(top);
        let mut frame = 0;
        run(&mut stage, &mut artist, MEASURED, |world| {
            if frame == 0 || world.client(other).has_received(ContentEvent::Callback(frame)) {
                frame += 1;
                world.client(other).draw(&window.surface, frame, (60, 60), frame);
                window.surface.commit();
            }
        });
        let (samples, torn) = samples(&log);
        assert!(frame > 80 && samples.len() > 80, "{frame} frames, {} samples", samples.len());
        assert_eq!((torn, stage.shared()), (0, 1));
        // A window is placed above: composition must show the newest pixels beside it, not older ones.
        stage.world.open_filled("above", (30, 30), GREEN);
        stage.world.move_window("above", (LEFT + INK.0 + 20, top + INK.1 + 20));
        stage.pass();
        assert_eq!(stage.shared(), 0);
        let shown = stage.world.pixel(LEFT + INK.0 + 2, top + INK.1 + 2);
        assert!(artist.written > 80);
        assert_eq!(shown, artist.newest, "an older picture is shown");
    }
}

#[test]
fn client_that_misses_the_beam_tears_only_its_own_pixels() {
    let mut stage = FrontBufferWindow::new(280);
    let mut artist = BeamRacingClient::new(&mut stage);
    // The client writes while the beam is in the middle of the rectangle.
    artist.spare = -Span::from_micros(700);
    let log = stage.probe(280);
    let beside = stage.world.probe((LEFT + 10, 280 + INK.1, 2, INK.3));
    run(&mut stage, &mut artist, MEASURED, |_| {});
    let (mut torn, mut all) = (0, 0);
    while let Some(sample) = log.pop() {
        all += 1;
        torn += usize::from(sample.pixels.iter().any(|pixel| *pixel != sample.pixels[0]));
    }
    assert!(torn > 40, "{torn} of {all}");
    assert!(std::iter::from_fn(|| beside.pop()).count() <= 1);
    // No `Light` has a time before its write.
    let lit =
        stage.take_front_buffer_events().iter().filter(|told| matches!(told, FrontBufferEvent::Light(..))).count();
    assert!(lit > 80, "rows lit a refresh later: {lit}");
}

#[test]
fn sharing_ends_on_change_and_resumes_after_acknowledgement() {
    let mut stage = FrontBufferWindow::new(280);
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![FrontBufferEvent::Active(1)], 1));
    // A window is placed above the front buffer.
    stage.world.open_filled("above", (40, 40), GREEN);
    stage.world.move_window("above", (LEFT + INK.0 + 5, 280 + INK.1 + 5));
    stage.pass();
    // The window above opens with an animation, so either reason may come first.
    let told = stage.take_events_without_scan();
    assert!(matches!(told[..], [FrontBufferEvent::Inactive(1, Reason::Changed | Reason::Covered)]), "{told:?}");
    assert_eq!(stage.shared(), 0);
    stage.front.ack_inactive(1);
    stage.pass();
    assert!(
        stage.take_events_without_scan().iter().all(|told| *told == FrontBufferEvent::Inactive(1, Reason::Covered))
    );
    stage.world.move_window("above", (0, 0));
    stage.pass();
    // While the window above moves away, more events may arrive: check only the last.
    assert_eq!((stage.take_events_without_scan().last(), stage.shared()), (Some(&FrontBufferEvent::Active(2)), 1));
    stage.world.move_window("above", (LEFT + INK.0 + 5, 280 + INK.1 + 5));
    stage.pass();
    let told = stage.take_events_without_scan();
    assert!(matches!(told[..], [FrontBufferEvent::Inactive(2, Reason::Changed | Reason::Covered)]), "{told:?}");
    stage.world.move_window("above", (0, 0));
    stage.pass();
    assert_eq!(
        (stage.take_events_without_scan(), stage.shared()),
        (vec![], 0),
        "no sharing before the acknowledgement"
    );
    stage.front.ack_inactive(7);
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), []);
    stage.front.ack_inactive(2);
    stage.pass();
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![FrontBufferEvent::Active(3)], 1));
    // Moving the window ends sharing.
    stage.world.move_window("ink", (LEFT + 10, 280));
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Inactive(3, Reason::Changed)]);
    stage.front.ack_inactive(3);
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(4)]);
    // Another buffer ends sharing until the client requests it again.
    let window = stage.window.surface.clone();
    stage.world.client(stage.client).draw(&window, 5, WINDOW, BLUE);
    window.commit();
    stage.pass();
    assert_eq!(
        (stage.take_events_without_scan(), stage.shared()),
        (vec![FrontBufferEvent::Inactive(4, Reason::Buffer)], 0)
    );
    stage.front.ack_inactive(4);
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), []);
    stage.share(INK);
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![FrontBufferEvent::Active(5)], 1));
    // A commit of the same buffer does not end sharing.
    window.attach(Some(&stage.canvas.buffer), 0, 0);
    window.damage_buffer(0, 0, 5, 5);
    window.commit();
    stage.pass();
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![], 1));
    // The user switches front buffers off.
    front_buffer::set_enabled(&mut stage.world.state, false);
    stage.pass();
    assert_eq!(
        (stage.take_events_without_scan(), stage.shared()),
        (vec![FrontBufferEvent::Inactive(5, Reason::Display)], 0)
    );
    front_buffer::set_enabled(&mut stage.world.state, true);
    stage.front.ack_inactive(5);
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(6)]);
    // Destroying the object ends sharing.
    stage.front.destroy();
    stage.pass();
    assert_eq!((stage.shared(), stage.error()), (0, None));
    stage.front = stage.world.client(stage.client).front_buffer(&window);
    stage.share(INK);
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(1)]);
}

#[test]
fn sharing_ends_when_the_output_is_off_changes_mode_or_is_unplugged() {
    let mut stage = FrontBufferWindow::new(280);
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(1)]);
    let id = stage.world.output(0).id();
    power::set(&mut stage.world.state, id, false);
    stage.pass();
    assert_eq!(
        (stage.take_events_without_scan(), stage.shared()),
        (vec![FrontBufferEvent::Inactive(1, Reason::Hidden)], 0)
    );
    stage.front.ack_inactive(1);
    power::set(&mut stage.world.state, id, true);
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(2)]);
    stage.world.set_refresh("TEST-1", 75_000);
    stage.pass();
    let told = stage.take_events_without_scan();
    assert!(matches!(told[..], [FrontBufferEvent::Inactive(2, _)]), "{told:?}");
    stage.front.ack_inactive(2);
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(3)]);
    // A screenshot shows the newest pixels.
    stage.canvas.fill(INK, GREEN);
    stage.pass();
    assert_eq!(stage.world.pixel(LEFT + INK.0 + 2, 280 + INK.1 + 2), GREEN);
    stage.world.unplug("TEST-1");
    stage.pass();
    assert_eq!(stage.shared(), 0);
    assert!(stage.error().is_none());
    stage.world.kill(stage.client);
    stage.pass();
    assert_eq!(stage.shared(), 0);
}

#[test]
fn scaled_surface_is_not_shared() {
    let mut stage = FrontBufferWindow::new(280);
    stage.take_front_buffer_events();
    stage.window.surface.set_buffer_scale(2);
    stage.share(INK);
    assert_eq!(
        (stage.take_events_without_scan(), stage.shared()),
        (vec![FrontBufferEvent::Inactive(1, Reason::Changed)], 0)
    );
    stage.window.surface.set_buffer_scale(1);
    stage.front.ack_inactive(1);
    stage.share(INK);
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![FrontBufferEvent::Active(2)], 1));
}

#[test]
fn rule_of_an_output_ends_sharing_and_refuses_it() {
    let mut stage = FrontBufferWindow::new(280);
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(1)]);
    let id = stage.world.output(0).id();
    in_place::set_front_buffer_option(&mut stage.world.state, id, FrontBufferOption::Off);
    stage.pass();
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Inactive(1, Reason::Display)]);
    stage.front.ack_inactive(1);
    stage.share(INK);
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![], 0), "the reason is the same");
    in_place::set_front_buffer_option(&mut stage.world.state, id, FrontBufferOption::Auto);
    stage.pass();
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![FrontBufferEvent::Active(2)], 1));
}

#[test]
fn shared_rectangle_outside_its_buffer_and_second_front_buffer_are_errors() {
    let name = UpbeatFrontBufferV1::interface().name;
    for rect in [(0, 0, 0, 5), (0, 0, 5, -1), (-1, 0, 5, 5), (i32::MIN, 0, i32::MAX, 1)] {
        let mut stage = FrontBufferWindow::new(280);
        stage.front.share(rect.0, rect.1, rect.2, rect.3);
        assert_eq!(stage.error(), Some((name.to_owned(), 0)), "{rect:?}");
        assert_eq!(stage.shared(), 0);
    }
    for rect in [(0, 0, WINDOW.0 + 1, 5), (i32::MAX, 3, i32::MAX, 1), (5, 5, WINDOW.0, 1), (0, WINDOW.1, 1, 1)] {
        let mut stage = FrontBufferWindow::new(280);
        stage.front.ack_inactive(1);
        stage.share(rect);
        assert_eq!(stage.error(), Some((name.to_owned(), 0)), "{rect:?}");
        assert_eq!(stage.shared(), 0);
    }
    let mut stage = FrontBufferWindow::new(280);
    let surface = stage.window.surface.clone();
    let _ = stage.world.client(stage.client).front_buffer(&surface);
    assert_eq!(stage.error(), Some((UpbeatLateLatchManagerV1::interface().name.to_owned(), 0)));
}

#[test]
fn shrinking_a_shared_pool_is_a_protocol_error() {
    let mut stage = FrontBufferWindow::new(280);
    let (other, window) = stage.world.open_filled("other", (60, 60), BLUE);
    stage.world.move_window("other", (20, 20));
    stage.pass();
    stage.acknowledge_inactive();
    stage.canvas.file.set_len(0).unwrap();
    assert_eq!(stage.error().map(|(interface, _)| interface), Some("wl_buffer".to_owned()));
    // The error answers no request of the client, so the client ends only when it closes its connection.
    stage.world.kill(stage.client);
    stage.pass();
    assert_eq!(stage.shared(), 0);
    // Other clients continue.
    stage.world.client(other).draw(&window.surface, 9, (60, 60), GREEN);
    window.surface.commit();
    stage.pass();
    assert_eq!(stage.world.pixel(25, 25), GREEN);
}
