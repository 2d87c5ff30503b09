//! The content-update queue, from commit to light: order, waiting, feedback, callbacks, buffers.

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, set_stamp};
use crate::fixture::{ClientIndex, OUTPUT, TestToplevel, TestWorld};
use std::os::fd::{AsFd, OwnedFd};
use upbeat::surface::fence;
use upbeat_timing::time::Span;
use wayland_client::Proxy;
use wayland_client::protocol::{wl_subsurface::WlSubsurface, wl_surface::WlSurface};

const SIZE: (i32, i32) = (100, 80);
/// A time stamp this much after a refresh still means that refresh.
const TOLERANCE: Span = Span::from_millis(1);

struct UpdateStage {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
}

impl UpdateStage {
    /// A red window on screen: update 1.
    fn new() -> Self {
        let mut world = TestWorld::rendered();
        let (client, window) = world.open("a", SIZE.0, SIZE.1);
        let mut stage = UpdateStage { world, client, window };
        stage.commit(1, RED);
        stage.wait_for_feedback(1);
        stage.world.run_until_idle();
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
    fn commit_with_unfinished_child(&mut self) -> (WlSurface, WlSubsurface, OwnedFd) {
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
        self.world.run_until_idle();
        (child, subsurface, event)
    }

    /// Waits for the presentation feedback of an update.
    fn wait_for_feedback(&mut self, number: u32) {
        let client = self.client;
        self.world.run_until(&format!("feedback of {number}"), |world| {
            world.client(client).count_content_events(|heard| heard.is_end_of_feedback(number)) > 0
        });
    }

    fn called(&mut self, number: u32) {
        let client = self.client;
        self.world.run_until(&format!("callback {number}"), |world| {
            world.client(client).has_received(ContentEvent::Callback(number))
        });
    }

    fn released(&mut self, number: u32) {
        let client = self.client;
        self.world.run_until(&format!("release of {number}"), |world| {
            world.client(client).has_received(ContentEvent::Released(number))
        });
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
    fn assert_all_answered_once(&mut self, numbers: std::ops::RangeInclusive<u32>) {
        let client = self.world.client(self.client);
        for number in numbers.clone() {
            assert_eq!(
                client.count_content_events(|heard| heard.is_end_of_feedback(number)),
                1,
                "feedback of {number}"
            );
            assert!(
                client.count_content_events(|heard| heard == ContentEvent::Released(number)) <= 1,
                "releases of {number}"
            );
        }
        let callbacks: Vec<u32> = client.callbacks().into_iter().filter(|number| numbers.contains(number)).collect();
        assert_eq!(callbacks, numbers.collect::<Vec<_>>());
    }

    fn server_surface(&self) -> smithay::reexports::wayland_server::protocol::wl_surface::WlSurface {
        self.world.window("a").surface().clone()
    }
}

#[test]
fn fifo_presents_each_update_in_its_own_refresh() {
    let mut stage = UpdateStage::new();
    let surface = stage.surface();
    let fifo = stage.world.client(stage.client).fifo(&surface);
    for number in 2..=6 {
        fifo.set_barrier();
        fifo.wait_barrier();
        stage.commit(number, number);
    }
    stage.wait_for_feedback(6);
    stage.called(6);
    stage.world.run_until_idle();
    let shown: Vec<u64> = (2..=6).map(|number| stage.sequence(number)).collect();
    assert!(shown.windows(2).all(|pair| pair[0] < pair[1]), "two updates in one refresh: {shown:?}");
    stage.assert_all_answered_once(2..=6);
    for number in 1..=5 {
        stage.released(number);
    }
    assert!(!stage.world.client(stage.client).has_received(ContentEvent::Released(6)), "it is on screen");
    assert_eq!(stage.pixel(), 6);
}

#[test]
fn newest_update_supersedes_earlier_updates_without_fifo() {
    let mut stage = UpdateStage::new();
    for number in 2..=5 {
        stage.commit(number, number);
    }
    stage.wait_for_feedback(5);
    stage.called(5);
    stage.assert_all_answered_once(2..=5);
    for number in 2..=4 {
        assert!(stage.world.client(stage.client).has_received(ContentEvent::Discarded(number)));
        stage.released(number);
    }
}

#[test]
fn fifo_goes_on_while_the_surface_is_hidden() {
    let mut stage = UpdateStage::new();
    // Another window covers the stage's window.
    let cover = stage.world.open_in(stage.client, "cover", OUTPUT.0, OUTPUT.1);
    let surface = cover.surface.clone();
    stage.world.client(stage.client).draw(&surface, 90, OUTPUT, BLUE);
    surface.commit();
    stage.wait_for_feedback(90);
    let surface = stage.surface();
    let fifo = stage.world.client(stage.client).fifo(&surface);
    for number in 2..=4 {
        fifo.set_barrier();
        fifo.wait_barrier();
        stage.commit(number, number);
    }
    stage.called(4);
    stage.wait_for_feedback(4);
    stage.assert_all_answered_once(2..=4);
    stage.released(2);
    stage.released(3);
}

#[test]
fn fifo_goes_on_when_the_last_output_is_gone() {
    let mut stage = UpdateStage::new();
    stage.world.unplug("TEST-1");
    let surface = stage.surface();
    let fifo = stage.world.client(stage.client).fifo(&surface);
    for number in 2..=4 {
        fifo.set_barrier();
        fifo.wait_barrier();
        stage.commit(number, number);
    }
    stage.called(4);
    stage.wait_for_feedback(4);
    stage.assert_all_answered_once(2..=4);
}

#[test]
fn stamped_update_waits_for_its_time_and_blocks_later_updates() {
    let mut stage = UpdateStage::new();
    let surface = stage.surface();
    let timer = stage.world.client(stage.client).timer(&surface);
    let stamp = stage.world.now() + Span::from_millis(150);
    set_stamp(&timer, stamp);
    stage.commit(2, GREEN);
    stage.commit(3, BLUE);
    stage.world.settle();
    assert_eq!(stage.pixel(), RED);
    stage.wait_for_feedback(3);
    stage.called(3);
    stage.assert_all_answered_once(2..=3);
    let client = stage.client;
    let shown = stage.world.client(client).light(3).unwrap().0;
    assert!(shown + TOLERANCE >= stamp, "shown at {shown}, due at {stamp}");
    assert!(stage.world.client(client).has_received(ContentEvent::Discarded(2)), "both updates were due at one latch");
}

#[test]
fn stamped_fifo_updates_keep_their_order_and_their_times() {
    let mut stage = UpdateStage::new();
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
    stage.wait_for_feedback(5);
    stage.called(5);
    stage.assert_all_answered_once(2..=5);
    let shown: Vec<_> = (2..=5).map(|number| stage.world.client(client).light(number).unwrap().0).collect();
    assert!(shown.is_sorted(), "{shown:?}");
    assert!(shown.iter().zip(&stamps).all(|(shown, stamp)| *shown + TOLERANCE >= *stamp), "{shown:?} {stamps:?}");
}

#[test]
fn unfinished_buffer_blocks_its_update_and_later_updates() {
    let mut stage = UpdateStage::new();
    let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    let server = stage.server_surface();
    fence::acquire(&mut stage.world.state, &server, Box::new(event.as_fd().try_clone_to_owned().unwrap()));
    stage.commit(2, GREEN);
    stage.commit(3, BLUE);
    stage.world.settle();
    stage.world.run_until_idle();
    assert_eq!(stage.pixel(), RED);
    assert!(stage.world.client(stage.client).callbacks().iter().all(|number| *number == 1));

    rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
    stage.wait_for_feedback(3);
    stage.called(3);
    assert_eq!(stage.pixel(), BLUE);
    stage.assert_all_answered_once(2..=3);
    stage.released(2);
}

#[test]
fn a_finished_buffer_does_not_wait() {
    let mut stage = UpdateStage::new();
    let event = rustix::event::eventfd(1, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    let server = stage.server_surface();
    fence::acquire(&mut stage.world.state, &server, Box::new(event));
    stage.commit(2, GREEN);
    stage.world.settle();
    assert_eq!(stage.world.state.surfaces.get(&server).unwrap().queued_updates(), 0);
}

#[test]
fn unfinished_buffer_of_a_synchronised_child_blocks_its_parent() {
    let mut stage = UpdateStage::new();
    let (_child, _subsurface, event) = stage.commit_with_unfinished_child();
    assert_eq!(stage.pixel(), RED, "neither the child nor the parent");
    rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
    stage.wait_for_feedback(2);
    let origin = stage.world.window("a").origin();
    assert_eq!(
        (stage.world.pixel(origin.x + 5, origin.y + 5), stage.world.pixel(origin.x + 20, origin.y + 20)),
        (GREEN, BLUE)
    );
}

#[test]
fn destroyed_surface_releases_its_queued_buffers() {
    let mut stage = UpdateStage::new();
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
        stage.wait_for_feedback(number);
    }
    let client = stage.world.client(stage.client);
    for number in 1..=4 {
        assert_eq!(client.count_content_events(|heard| heard == ContentEvent::Released(number)), 1);
        assert_eq!(client.count_content_events(|heard| heard.is_end_of_feedback(number)), 1);
    }
    assert!((2..=4).all(|number| client.has_received(ContentEvent::Discarded(number))));
    assert!(client.error.is_none());
}

#[test]
fn unmap_waits_for_earlier_updates() {
    let mut stage = UpdateStage::new();
    let surface = stage.surface();
    let timer = stage.world.client(stage.client).timer(&surface);
    set_stamp(&timer, stage.world.now() + Span::from_millis(500));
    stage.commit(2, GREEN);
    surface.attach(None, 0, 0);
    stage.world.client(stage.client).request_feedback(&surface, 3);
    surface.commit();
    stage.world.settle();
    let server = stage.server_surface();
    assert_eq!(stage.world.state.surfaces.get(&server).unwrap().queued_updates(), 2, "it waits for its turn");
    stage.wait_for_feedback(3);
    stage.released(2);
    stage.world.run_until_idle();
    assert!(stage.world.stack().is_empty(), "unmapped");
    let client = stage.world.client(stage.client);
    assert!(client.has_received(ContentEvent::Discarded(2)) && client.has_received(ContentEvent::Discarded(3)));
    assert_eq!(client.count_content_events(|heard| heard == ContentEvent::Released(2)), 1);
}

#[test]
fn client_death_with_queued_updates_is_harmless() {
    let mut stage = UpdateStage::new();
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
    stage.wait_for_feedback(10);
    assert!(stage.world.client(other).light(10).is_some());
}

#[test]
fn hidden_content_gets_callbacks_and_discarded_feedback() {
    let mut stage = UpdateStage::new();
    let cover = stage.world.open_in(stage.client, "cover", OUTPUT.0, OUTPUT.1);
    stage.world.client(stage.client).draw(&cover.surface, 90, OUTPUT, BLUE);
    cover.surface.commit();
    stage.wait_for_feedback(90);
    let surface = stage.surface();
    surface.attach(Some(&stage.world.client(stage.client).solid(2, SIZE.0, SIZE.1, GREEN)), 0, 0);
    let handle = stage.world.client(stage.client).handle();
    stage.world.client(stage.client).globals().presentation.feedback(&surface, &handle, 2);
    surface.commit();
    stage.wait_for_feedback(2);
    assert!(stage.world.client(stage.client).has_received(ContentEvent::Discarded(2)));
}

#[test]
fn content_after_a_flood_of_empty_commits_is_shown() {
    let mut stage = UpdateStage::new();
    let surface = stage.surface();
    for number in 2..=5 {
        (0..300).for_each(|_| surface.commit());
        stage.commit(number, if number % 2 == 0 { GREEN } else { BLUE });
        stage.wait_for_feedback(number);
        stage.called(number);
    }
    assert_eq!(stage.pixel(), BLUE);
    stage.assert_all_answered_once(1..=5);
}

#[test]
fn destroyed_unfinished_child_unblocks_its_parent() {
    let mut stage = UpdateStage::new();
    let (child, subsurface, event) = stage.commit_with_unfinished_child();
    subsurface.destroy();
    child.destroy();
    stage.world.settle();
    rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
    stage.commit(3, GREEN);
    stage.wait_for_feedback(3);
    assert_eq!(stage.pixel(), GREEN);
}
