//! A client that commits at even distances, and the times at which its frames are shown, on a panel with a fixed or a
//! variable refresh rate.

use std::fmt;

use upbeat::backend::headless::OutputOptions;
use upbeat::render::Renderer;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols::wp::fifo::v1::client::wp_fifo_v1::WpFifoV1;
use wayland_protocols::wp::pointer_constraints::zv1::client::zwp_pointer_constraints_v1::Lifetime;

use super::*;

/// A panel, by its lowest and highest rate. They are equal where the rate is fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TestPanel {
    pub lowest_millihertz: u32,
    pub highest_millihertz: u32,
}

/// Time in which the compositor learns a rhythm: that of a window and its subsurface at 24 frames a second takes longest.
const LEARNED: Span = Span::from_millis(1_250);
/// Time of the measurement.
pub(super) const WATCHED: Span = Span::from_seconds(1);
/// The first numbers of a client's updates, and of its buffers.
const UPDATES: u32 = 100;
const BUFFERS: u32 = 10;

impl TestPanel {
    pub fn shortest(self) -> Span {
        Span::from_millihertz(self.highest_millihertz)
    }

    fn longest(self) -> Span {
        Span::from_millihertz(self.lowest_millihertz)
    }

    fn variable_refresh(self) -> Option<(Span, Span)> {
        (self.lowest_millihertz < self.highest_millihertz).then(|| (self.shortest(), self.longest()))
    }
}

/// How a client paces itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ClientPace {
    /// It waits for each frame callback, then for its own time.
    Callback,
    /// It sets and waits for fifo barriers, and draws into released buffers only.
    Fifo,
    /// It commits at its own times.
    Neither,
}

pub(super) const PACES: [ClientPace; 3] = [ClientPace::Callback, ClientPace::Fifo, ClientPace::Neither];

/// The mouse, and how the cursor is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CursorCase {
    /// The mouse rests.
    Still,
    /// It moves, and the cursor is composed.
    Visible,
    /// It moves, and the cursor has a plane.
    OnPlane,
    /// It moves while the client hides the cursor.
    Hidden,
    /// It moves while it is locked to its place.
    Locked,
}

pub(super) const MOVING: [CursorCase; 4] =
    [CursorCase::Visible, CursorCase::OnPlane, CursorCase::Hidden, CursorCase::Locked];

/// A client that draws at its own rate on a panel.
#[derive(Clone, Copy)]
pub(super) struct RhythmCase {
    pub panel: TestPanel,
    /// How many frames the client draws in a second.
    pub rate: u32,
    pub pace: ClientPace,
    pub cursor: CursorCase,
    /// How much later than its window the client's subsurface commits, if it has one.
    pub behind: Option<Span>,
}

impl fmt::Display for RhythmCase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RhythmCase { panel, rate, pace, cursor, behind } = self;
        let (lowest, highest) = (panel.lowest_millihertz / 1_000, panel.highest_millihertz / 1_000);
        write!(out, "{rate} frames a second on {lowest} to {highest} Hz, {pace:?}, cursor {cursor:?}")?;
        behind.map_or(Ok(()), |behind| write!(out, ", subsurface {behind} later"))
    }
}

/// Events of a mouse that moves over the window of `client`.
fn moving_mouse(
    world: &mut TestWorld,
    client: ClientIndex,
    surface: &WlSurface,
    cursor: CursorCase,
) -> BackgroundActivity {
    let (x, y) = middle(0);
    world.point(x, y);
    let test_client = world.client(client);
    let (pointer, serial) = (test_client.globals().pointer().clone(), test_client.data.last_enter);
    if cursor == CursorCase::Hidden {
        pointer.set_cursor(serial, None, 0, 0);
    }
    if cursor == CursorCase::Locked {
        let constraints = test_client.globals().constraints.clone();
        constraints.lock_pointer(surface, &pointer, None, Lifetime::Persistent, &test_client.handle(), ());
    }
    world.settle();
    let (mut next, mut events) = (world.now(), 0);
    Box::new(move |world| {
        let now = world.now();
        if next <= now {
            (next, events) = (now + MOUSE, events + 1);
            let step = if events / 8 % 2 == 0 { 1.0 } else { -1.0 };
            let delta = (step, 0.0).into();
            input::handle(&mut world.state, InputEvent::PointerMotion { time: now, delta, raw: delta });
        }
        Some(next)
    })
}

/// A window that is drawn at even distances, as far as its pace allows.
struct EvenWindow {
    client: ClientIndex,
    window: TestToplevel,
    pace: ClientPace,
    period: Span,
    fifo: WpFifoV1,
    buffers: [WlBuffer; 3],
    /// How often each buffer was attached.
    attached: [usize; 3],
    /// Number and time of each commit.
    commits: Vec<(u32, Instant)>,
    next: Instant,
    number: u32,
}

impl EvenWindow {
    fn open(world: &mut TestWorld, pace: ClientPace, period: Span) -> Self {
        let (client, window) = world.open_filled("rhythm", SIZE, RED);
        world.run_until_idle();
        let test_client = world.client(client);
        let fifo = test_client.fifo(&window.surface);
        let mut place = BUFFERS;
        let buffers = [RED, GREEN, BLUE].map(|colour| {
            place += 1;
            test_client.solid(place - 1, SIZE.0, SIZE.1, colour)
        });
        let (commits, next) = (Vec::new(), world.now());
        EvenWindow { client, window, pace, period, fifo, buffers, attached: [0; 3], commits, next, number: UPDATES }
    }

    /// Whether the client's way of pacing itself lets it draw now.
    fn may_draw(&self, client: &TestClient) -> bool {
        let place = self.number as usize % 3;
        match self.pace {
            ClientPace::Callback => {
                self.commits.is_empty() || client.has_received(ContentEvent::Callback(self.number - 1))
            }
            ClientPace::Fifo => {
                let released = ContentEvent::Released(BUFFERS + place as u32);
                client.count_content_events(|heard| heard == released) == self.attached[place]
            }
            ClientPace::Neither => true,
        }
    }

    /// Commits a frame if it is time. Returns whether it did.
    fn act(&mut self, world: &mut TestWorld) -> bool {
        let now = world.now();
        let client = world.client(self.client);
        if self.next > now || !self.may_draw(client) {
            return false;
        }
        let (surface, place) = (&self.window.surface, self.number as usize % 3);
        surface.attach(Some(&self.buffers[place]), 0, 0);
        surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
        client.globals().presentation.feedback(surface, &client.handle(), self.number);
        match self.pace {
            ClientPace::Callback => drop(surface.frame(&client.handle(), self.number)),
            ClientPace::Fifo => {
                self.fifo.set_barrier();
                self.fifo.wait_barrier();
            }
            ClientPace::Neither => {}
        }
        surface.commit();
        self.commits.push((self.number, now));
        self.attached[place] += 1;
        // A client that was held back goes on from here.
        self.next = self.next.max(now - self.period / 2) + self.period;
        self.number += 1;
        true
    }
}

/// The frames of a client's window after the time to learn.
pub(super) struct WatchedFrames {
    /// How many were committed.
    pub committed: usize,
    /// How many were not presented, though a later frame was.
    pub lost: usize,
    /// Commit and light of each presented frame, in order.
    pub presented: Vec<(Instant, Instant)>,
}

impl RhythmCase {
    pub fn period(&self) -> Span {
        Span::from_millihertz(self.rate * 1_000)
    }

    fn world(&self) -> TestWorld {
        let cursor_plane = (self.cursor == CursorCase::OnPlane).then_some((64, 64));
        let variable_refresh = self.panel.variable_refresh();
        let options = OutputOptions { variable_refresh, cursor_plane, ..OutputOptions::default() };
        TestWorld::simulated_on(&[(self.panel.highest_millihertz, options)], Renderer::pixman().unwrap())
    }

    /// Runs the client for the time to learn and for the measurement.
    pub fn watch(&self) -> WatchedFrames {
        let mut world = self.world();
        let mut window = EvenWindow::open(&mut world, self.pace, self.period());
        let client = window.client;
        let moves = self.cursor != CursorCase::Still;
        let mut mouse = moves.then(|| moving_mouse(&mut world, client, &window.window.surface, self.cursor));
        let part = self.behind.map(|_| {
            let (surface, part) = world.client(client).subsurface(&window.window.surface);
            part.set_desync();
            surface
        });
        let small = world.client(client).solid(0, 16, 16, BLUE);
        let begun = world.now();
        window.next = begun;
        let mut part_at = None;
        world.run_for(LEARNED + WATCHED, &mut |world| {
            let now = world.now();
            if window.act(world) {
                part_at = self.behind.map(|behind| now + behind);
            }
            if let (Some(part), Some(_)) = (&part, part_at.take_if(|at| *at <= now)) {
                part.attach(Some(&small), 0, 0);
                part.damage_buffer(0, 0, 16, 16);
                part.commit();
            }
            let moves = mouse.as_mut().and_then(|mouse| mouse(world));
            [moves, Some(window.next).filter(|next| *next > now), part_at].into_iter().flatten().min()
        });
        let watched = || window.commits.iter().filter(|(_, at)| *at > begun + LEARNED);
        let client = world.client(client);
        let presented: Vec<_> = watched().filter_map(|(number, at)| Some((*at, client.light(*number)?.0))).collect();
        let last = presented.last().map(|(commit, _)| *commit);
        let passed = watched().filter(|(_, commit)| last.is_some_and(|last| *commit <= last)).count();
        WatchedFrames { committed: watched().count(), lost: passed - presented.len(), presented }
    }
}

/// The distances of a window's frames.
#[derive(Debug)]
pub(super) struct RhythmFigures {
    /// How far the distances of lights are off those of commits: the 95th percentile, and the largest.
    pub off: Span,
    pub most_off: Span,
    /// The shortest and the longest distance of two lights.
    pub shortest: Span,
    pub longest: Span,
    /// The largest time from a commit to its light.
    pub oldest: Span,
}

impl WatchedFrames {
    pub fn figures(&self) -> RhythmFigures {
        let distances = || self.presented.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1));
        let mut off: Vec<Span> = distances().map(|(commits, lights)| (lights - commits).abs()).collect();
        off.sort();
        let lights = || distances().map(|(_, lights)| lights);
        RhythmFigures {
            off: off[(off.len() - 1) * 95 / 100],
            most_off: *off.last().expect("frames"),
            shortest: lights().min().expect("frames"),
            longest: lights().max().expect("frames"),
            oldest: self.presented.iter().map(|(commit, light)| *light - *commit).max().expect("frames"),
        }
    }
}
