//! A client in its own rhythm on an output with a variable refresh rate: the distances of its frames on screen are those
//! of its commits, however it is paced and whatever the pointer does.

use upbeat::backend::headless::OutputOptions;
use upbeat::render::Renderer;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols::wp::pointer_constraints::zv1::client::zwp_pointer_constraints_v1::Lifetime;

use super::*;

/// The ranges of two panels: 48 to 144 Hz, and 40 to 60 Hz (mHz).
const WIDE: (u32, u32) = (48_000, 144_000);
const NARROW: (u32, u32) = (40_000, 60_000);
const LEARNED: Span = Span::from_seconds(1);
const WATCHED: Span = Span::from_seconds(2);
/// Allowed difference between the distances of two commits and of their lights, for 95 of 100 frames.
const OFF: Span = Span::from_millis(1);

/// How a client paces itself.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ClientPace {
    /// It waits for each frame callback, then for its own time.
    Callback,
    /// It sets and waits for fifo barriers.
    Fifo,
    /// It commits at its own times.
    Neither,
}

/// The pointer while the mouse moves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CursorCase {
    Visible,
    Hidden,
    Locked,
}

fn variable((slowest, fastest): (u32, u32)) -> TestWorld {
    let range = (Span::from_millihertz(fastest), Span::from_millihertz(slowest));
    let options = OutputOptions { variable_refresh: Some(range), ..OutputOptions::default() };
    TestWorld::simulated_on(&[(fastest, options)], Renderer::pixman().unwrap())
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

/// Commit and light of each presented update, in order.
type PresentedUpdates = Vec<(Instant, Instant)>;

/// A client that commits every `period`, and its subsurface `behind` later, if any. Returns the updates of its window
/// after the time to learn.
fn presented(
    panel: (u32, u32),
    period: Span,
    (pace, cursor): (ClientPace, Option<CursorCase>),
    behind: Option<Span>,
) -> PresentedUpdates {
    let mut world = variable(panel);
    let (client, window) = world.open_filled("rhythm", SIZE, RED);
    world.run_until_idle();
    let mut mouse = cursor.map(|cursor| moving_mouse(&mut world, client, &window.surface, cursor));
    let part = behind.map(|_| {
        let (surface, part) = world.client(client).subsurface(&window.surface);
        part.set_desync();
        surface
    });
    let fifo = world.client(client).fifo(&window.surface);
    let buffers: Vec<_> =
        [RED, GREEN, BLUE].iter().map(|colour| world.client(client).solid(0, SIZE.0, SIZE.1, *colour)).collect();
    let small = world.client(client).solid(0, 16, 16, BLUE);
    let begun = world.now();
    let (mut number, mut next, mut may_draw) = (100, begun, true);
    let mut part_at = None;
    let mut commits = Vec::new();
    world.run_for(LEARNED + WATCHED, &mut |world| {
        let now = world.now();
        may_draw |= pace != ClientPace::Callback || world.client(client).has_received(ContentEvent::Callback(number));
        let client = world.client(client);
        if may_draw && next <= now {
            (number, next, may_draw) = (number + 1, next.max(now - period / 2) + period, false);
            window.surface.attach(Some(&buffers[number as usize % 3]), 0, 0);
            window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
            client.globals().presentation.feedback(&window.surface, &client.handle(), number);
            match pace {
                ClientPace::Callback => drop(window.surface.frame(&client.handle(), number)),
                ClientPace::Fifo => {
                    fifo.set_barrier();
                    fifo.wait_barrier();
                }
                ClientPace::Neither => {}
            }
            window.surface.commit();
            commits.push((number, now));
            part_at = behind.map(|behind| now + behind);
        }
        if let (Some(part), Some(_)) = (&part, part_at.take_if(|at| *at <= now)) {
            part.attach(Some(&small), 0, 0);
            part.damage_buffer(0, 0, 16, 16);
            part.commit();
        }
        let moves = mouse.as_mut().and_then(|mouse| mouse(world));
        [moves, Some(next).filter(|next| *next > now), part_at].into_iter().flatten().min()
    });
    let shown = commits.iter().filter(|(_, at)| *at > begun + LEARNED);
    shown.filter_map(|(number, at)| Some((*at, world.client(client).light(*number)?.0))).collect()
}

/// How far the distances of lights are off those of commits: the 95th percentile; and the longest distance of two lights.
fn off_rhythm(updates: &PresentedUpdates) -> (Span, Span) {
    let lights = updates.windows(2).map(|pair| pair[1].1 - pair[0].1);
    let mut off: Vec<Span> =
        lights.clone().zip(updates.windows(2)).map(|(lights, pair)| (lights - (pair[1].0 - pair[0].0)).abs()).collect();
    off.sort();
    (off[(off.len() - 1) * 95 / 100], lights.max().expect("frames"))
}

#[track_caller]
fn assert_rhythm(panel: (u32, u32), rate: u32, case: (ClientPace, Option<CursorCase>), behind: Option<Span>) {
    let period = Span::from_millihertz(rate * 1_000);
    let updates = presented(panel, period, case, behind);
    let frames = (WATCHED.as_nanos() / period.as_nanos()) as usize;
    let told = format!("{rate} frames a second on {panel:?}, {case:?}, {behind:?}");
    let (off, longest) = off_rhythm(&updates);
    assert!(updates.len() + frames / 50 + 3 >= frames, "{told}: {} of {frames} frames were shown", updates.len());
    assert!(off < OFF, "{told}: {off} off its rhythm");
    assert!(longest < period * 3 / 2, "{told}: {longest} between two frames");
}

#[test]
fn frames_keep_the_rhythm_of_commits_beside_a_moving_mouse() {
    let paces = [ClientPace::Callback, ClientPace::Fifo, ClientPace::Neither];
    let cursors = [CursorCase::Visible, CursorCase::Hidden, CursorCase::Locked].map(Some);
    let rates = [(WIDE, 24), (WIDE, 45), (WIDE, 60), (WIDE, 100), (NARROW, 24), (NARROW, 45), (NARROW, 60)];
    for (panel, rate) in rates {
        for pace in paces {
            cursors.iter().for_each(|cursor| assert_rhythm(panel, rate, (pace, *cursor), None));
        }
    }
}

#[test]
fn a_subsurface_that_commits_later_does_not_break_the_rhythm_of_its_parent() {
    for behind in [1, 2].map(Span::from_millis) {
        for pace in [ClientPace::Callback, ClientPace::Neither] {
            for rate in [30, 60] {
                assert_rhythm(WIDE, rate, (pace, None), Some(behind));
                assert_rhythm(WIDE, rate, (pace, Some(CursorCase::Visible)), Some(behind));
            }
        }
    }
}
