//! A change on an output is on screen within two of its refreshes, whatever happens on other outputs and however long
//! the output was idle. In virtual time, so that ten idle minutes cost seconds.

mod browser;
mod even_window;
mod first_frames;
mod fixed_rhythm;
mod gpu;
mod idle_output;
mod lost_renderer;
mod own_clock;
mod roleless;
mod slow_frames;
mod spanning_outputs;
mod variable;
mod vrr_cadence;
mod vrr_rhythm;

use upbeat::input::{self, InputEvent};
use upbeat::shell::animation::AnimationStyles;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::time::{Instant, Span};

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::simulated::{OutsideActor, nothing};
use crate::fixture::{ClientIndex, KEY_1, KEY_2, KEY_LEFT_SUPER, SMALL, TestClient, TestToplevel, TestWorld};

const SIZE: (i32, i32) = (100, 80);
/// Event interval of a mouse (125 Hz).
const MOUSE: Span = Span::from_millis(8);
/// Duration of a workspace switch, and interval between the starts of two switches.
const GLIDE: Span = Span::from_millis(800);
const GLIDES: Span = Span::from_millis(1_000);

/// A window on `TEST-1` that draws only when the test calls [`IdleWindow::commit`].
struct IdleWindow {
    client: ClientIndex,
    window: TestToplevel,
    /// Number of its newest update.
    number: u32,
}

impl IdleWindow {
    /// Opens a window on the output of the pointer.
    fn open(world: &mut TestWorld, title: &str) -> Self {
        let (client, window) = world.open_filled(title, SIZE, RED);
        IdleWindow { client, window, number: 1 }
    }

    fn commit(&mut self, world: &mut TestWorld) {
        self.number += 1;
        let colour: Xrgb8888Pixel = [RED, GREEN, BLUE][self.number as usize % 3];
        world.client(self.client).draw(&self.window.surface, self.number, SIZE, colour);
        self.window.surface.commit();
    }

    /// Checks that the update committed just now is on screen within two refreshes of the output at index `place`,
    /// while `actor` goes on.
    #[track_caller]
    fn assert_update_within_two_refreshes(
        &self,
        world: &mut TestWorld,
        place: i32,
        what: &str,
        actor: OutsideActor<'_>,
    ) {
        let committed = world.now();
        let interval = interval(world, place);
        world.run_for(interval * 3, actor);
        let client = world.client(self.client);
        let (light, _) = client.light(self.number).unwrap_or_else(|| panic!("{what}: not shown in three refreshes"));
        let took = light - committed;
        assert!(took <= interval * 2, "{what}: shown after {took}, refreshes are {interval} apart");
        // Earlier events are not needed any more.
        client.data.content_events.clear();
    }
}

/// Checks that a frame latched after `asked` is shown on the output at index `place` within two refreshes.
#[track_caller]
fn assert_frame_within_two_refreshes(world: &mut TestWorld, place: i32, asked: Instant, what: &str) {
    let interval = interval(world, place);
    world.run_for(interval * 3, &mut nothing);
    let mut fresh = world.output(place).records().iter().filter(|record| record.latched >= asked);
    let light = fresh.find_map(|record| record.presented).unwrap_or_else(|| panic!("{what}: no frame"));
    assert!(light - asked <= interval * 2, "{what}: a frame after {}, refreshes are {interval} apart", light - asked);
}

fn interval(world: &TestWorld, place: i32) -> Span {
    world.output(place).conductor().output().vsync().interval()
}

/// Centre of the output at index `place`.
fn middle(place: i32) -> (f64, f64) {
    (f64::from(SMALL.0) * (f64::from(place) + 0.5), f64::from(SMALL.1) / 2.0)
}

/// Activity that goes on while the test lets time pass. Returns the time of its next step.
type BackgroundActivity = Box<dyn FnMut(&mut TestWorld) -> Option<Instant>>;

/// The pointer moves over the outputs `first` to `last`, about once around in a second.
fn moving_cursor(world: &TestWorld, first: i32, last: i32) -> BackgroundActivity {
    let (mut next, mut events) = (world.now(), 0.0);
    let width = f64::from(SMALL.0);
    Box::new(move |world| {
        let now = world.now();
        if now < next {
            return Some(next);
        }
        (next, events) = (now + MOUSE, events + 1.0);
        let turn = f64::sin(events / 20.0).midpoint(1.0);
        let x = width * f64::from(first) + 20.0 + turn * (width * f64::from(last - first + 1) - 40.0);
        let event = InputEvent::PointerPosition { time: now, position: (x, 40.0 + 20.0 * turn).into() };
        input::handle(&mut world.state, event);
        Some(next)
    })
}

/// A client draws at each callback, in a window on the output at index `place`.
fn drawing_client(world: &mut TestWorld, place: i32) -> BackgroundActivity {
    let (x, y) = middle(place);
    world.point(x, y);
    let (client, window) = world.open_filled("moves", SIZE, BLUE);
    world.run_until_idle();
    let buffer = world.client(client).solid(2, SIZE.0, SIZE.1, BLUE);
    let draw = move |world: &mut TestWorld| {
        let client = world.client(client);
        window.surface.attach(Some(&buffer), 0, 0);
        window.surface.damage_buffer(0, 0, 16, 16);
        client.request_feedback(&window.surface, 3);
        window.surface.commit();
    };
    draw(world);
    Box::new(move |world| {
        let heard = std::mem::take(&mut world.client(client).data.content_events);
        if !heard.contains(&ContentEvent::Callback(3)) {
            return None;
        }
        draw(world);
        None
    })
}

/// The output at index `place` switches to and fro between two workspaces.
fn switching_workspaces(world: &mut TestWorld, place: i32) -> BackgroundActivity {
    let style = MotionStyle::Easing { duration: GLIDE, curve: CubicBezier::LINEAR };
    world.state.shell.set_animations(AnimationStyles { workspace: Some(style), ..AnimationStyles::default() });
    let (x, y) = middle(place);
    world.point(x, y);
    world.open_filled("glides", SIZE, BLUE);
    let (mut next, mut is_first) = (world.now(), true);
    Box::new(move |world| {
        let now = world.now();
        if now < next {
            return Some(next);
        }
        (next, is_first) = (now + GLIDES, !is_first);
        world.chord(&[KEY_LEFT_SUPER], if is_first { KEY_1 } else { KEY_2 });
        Some(next)
    })
}
