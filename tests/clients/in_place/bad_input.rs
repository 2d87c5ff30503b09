//! Commits that cannot be written in place, or say something wrong: a session that writes in place treats them as a
//! session that composes everything. The pictures are the same, and feedback and callbacks come exactly once.

use std::os::fd::AsFd;

use upbeat::backend::headless::OutputOptions;
use upbeat_timing::time::Span;
use wayland_client::protocol::wl_output::Transform;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_surface::WlSurface;

use super::{INK, InPlaceSession, PAPER, WINDOW, options};
use crate::fixture::content::{ContentEvent, set_stamp};
use crate::fixture::pacing::bind;
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, TestClient, TestToplevel, TestWorld};

/// Time until a commit is shown, composed or not.
const SHOWN: Span = Span::from_millis(100);
/// From a refresh to a commit: the beam is above the window.
const BEAM_ABOVE: Span = Span::from_millis(1);
/// Buffers of the display, and one more: each has been composed as a whole, so only damage is drawn from then on.
const BUFFERS: u32 = 4;
/// Number of the first commit, above those of the session's start.
const FIRST: u32 = 1_000;

/// A session that writes in place, and a session that composes everything. Both get the same commits.
pub(super) struct ComparedSessions {
    sessions: [InPlaceSession; 2],
    number: u32,
}

/// How a commit reaches the screen of the session that writes in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Composed,
    Written,
    /// Either is right.
    Shown,
}

/// Attaches a picture of the window with this ink; the rest of it has the colour `paper`.
pub(super) fn attach(client: &TestClient, surface: &WlSurface, size: (i32, i32), number: u32, paper: u32) {
    attach_format(client, surface, size, (number, paper), Format::Xrgb8888);
}

fn attach_format(client: &TestClient, surface: &WlSurface, size: (i32, i32), colours: (u32, u32), format: Format) {
    let (x, y, width, height) = INK;
    let ((number, paper), is_ink) =
        (colours, |at: i32| (x..x + width).contains(&(at % size.0)) && (y..y + height).contains(&(at / size.0)));
    let pixels: Vec<u32> = (0..size.0 * size.1).map(|at| if is_ink(at) { number } else { paper }).collect();
    let buffer = client.buffer_of_pixels(number, format, size.0, size.1, &pixels);
    surface.attach(Some(&buffer), 0, 0);
}

pub(super) fn damage_ink(surface: &WlSurface) {
    let (x, y, width, height) = INK;
    surface.damage_buffer(x, y, width, height);
}

impl ComparedSessions {
    pub fn new() -> Self {
        Self::with(|_, _, _| {})
    }

    /// Sessions after `prepare`.
    pub fn with(prepare: impl Fn(&mut TestWorld, ClientIndex, &TestToplevel)) -> Self {
        Self::on(&options(), prepare)
    }

    /// Sessions after `prepare`, on displays with these options.
    pub fn on(options: &OutputOptions, prepare: impl Fn(&mut TestWorld, ClientIndex, &TestToplevel)) -> Self {
        let sessions = [true, false].map(|on| {
            let mut ink = InPlaceSession::on(options.clone(), 280, on);
            let window = ink.artist.window.clone();
            prepare(&mut ink.world, ink.artist.client, &window);
            for number in 1..=BUFFERS {
                attach(ink.world.client(ink.artist.client), &window.surface, WINDOW, number, PAPER);
                window.surface.damage_buffer(0, 0, WINDOW.0, WINDOW.1);
                window.surface.commit();
                ink.world.run_for(SHOWN, &mut nothing);
            }
            ink
        });
        ComparedSessions { sessions, number: FIRST }
    }

    pub fn world(&mut self, session: usize) -> &mut TestWorld {
        &mut self.sessions[session].world
    }

    /// Calls `act` in both sessions, and lets them run.
    pub fn act(&mut self, act: impl Fn(&mut TestWorld, ClientIndex, &TestToplevel)) {
        for ink in &mut self.sessions {
            let window = ink.artist.window.clone();
            act(&mut ink.world, ink.artist.client, &window);
            ink.world.run_for(SHOWN, &mut nothing);
        }
    }

    /// Commits in both sessions the state that `prepare` sets, and compares the results.
    #[track_caller]
    pub fn commit(&mut self, name: &str, expected: Expected, prepare: impl Fn(&TestClient, &WlSurface, u32)) {
        self.number += 1;
        let number = self.number;
        for (ink, writes) in self.sessions.iter_mut().zip([true, false]) {
            let vsync = ink.world.output(0).conductor().output().vsync();
            let start = vsync.present(vsync.at_or_after(ink.world.now())) + BEAM_ABOVE;
            let wait = start - ink.world.now();
            ink.world.run_for(wait, &mut nothing);
            let (before, surface) = (ink.counts(), ink.artist.window.surface.clone());
            let client = ink.world.client(ink.artist.client);
            prepare(client, &surface, number);
            client.request_feedback(&surface, number);
            surface.commit();
            ink.world.run_for(SHOWN, &mut nothing);
            let counts = ink.counts();
            assert_eq!(counts.torn, 0, "{name}");
            match expected {
                Expected::Shown => {}
                Expected::Composed => assert_eq!(counts.lit, before.lit, "{name} is composed"),
                Expected::Written => assert_eq!(counts.lit, before.lit + u64::from(writes), "{name} is written"),
            }
        }
        self.compare(name);
        let [with, without] = [0, 1].map(|session| self.ends(session, number));
        assert_eq!(with, without, "{name}: feedback presented and discarded, callbacks");
        assert_eq!((with.0 + with.1, with.2), (1, 1), "{name}: exactly once");
    }

    /// How often feedback was presented, how often it was discarded, and how often the callback was sent.
    fn ends(&mut self, session: usize, number: u32) -> (usize, usize, usize) {
        let ink = &mut self.sessions[session];
        let client = ink.world.client(ink.artist.client);
        (
            client.count_content_events(
                |event| matches!(event, ContentEvent::Presented { update, .. } if update == number),
            ),
            client.count_content_events(|event| event == ContentEvent::Discarded(number)),
            client.count_content_events(|event| event == ContentEvent::Callback(number)),
        )
    }

    #[track_caller]
    pub fn compare(&mut self, name: &str) {
        let [with, without] = [0, 1].map(|session| self.sessions[session].world.picture());
        let other = with.pixels.iter().zip(&without.pixels).position(|(with, without)| with != without);
        if let Some(at) = other.map(|at| at as i32) {
            let place = (at % with.width, at / with.width);
            let pixel = |session: usize| self.sessions[session].world.pixel(place.0, place.1);
            panic!("{name}: {place:?} is {:06x} in place, {:06x} composed", pixel(0), pixel(1));
        }
    }

    /// A small change with nothing unusual.
    #[track_caller]
    pub fn stroke(&mut self, after: &str, expected: Expected) {
        self.commit(&format!("a stroke after {after}"), expected, |client, surface, number| {
            attach(client, surface, WINDOW, number, PAPER);
            damage_ink(surface);
        });
    }
}

#[test]
fn damage_that_is_wrong_changes_the_screen_as_if_it_were_composed() {
    const MAX: i32 = i32::MAX;
    const MIN: i32 = i32::MIN;
    let mut sessions = ComparedSessions::new();
    sessions.stroke("the start", Expected::Written);
    let cases = [
        ("no damage", [(0, 0, 0, 0); 2]),
        ("huge damage", [(0, 0, MAX, MAX); 2]),
        ("huge damage from within", [(80, 50, MAX, MAX); 2]),
        ("damage from a negative corner", [(-50, -50, 100, 100); 2]),
        ("damage of negative size", [(80, 50, -5, -5); 2]),
        ("damage beyond the buffer", [(5_000, 5_000, 10, 10); 2]),
        ("damage whose right edge overflows", [(MAX - 5, 50, 100, 100), (80, MAX, 9, MAX)]),
        ("damage at the lowest corner", [(MIN, MIN, MAX, MAX), (MIN, 0, MAX, 10)]),
        ("damage of the lowest size", [(0, 0, MIN, MIN), (MIN, MIN, MIN, MIN)]),
        ("damage outside of the area around the pointer", [(0, 0, 8, 160), (0, 0, 4, 4)]),
    ];
    for (name, rects) in cases {
        for in_buffer in [true, false] {
            sessions.commit(name, Expected::Composed, |client, surface, number| {
                attach(client, surface, WINDOW, number, PAPER);
                for (x, y, width, height) in rects {
                    match in_buffer {
                        true => surface.damage_buffer(x, y, width, height),
                        false => surface.damage(x, y, width, height),
                    }
                }
            });
            sessions.stroke(name, Expected::Written);
        }
    }
    sessions.commit("two small damages", Expected::Written, |client, surface, number| {
        attach(client, surface, WINDOW, number, PAPER);
        surface.damage_buffer(90, 60, 5, 5);
        surface.damage_buffer(120, 100, 5, 5);
        damage_ink(surface);
    });
    sessions.commit("damage that hides changes", Expected::Written, |client, surface, number| {
        attach(client, surface, WINDOW, number, 0x99_3300);
        damage_ink(surface);
    });
    sessions.stroke("a lie", Expected::Written);
}

#[test]
fn buffers_of_another_kind_are_composed() {
    let mut sessions = ComparedSessions::new();
    for size in [(100, 60), (300, 200), (1, 1)] {
        sessions.commit("a buffer of another size", Expected::Composed, |client, surface, number| {
            attach(client, surface, size, number, PAPER);
            damage_ink(surface);
        });
        sessions.commit("the size before", Expected::Composed, |client, surface, number| {
            attach(client, surface, WINDOW, number, PAPER);
            surface.damage_buffer(0, 0, WINDOW.0, WINDOW.1);
        });
    }
    for _ in 0..2 {
        sessions.commit("a buffer with alpha", Expected::Composed, |client, surface, number| {
            attach_format(client, surface, WINDOW, (number, 0x8040_4040), Format::Argb8888);
            damage_ink(surface);
        });
    }
    sessions.commit("a buffer without alpha", Expected::Composed, |client, surface, number| {
        attach(client, surface, WINDOW, number, PAPER);
        surface.damage_buffer(0, 0, WINDOW.0, WINDOW.1);
    });
    for _ in 0..2 {
        sessions.commit("a scaled buffer", Expected::Composed, |client, surface, number| {
            surface.set_buffer_scale(2);
            attach(client, surface, (WINDOW.0 * 2, WINDOW.1 * 2), number, PAPER);
            damage_ink(surface);
        });
    }
    for _ in 0..2 {
        sessions.commit("a turned buffer", Expected::Composed, |client, surface, number| {
            surface.set_buffer_scale(1);
            surface.set_buffer_transform(Transform::_90);
            attach(client, surface, (WINDOW.1, WINDOW.0), number, PAPER);
            damage_ink(surface);
        });
    }
    sessions.commit("an upright buffer", Expected::Composed, |client, surface, number| {
        surface.set_buffer_transform(Transform::Normal);
        attach(client, surface, WINDOW, number, PAPER);
        surface.damage_buffer(0, 0, WINDOW.0, WINDOW.1);
    });
    sessions.stroke("other buffers", Expected::Written);
    sessions.act(|world, client, window| {
        let client = world.client(client);
        let viewport = client.globals().viewporter.get_viewport(&window.surface, &client.handle(), ());
        viewport.set_source(10.0, 10.0, 110.0, 80.0);
        viewport.set_destination(WINDOW.0, WINDOW.1);
    });
    for _ in 0..2 {
        sessions.commit("a cropped and scaled buffer", Expected::Composed, |client, surface, number| {
            attach(client, surface, WINDOW, number, PAPER);
            damage_ink(surface);
        });
    }
}

#[test]
fn commits_with_more_than_content_are_composed() {
    let mut sessions = ComparedSessions::new();
    let stroke = |client: &TestClient, surface: &WlSurface, number| {
        attach(client, surface, WINDOW, number, PAPER);
        damage_ink(surface);
    };
    sessions.commit("a fifo barrier", Expected::Composed, |client, surface, number| {
        stroke(client, surface, number);
        let fifo = client.fifo(surface);
        fifo.set_barrier();
        fifo.wait_barrier();
        fifo.destroy();
    });
    let soon = sessions.world(0).now().max(sessions.world(1).now()) + Span::from_millis(40);
    sessions.commit("a time stamp", Expected::Composed, |client, surface, number| {
        stroke(client, surface, number);
        let timer = client.timer(surface);
        set_stamp(&timer, soon);
        timer.destroy();
    });
    sessions.stroke("a time stamp", Expected::Written);
    sessions.commit("a subsurface", Expected::Composed, |client, surface, number| {
        let (part, place) = client.subsurface(surface);
        place.set_position(150, 100);
        part.attach(Some(&client.solid(7, 20, 20, 0x44_8811)), 0, 0);
        part.damage_buffer(0, 0, 20, 20);
        part.commit();
        stroke(client, surface, number);
    });
    sessions.stroke("a subsurface", Expected::Shown);
    sessions.commit("an input region", Expected::Shown, |client, surface, number| {
        let region = client.globals().compositor.create_region(&client.handle(), ());
        region.add(0, 0, WINDOW.0, WINDOW.1);
        surface.set_input_region(Some(&region));
        stroke(client, surface, number);
    });
    sessions.commit("an opaque region with alpha", Expected::Composed, |client, surface, number| {
        let region = client.globals().compositor.create_region(&client.handle(), ());
        region.add(0, 0, WINDOW.0, 40);
        surface.set_opaque_region(Some(&region));
        attach_format(client, surface, WINDOW, (number | 0xff00_0000, 0xff20_2020), Format::Argb8888);
        damage_ink(surface);
    });
    sessions.commit("content below the opaque region", Expected::Composed, |client, surface, number| {
        attach_format(client, surface, WINDOW, (number | 0xff00_0000, 0xff20_2020), Format::Argb8888);
        damage_ink(surface);
    });
}

#[test]
fn commit_for_a_target_is_composed() {
    let mut sessions = ComparedSessions::new();
    let paced = std::cell::RefCell::new(Vec::new());
    sessions.act(|world, client, window| {
        let client = &*world.client(client);
        let pacing = client.pacing(&window.surface);
        pacing.request_target();
        window.surface.commit();
        paced.borrow_mut().push((std::ptr::from_ref(client), pacing));
    });
    sessions.commit("a target", Expected::Composed, |client, surface, number| {
        attach(client, surface, WINDOW, number, PAPER);
        damage_ink(surface);
        let paced = paced.borrow();
        let (_, pacing) = paced.iter().find(|(known, _)| std::ptr::eq(*known, client)).unwrap();
        bind(pacing, client.targets().last().expect("a target").id);
    });
    sessions.stroke("a target", Expected::Shown);
}

#[test]
fn acknowledged_configure_is_composed() {
    let mut sessions = ComparedSessions::new();
    sessions.stroke("the start", Expected::Written);
    // The window loses the focus, which is a configure.
    sessions.act(|world, _, _| {
        world.open("other", 60, 60);
        world.move_window("other", (20, 20));
    });
    sessions.act(|world, client, _| {
        world.client(client).ack_newest_configure();
    });
    sessions.stroke("a configure", Expected::Composed);
    sessions.stroke("the commit that acknowledges", Expected::Written);
}

#[test]
fn pool_that_shrinks_before_it_is_read_stops_no_other_client() {
    let mut sessions = ComparedSessions::new();
    sessions.act(|world, client, window| {
        let bytes = WINDOW.0 * WINDOW.1 * 4;
        let fd = rustix::fs::memfd_create("shrinks", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&fd, bytes as u64).unwrap();
        let client = world.client(client);
        let pool = client.globals().shm.create_pool(fd.as_fd(), bytes, &client.handle(), ());
        let buffer = pool.create_buffer(0, WINDOW.0, WINDOW.1, WINDOW.0 * 4, Format::Xrgb8888, &client.handle(), FIRST);
        window.surface.attach(Some(&buffer), 0, 0);
        damage_ink(&window.surface);
        window.surface.commit();
        client.send();
        rustix::fs::ftruncate(&fd, 0).unwrap();
    });
    for session in [0, 1] {
        let world = sessions.world(session);
        let (other, window) = world.open("other", 60, 60);
        world.move_window("other", (20, 20));
        world.client(other).draw(&window.surface, 5, (60, 60), 0x11_2233);
        window.surface.commit();
        world.run_until("light", |world| world.client(other).light(5).is_some());
        world.run_for(SHOWN, &mut nothing);
    }
    sessions.compare("a pool that shrank");
}

#[test]
fn window_that_ends_in_the_turn_of_its_commit_is_removed_from_the_screen() {
    let stroke = |world: &mut TestWorld, client: ClientIndex, window: &TestToplevel| {
        attach(world.client(client), &window.surface, WINDOW, FIRST, PAPER);
        damage_ink(&window.surface);
        window.surface.commit();
    };
    let mut destroyed = ComparedSessions::new();
    destroyed.act(|world, client, window| {
        stroke(world, client, window);
        window.toplevel.destroy();
        window.xdg.destroy();
        window.surface.destroy();
    });
    destroyed.compare("a destroyed surface");
    let mut unmapped = ComparedSessions::new();
    unmapped.act(|world, client, window| {
        stroke(world, client, window);
        window.surface.attach(None, 0, 0);
        window.surface.commit();
    });
    unmapped.compare("an unmapped window");
    let mut left = ComparedSessions::new();
    left.act(|world, client, window| {
        stroke(world, client, window);
        world.client(client).send();
        world.hang_up(client);
    });
    left.compare("a client that left");
    for sessions in [&mut destroyed, &mut unmapped, &mut left] {
        assert_ne!(sessions.world(0).pixel(410, 290), PAPER, "the window is gone");
    }
}
