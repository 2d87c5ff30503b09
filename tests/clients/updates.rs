//! The content-update queue, from commit to light: order, waiting, feedback, callbacks, buffers.

use crate::fixture::content::{BLUE, GREEN, Heard, RED, set_stamp};
use crate::fixture::{ClientIndex, OUTPUT, Toplevel, World};
use std::os::fd::{AsFd, OwnedFd};
use upbeat::surface::fence;
use upbeat_timing::time::Span;
use wayland_client::Proxy;
use wayland_client::protocol::{wl_subsurface::WlSubsurface, wl_surface::WlSurface};

const SIZE: (i32, i32) = (100, 80);
/// A time stamp this much after a refresh still means that refresh.
const TOLERANCE: Span = Span::from_millis(1);

struct Stage {
    world: World,
    client: ClientIndex,
    window: Toplevel,
}

impl Stage {
    /// A red window on screen: update 1.
    fn new() -> Self {
        let mut world = World::lit();
        let (client, window) = world.open("a", SIZE.0, SIZE.1);
        let mut stage = Stage { world, client, window };
        stage.commit(1, RED);
        stage.ended(1);
        stage.world.rest();
        stage
    }

    fn surface(&self) -> WlSurface {
        self.window.surface.clone()
    }

    fn commit(&mut self, number: u32, colour: u32) {
        let surface = self.surface();
        self.world.client(self.client).draw(&surface, number, SIZE, colour);
        surface.commit();
    }

    /// Commits a synchronised child and then its parent. The child's buffer is unfinished until the returned eventfd is
    /// written.
    fn hold_by_a_child(&mut self) -> (WlSurface, WlSubsurface, OwnedFd) {
        let (client, parent) = (self.client, self.surface());
        let (child, subsurface) = self.world.client(client).subsurface(&parent);
        let number = child.id().protocol_id();
        self.world.client(client).draw(&child, 50, (10, 10), GREEN);
        self.world.settle();
        let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        let server =
            self.world.state.surfaces.iter().find(|entry| {
                smithay::reexports::wayland_server::Resource::id(entry.surface()).protocol_id() == number
            });
        let server = server.unwrap().surface().clone();
        fence::acquire(&mut self.world.state, &server, Box::new(event.as_fd().try_clone_to_owned().unwrap()));
        child.commit();
        self.commit(2, BLUE);
        self.world.settle();
        self.world.rest();
        (child, subsurface, event)
    }

    /// Waits for the presentation feedback of an update.
    fn ended(&mut self, number: u32) {
        let client = self.client;
        self.world.until(&format!("feedback of {number}"), |world| {
            world.client(client).count(|heard| heard.is_end_of_feedback(number)) > 0
        });
    }

    fn called(&mut self, number: u32) {
        let client = self.client;
        self.world.until(&format!("callback {number}"), |world| world.client(client).heard(Heard::Called(number)));
    }

    fn released(&mut self, number: u32) {
        let client = self.client;
        self.world.until(&format!("release of {number}"), |world| world.client(client).heard(Heard::Released(number)));
    }

    fn sequence(&mut self, number: u32) -> u64 {
        self.world.client(self.client).light(number).unwrap_or_else(|| panic!("{number} was not shown")).1
    }

    fn pixel(&self) -> u32 {
        let origin = self.world.window("a").origin();
        self.world.pixel(origin.x + 10, origin.y + 10)
    }

    /// Checks that each of these updates got exactly one feedback, and exactly one callback in order.
    #[track_caller]
    fn everything_is_answered_once(&mut self, numbers: std::ops::RangeInclusive<u32>) {
        let client = self.world.client(self.client);
        for number in numbers.clone() {
            assert_eq!(client.count(|heard| heard.is_end_of_feedback(number)), 1, "feedback of {number}");
            assert!(client.count(|heard| heard == Heard::Released(number)) <= 1, "releases of {number}");
        }
        let callbacks: Vec<u32> = client.callbacks().into_iter().filter(|number| numbers.contains(number)).collect();
        assert_eq!(callbacks, numbers.collect::<Vec<_>>());
    }

    fn server_surface(&self) -> smithay::reexports::wayland_server::protocol::wl_surface::WlSurface {
        self.world.window("a").surface().clone()
    }
}

#[test]
fn fifo_shows_each_update_in_a_refresh_of_its_own() {
    let mut stage = Stage::new();
    let surface = stage.surface();
    let fifo = stage.world.client(stage.client).fifo(&surface);
    for number in 2..=6 {
        fifo.set_barrier();
        fifo.wait_barrier();
        stage.commit(number, number);
    }
    stage.ended(6);
    stage.called(6);
    stage.world.rest();
    let shown: Vec<u64> = (2..=6).map(|number| stage.sequence(number)).collect();
    assert!(shown.windows(2).all(|pair| pair[0] < pair[1]), "two updates in one refresh: {shown:?}");
    stage.everything_is_answered_once(2..=6);
    for number in 1..=5 {
        stage.released(number);
    }
    assert!(!stage.world.client(stage.client).heard(Heard::Released(6)), "it is on screen");
    assert_eq!(stage.pixel(), 6);
}

#[test]
fn without_fifo_the_newest_takes_the_place_of_those_before_it() {
    let mut stage = Stage::new();
    for number in 2..=5 {
        stage.commit(number, number);
    }
    stage.ended(5);
    stage.called(5);
    stage.everything_is_answered_once(2..=5);
    for number in 2..=4 {
        assert!(stage.world.client(stage.client).heard(Heard::Discarded(number)));
        stage.released(number);
    }
}

#[test]
fn fifo_goes_on_when_nobody_sees_it() {
    let mut stage = Stage::new();
    // Another window covers the stage's window.
    let cover = stage.world.open_in(stage.client, "cover", OUTPUT.0, OUTPUT.1);
    let surface = cover.surface.clone();
    stage.world.client(stage.client).draw(&surface, 90, OUTPUT, BLUE);
    surface.commit();
    stage.ended(90);
    let surface = stage.surface();
    let fifo = stage.world.client(stage.client).fifo(&surface);
    for number in 2..=4 {
        fifo.set_barrier();
        fifo.wait_barrier();
        stage.commit(number, number);
    }
    stage.called(4);
    stage.ended(4);
    stage.everything_is_answered_once(2..=4);
    stage.released(2);
    stage.released(3);
}

#[test]
fn fifo_goes_on_when_the_last_output_is_gone() {
    let mut stage = Stage::new();
    stage.world.unplug("TEST-1");
    let surface = stage.surface();
    let fifo = stage.world.client(stage.client).fifo(&surface);
    for number in 2..=4 {
        fifo.set_barrier();
        fifo.wait_barrier();
        stage.commit(number, number);
    }
    stage.called(4);
    stage.ended(4);
    stage.everything_is_answered_once(2..=4);
}

#[test]
fn a_stamped_update_is_not_shown_before_its_time_and_holds_those_behind_it() {
    let mut stage = Stage::new();
    let surface = stage.surface();
    let timer = stage.world.client(stage.client).timer(&surface);
    let stamp = stage.world.now() + Span::from_millis(150);
    set_stamp(&timer, stamp);
    stage.commit(2, GREEN);
    stage.commit(3, BLUE);
    stage.world.settle();
    assert_eq!(stage.pixel(), RED);
    stage.ended(3);
    stage.called(3);
    stage.everything_is_answered_once(2..=3);
    let client = stage.client;
    let shown = stage.world.client(client).light(3).unwrap().0;
    assert!(shown + TOLERANCE >= stamp, "shown at {shown}, due at {stamp}");
    assert!(stage.world.client(client).heard(Heard::Discarded(2)), "both updates were due at one latch");
}

#[test]
fn stamped_fifo_updates_keep_their_order_and_their_times() {
    let mut stage = Stage::new();
    let surface = stage.surface();
    let client = stage.client;
    let (fifo, timer) = (stage.world.client(client).fifo(&surface), stage.world.client(client).timer(&surface));
    let start = stage.world.now() + Span::from_millis(100);
    let stamps: Vec<_> = (0..4).map(|step| start + Span::from_millis(50) * step).collect();
    for (number, stamp) in (2..).zip(&stamps) {
        fifo.set_barrier();
        fifo.wait_barrier();
        set_stamp(&timer, *stamp);
        stage.commit(number, number);
    }
    stage.ended(5);
    stage.called(5);
    stage.everything_is_answered_once(2..=5);
    let shown: Vec<_> = (2..=5).map(|number| stage.world.client(client).light(number).unwrap().0).collect();
    assert!(shown.is_sorted(), "{shown:?}");
    assert!(shown.iter().zip(&stamps).all(|(shown, stamp)| *shown + TOLERANCE >= *stamp), "{shown:?} {stamps:?}");
}

#[test]
fn an_unfinished_buffer_holds_its_update_and_those_behind_it() {
    let mut stage = Stage::new();
    let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    let server = stage.server_surface();
    fence::acquire(&mut stage.world.state, &server, Box::new(event.as_fd().try_clone_to_owned().unwrap()));
    stage.commit(2, GREEN);
    stage.commit(3, BLUE);
    stage.world.settle();
    stage.world.rest();
    assert_eq!(stage.pixel(), RED);
    assert!(stage.world.client(stage.client).callbacks().iter().all(|number| *number == 1));

    rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
    stage.ended(3);
    stage.called(3);
    assert_eq!(stage.pixel(), BLUE);
    stage.everything_is_answered_once(2..=3);
    stage.released(2);
}

#[test]
fn a_finished_buffer_does_not_wait() {
    let mut stage = Stage::new();
    let event = rustix::event::eventfd(1, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    let server = stage.server_surface();
    fence::acquire(&mut stage.world.state, &server, Box::new(event));
    stage.commit(2, GREEN);
    stage.world.settle();
    assert_eq!(stage.world.state.surfaces.get(&server).unwrap().waiting(), 0);
}

#[test]
fn an_unfinished_buffer_of_a_synchronised_child_holds_its_parent() {
    let mut stage = Stage::new();
    let (_child, _subsurface, event) = stage.hold_by_a_child();
    assert_eq!(stage.pixel(), RED, "neither the child nor the parent");
    rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
    stage.ended(2);
    let origin = stage.world.window("a").origin();
    assert_eq!(
        (stage.world.pixel(origin.x + 5, origin.y + 5), stage.world.pixel(origin.x + 20, origin.y + 20)),
        (GREEN, BLUE)
    );
}

#[test]
fn a_surface_that_is_destroyed_gives_back_what_waits() {
    let mut stage = Stage::new();
    let surface = stage.surface();
    let timer = stage.world.client(stage.client).timer(&surface);
    for number in 2..=4 {
        set_stamp(&timer, stage.world.now() + Span::from_seconds(3_600));
        stage.commit(number, GREEN);
    }
    stage.world.settle();
    stage.window.toplevel.destroy();
    stage.window.xdg.destroy();
    surface.destroy();
    for number in 1..=4 {
        stage.released(number);
        stage.ended(number);
    }
    let client = stage.world.client(stage.client);
    for number in 1..=4 {
        assert_eq!(client.count(|heard| heard == Heard::Released(number)), 1);
        assert_eq!(client.count(|heard| heard.is_end_of_feedback(number)), 1);
    }
    assert!((2..=4).all(|number| client.heard(Heard::Discarded(number))));
    assert!(client.error.is_none());
}

#[test]
fn a_window_unmapped_while_updates_wait_vanishes_in_its_turn() {
    let mut stage = Stage::new();
    let surface = stage.surface();
    let timer = stage.world.client(stage.client).timer(&surface);
    set_stamp(&timer, stage.world.now() + Span::from_millis(500));
    stage.commit(2, GREEN);
    surface.attach(None, 0, 0);
    stage.world.client(stage.client).ask(&surface, 3);
    surface.commit();
    stage.world.settle();
    let server = stage.server_surface();
    assert_eq!(stage.world.state.surfaces.get(&server).unwrap().waiting(), 2, "it waits for its turn");
    stage.ended(3);
    stage.released(2);
    stage.world.rest();
    assert!(stage.world.stack().is_empty(), "unmapped");
    let client = stage.world.client(stage.client);
    assert!(client.heard(Heard::Discarded(2)) && client.heard(Heard::Discarded(3)));
    assert_eq!(client.count(|heard| heard == Heard::Released(2)), 1);
}

#[test]
fn the_death_of_a_client_with_updates_in_the_queue_harms_nobody() {
    let mut stage = Stage::new();
    let (other, window) = stage.world.open("b", 300, 200);
    let surface = stage.surface();
    let timer = stage.world.client(stage.client).timer(&surface);
    for number in 2..=9 {
        set_stamp(&timer, stage.world.now() + Span::from_millis(20));
        stage.commit(number, GREEN);
    }
    stage.world.settle();
    let client = stage.client;
    stage.world.kill(client);
    stage.client = other;
    stage.window = window;
    stage.world.client(other).draw(&stage.window.surface, 10, (300, 200), BLUE);
    stage.window.surface.commit();
    stage.ended(10);
    assert!(stage.world.client(other).light(10).is_some());
}

#[test]
fn content_that_nobody_sees_is_called_back_and_its_feedback_ends() {
    let mut stage = Stage::new();
    let cover = stage.world.open_in(stage.client, "cover", OUTPUT.0, OUTPUT.1);
    stage.world.client(stage.client).draw(&cover.surface, 90, OUTPUT, BLUE);
    cover.surface.commit();
    stage.ended(90);
    let surface = stage.surface();
    surface.attach(Some(&stage.world.client(stage.client).solid(2, SIZE.0, SIZE.1, GREEN)), 0, 0);
    let handle = stage.world.client(stage.client).handle();
    stage.world.client(stage.client).globals().presentation.feedback(&surface, &handle, 2);
    surface.commit();
    stage.ended(2);
    assert!(stage.world.client(stage.client).heard(Heard::Discarded(2)));
}

#[test]
fn after_a_flood_of_commits_that_change_nothing_the_next_content_counts() {
    let mut stage = Stage::new();
    let surface = stage.surface();
    for number in 2..=5 {
        (0..300).for_each(|_| surface.commit());
        stage.commit(number, if number % 2 == 0 { GREEN } else { BLUE });
        stage.ended(number);
        stage.called(number);
    }
    assert_eq!(stage.pixel(), BLUE);
    stage.everything_is_answered_once(1..=5);
}

#[test]
fn an_unfinished_child_that_is_destroyed_lets_its_parent_go() {
    let mut stage = Stage::new();
    let (child, subsurface, event) = stage.hold_by_a_child();
    subsurface.destroy();
    child.destroy();
    stage.world.settle();
    rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
    stage.commit(3, GREEN);
    stage.ended(3);
    assert_eq!(stage.pixel(), GREEN);
}
