//! A client whose frames do not always fit into a refresh, with the fewest buffers that a program can have. It gets the
//! time of its slowest frames, and no callback while it has no free buffer, because some programs exit then.

use upbeat::surface::SurfaceEntry;
use upbeat_timing::pacer::CallbackPacingReason;
use wayland_client::protocol::wl_buffer::WlBuffer;

use super::*;
use crate::fixture::content::set_stamp;
use crate::fixture::simulated::name;

/// Cost of its frames: most fit into a refresh, one in eight does not.
const USUAL: Span = Span::from_millis(6);
const LONG: Span = Span::from_millis(28);
const ONE_LONG_IN: u32 = 8;
/// Number of its first buffer, and number of its callback.
const FIRST_BUFFER: u32 = 10;
const CALLBACK: u32 = 3;
/// Time until the pacer has learned its cost, and time of the measurement after that.
const LEARNED: Span = Span::from_seconds(3);
const WATCHED: Span = Span::from_seconds(5);

struct SlowClient {
    client: ClientIndex,
    window: TestToplevel,
    held: Vec<bool>,
    draws_until: Option<Instant>,
    frames: u32,
    starved: u32,
    usual: Span,
    long: Span,
    /// Buffers that the client destroys as soon as they are released; `None` if it keeps its buffers.
    self_destroyed: Option<Vec<Option<WlBuffer>>>,
}

impl SlowClient {
    /// A client with this number of buffers, which has drawn until the pacer learned its cost.
    fn with_learned_cost(world: &mut TestWorld, buffers: usize) -> Self {
        Self::with_learned_costs(world, buffers, USUAL, LONG)
    }

    fn with_learned_costs(world: &mut TestWorld, buffers: usize, usual: Span, long: Span) -> Self {
        let mut heavy = Self::open(world, buffers, usual, long);
        heavy.learn_cost(world);
        heavy
    }

    fn open(world: &mut TestWorld, buffers: usize, usual: Span, long: Span) -> Self {
        // The first buffer has another size, so that the client cannot reuse it.
        let (client, window) = world.open_filled("heavy", (SIZE.0 / 2, SIZE.1), RED);
        world.run_until_idle();
        world.client(client).data.content_events.clear();
        let held = vec![false; buffers];
        SlowClient { client, window, held, draws_until: None, frames: 0, starved: 0, usual, long, self_destroyed: None }
    }

    fn learn_cost(&mut self, world: &mut TestWorld) {
        self.commit(world, 0);
        world.run_for(LEARNED, &mut |world| self.update(world));
        let output = world.output(0);
        let pacer = world.state.surfaces.iter().find_map(|entry| output.pacer(entry.client())).expect("it is paced");
        assert_eq!(pacer.effective().1, CallbackPacingReason::FreeRunning);
    }

    /// Handles events, and draws and commits as due. Returns the time of the next commit.
    fn update(&mut self, world: &mut TestWorld) -> Option<Instant> {
        let now = world.now();
        if self.handle_events(world) {
            self.starved += u32::from(self.free().is_none());
            let long = self.frames.is_multiple_of(ONE_LONG_IN);
            self.draws_until = Some(now + if long { self.long } else { self.usual });
        }
        if self.draws_until.is_some_and(|until| until <= now)
            && let Some(free) = self.free()
        {
            self.draws_until = None;
            self.commit(world, free);
        }
        self.draws_until.filter(|until| *until > now)
    }

    /// Handles all events. Returns whether the frame callback came.
    fn handle_events(&mut self, world: &mut TestWorld) -> bool {
        let heard = std::mem::take(&mut world.client(self.client).data.content_events);
        for (index, held) in (FIRST_BUFFER..).zip(&mut self.held) {
            *held &= !heard.contains(&ContentEvent::Released(index));
        }
        for (made, held) in self.self_destroyed.iter_mut().flatten().zip(&self.held) {
            made.take_if(|_| !held).iter().for_each(WlBuffer::destroy);
        }
        heard.contains(&ContentEvent::Callback(CALLBACK))
    }

    fn free(&self) -> Option<usize> {
        self.held.iter().position(|held| !held)
    }

    fn commit(&mut self, world: &mut TestWorld, free: usize) {
        self.frames += 1;
        self.held[free] = true;
        let colour = [RED, GREEN, BLUE][self.frames as usize % 3];
        let (client, surface) = (world.client(self.client), &self.window.surface);
        let buffer = client.solid(FIRST_BUFFER + free as u32, SIZE.0, SIZE.1, colour);
        surface.attach(Some(&buffer), 0, 0);
        surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
        surface.frame(&client.handle(), CALLBACK);
        surface.commit();
        if let Some(made) = &mut self.self_destroyed {
            made[free] = Some(buffer);
        }
    }
}

#[test]
fn two_buffers_are_enough_for_a_second_period() {
    let mut world = TestWorld::simulated(&[60_000]);
    let mut heavy = SlowClient::with_learned_cost(&mut world, 2);
    let began = heavy.frames;
    world.run_for(WATCHED, &mut |world| heavy.update(world));
    assert_eq!(heavy.starved, 0, "called back without a buffer");
    let drawn = heavy.frames - began;
    let refreshes = (WATCHED.as_nanos() / interval(&world, 0).as_nanos()) as u32;
    assert!(drawn + 1 >= refreshes, "{drawn} frames in {refreshes} refreshes");
}

/// As in Firefox, which never has more buffers than are shown or waiting.
#[test]
fn client_with_a_new_buffer_for_each_frame_does_not_count_as_starved() {
    let mut world = TestWorld::simulated(&[60_000]);
    let mut heavy = SlowClient::open(&mut world, 6, USUAL, LONG);
    heavy.self_destroyed = Some(vec![None; 6]);
    heavy.learn_cost(&mut world);
    let known = world.state.surfaces.iter().map(SurfaceEntry::buffers).max();
    assert!(known >= Some(6), "{known:?} buffers");
}

/// As in a browser, which also draws from a timer of its own.
#[test]
fn commits_between_callbacks_are_not_delayed() {
    let mut world = TestWorld::simulated(&[60_000]);
    let mut heavy = SlowClient::with_learned_cost(&mut world, 4);
    let (mut between, mut waited) = (world.now(), 0);
    let mut act = |world: &mut TestWorld, counts: bool| {
        waited += usize::from(counts && world.state.surfaces.iter().any(|entry| entry.queued_updates() > 0));
        if between <= world.now()
            && let Some(free) = heavy.free()
        {
            between = world.now() + interval(world, 0) * 3;
            heavy.commit(world, free);
        }
        heavy.update(world).into_iter().chain([between.max(world.now() + Span::from_millis(1))]).min()
    };
    world.run_for(LEARNED, &mut |world| act(world, false));
    world.run_for(WATCHED, &mut |world| act(world, true));
    assert_eq!(waited, 0, "times at which something was held");
}

#[test]
fn client_that_stops_waiting_for_callbacks_always_has_a_free_buffer() {
    let mut world = TestWorld::simulated(&[60_000]);
    let mut heavy = SlowClient::with_learned_cost(&mut world, 4);
    let mut next = world.now();
    world.run_for(WATCHED, &mut |world| {
        let now = world.now();
        heavy.handle_events(world);
        if next <= now {
            next = now + USUAL;
            let free = heavy.free().expect("a buffer is free");
            heavy.commit(world, free);
        }
        Some(next)
    });
}

/// Refresh numbers differ between outputs, so a wait for a refresh of the first output must not become a wait on the
/// second.
#[test]
fn update_that_waits_for_an_unplugged_output_is_shown_on_another() {
    let mut world = TestWorld::simulated(&[144_000, 60_000]);
    let (x, y) = middle(0);
    world.point(x, y);
    let mut heavy = SlowClient::with_learned_costs(&mut world, 2, Span::from_millis(3), Span::from_micros(12_500));
    for _ in 0..10_000 {
        world.run_for(Span::from_micros(100), &mut |world| heavy.update(world));
        if world.state.surfaces.iter().any(|entry| entry.queued_updates() > 0) {
            break;
        }
    }
    assert!(world.state.surfaces.iter().any(|entry| entry.queued_updates() > 0), "none of its updates ever waits");
    world.unplug(&name(0));
    let began = heavy.frames;
    world.run_for(LEARNED, &mut |world| heavy.update(world));
    assert!(heavy.frames - began > 100, "{} frames in {LEARNED}", heavy.frames - began);
    assert_eq!(heavy.starved, 0, "called back without a buffer");
}

/// A surface that waits does not delay other surfaces of its client.
#[test]
fn waiting_surface_does_not_delay_other_surfaces_of_its_client() {
    let mut world = TestWorld::simulated(&[60_000]);
    let heavy = SlowClient::with_learned_cost(&mut world, 2);
    let client = heavy.client;
    let far = world.now() + LEARNED * 3;
    let (video, subsurface) = world.client(client).subsurface(&heavy.window.surface);
    subsurface.set_desync();
    world.client(client).draw(&video, 60, (20, 20), GREEN);
    video.commit();
    heavy.window.surface.commit();
    world.run_for(interval(&world, 0) * 6, &mut nothing);
    let timer = world.client(client).timer(&video);
    set_stamp(&timer, far);
    world.client(client).draw(&video, 61, (20, 20), BLUE);
    video.commit();

    let (menu, subsurface) = world.client(client).subsurface(&heavy.window.surface);
    subsurface.set_desync();
    subsurface.set_position(30, 30);
    heavy.window.surface.commit();
    world.client(client).data.content_events.clear();
    let draw = |world: &mut TestWorld, number: u32| {
        world.client(client).draw(&menu, 70 + number, (20, 20), GREEN);
        world.client(client).request_feedback(&menu, 5);
        menu.commit();
    };
    draw(&mut world, 0);
    let mut called = 0;
    world.run_for(LEARNED, &mut |world| {
        if std::mem::take(&mut world.client(client).data.content_events).contains(&ContentEvent::Callback(5)) {
            called += 1;
            draw(world, called);
        }
        None
    });
    assert!(called > 170, "called back {called} times in {LEARNED}");
}
