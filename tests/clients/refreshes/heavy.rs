//! A client whose frames do not always fit into a refresh, with the fewest buffers that a program can have. It gets the
//! time of its slowest frames, and no callback while it has no free buffer, because some programs exit then.

use upbeat::surface::Entry;
use upbeat_timing::pacer::Reason;
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

struct Heavy {
    client: ClientIndex,
    window: Toplevel,
    held: Vec<bool>,
    draws_until: Option<Instant>,
    frames: u32,
    starved: u32,
    usual: Span,
    long: Span,
    /// Buffers that the client destroys as soon as they are released; `None` if it keeps its buffers.
    made: Option<Vec<Option<WlBuffer>>>,
}

impl Heavy {
    /// A client with this number of buffers, which has drawn until the pacer learned its cost.
    fn known(world: &mut World, buffers: usize) -> Self {
        Self::known_of(world, buffers, USUAL, LONG)
    }

    fn known_of(world: &mut World, buffers: usize, usual: Span, long: Span) -> Self {
        let mut heavy = Self::open(world, buffers, usual, long);
        heavy.become_known(world);
        heavy
    }

    fn open(world: &mut World, buffers: usize, usual: Span, long: Span) -> Self {
        // The first buffer has another size, so that the client cannot reuse it.
        let (client, window) = world.open_filled("heavy", (SIZE.0 / 2, SIZE.1), RED);
        world.rest();
        world.client(client).data.heard.clear();
        let held = vec![false; buffers];
        Heavy { client, window, held, draws_until: None, frames: 0, starved: 0, usual, long, made: None }
    }

    fn become_known(&mut self, world: &mut World) {
        self.commit(world, 0);
        world.run_for(LEARNED, &mut |world| self.act(world));
        let output = world.output(0);
        let pacer = world.state.surfaces.iter().find_map(|entry| output.pacer(entry.client())).expect("it is paced");
        assert_eq!(pacer.effective().1, Reason::FreeRunning);
    }

    /// Handles events, and draws and commits as due. Returns the time of the next commit.
    fn act(&mut self, world: &mut World) -> Option<Instant> {
        let now = world.now();
        if self.hear(world) {
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
    fn hear(&mut self, world: &mut World) -> bool {
        let heard = std::mem::take(&mut world.client(self.client).data.heard);
        for (index, held) in (FIRST_BUFFER..).zip(&mut self.held) {
            *held &= !heard.contains(&Heard::Released(index));
        }
        for (made, held) in self.made.iter_mut().flatten().zip(&self.held) {
            made.take_if(|_| !held).iter().for_each(WlBuffer::destroy);
        }
        heard.contains(&Heard::Called(CALLBACK))
    }

    fn free(&self) -> Option<usize> {
        self.held.iter().position(|held| !held)
    }

    fn commit(&mut self, world: &mut World, free: usize) {
        self.frames += 1;
        self.held[free] = true;
        let colour = [RED, GREEN, BLUE][self.frames as usize % 3];
        let (client, surface) = (world.client(self.client), &self.window.surface);
        let buffer = client.solid(FIRST_BUFFER + free as u32, SIZE.0, SIZE.1, colour);
        surface.attach(Some(&buffer), 0, 0);
        surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
        surface.frame(&client.handle(), CALLBACK);
        surface.commit();
        if let Some(made) = &mut self.made {
            made[free] = Some(buffer);
        }
    }
}

#[test]
fn two_buffers_are_enough_for_a_second_period() {
    let mut world = World::simulated(&[60_000]);
    let mut heavy = Heavy::known(&mut world, 2);
    let began = heavy.frames;
    world.run_for(WATCHED, &mut |world| heavy.act(world));
    assert_eq!(heavy.starved, 0, "called back without a buffer");
    let drawn = heavy.frames - began;
    let refreshes = (WATCHED.as_nanos() / interval(&world, 0).as_nanos()) as u32;
    assert!(drawn + 1 >= refreshes, "{drawn} frames in {refreshes} refreshes");
}

/// As in Firefox, which never has more buffers than are shown or waiting.
#[test]
fn who_makes_a_buffer_for_each_frame_and_destroys_it_right_after_is_not_taken_for_one_without_buffers() {
    let mut world = World::simulated(&[60_000]);
    let mut heavy = Heavy::open(&mut world, 6, USUAL, LONG);
    heavy.made = Some(vec![None; 6]);
    heavy.become_known(&mut world);
    let known = world.state.surfaces.iter().map(Entry::buffers).max();
    assert!(known >= Some(6), "{known:?} buffers");
}

/// As in a browser, which also draws from a timer of its own.
#[test]
fn what_is_drawn_between_the_answers_is_not_held_up_by_them() {
    let mut world = World::simulated(&[60_000]);
    let mut heavy = Heavy::known(&mut world, 4);
    let (mut between, mut waited) = (world.now(), 0);
    let mut act = |world: &mut World, counts: bool| {
        waited += usize::from(counts && world.state.surfaces.iter().any(|entry| entry.waiting() > 0));
        if between <= world.now()
            && let Some(free) = heavy.free()
        {
            between = world.now() + interval(world, 0) * 3;
            heavy.commit(world, free);
        }
        heavy.act(world).into_iter().chain([between.max(world.now() + Span::from_millis(1))]).min()
    };
    world.run_for(LEARNED, &mut |world| act(world, false));
    world.run_for(WATCHED, &mut |world| act(world, true));
    assert_eq!(waited, 0, "times at which something was held");
}

#[test]
fn who_stops_waiting_for_its_callbacks_always_finds_a_buffer_free() {
    let mut world = World::simulated(&[60_000]);
    let mut heavy = Heavy::known(&mut world, 4);
    let mut next = world.now();
    world.run_for(WATCHED, &mut |world| {
        let now = world.now();
        heavy.hear(world);
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
fn who_waits_for_a_refresh_of_an_output_that_goes_is_shown_on_another() {
    let mut world = World::simulated(&[144_000, 60_000]);
    let (x, y) = middle(0);
    world.point(x, y);
    let mut heavy = Heavy::known_of(&mut world, 2, Span::from_millis(3), Span::from_micros(12_500));
    for _ in 0..10_000 {
        world.run_for(Span::from_micros(100), &mut |world| heavy.act(world));
        if world.state.surfaces.iter().any(|entry| entry.waiting() > 0) {
            break;
        }
    }
    assert!(world.state.surfaces.iter().any(|entry| entry.waiting() > 0), "none of its updates ever waits");
    world.unplug(&name(0));
    let began = heavy.frames;
    world.run_for(LEARNED, &mut |world| heavy.act(world));
    assert!(heavy.frames - began > 100, "{} frames in {LEARNED}", heavy.frames - began);
    assert_eq!(heavy.starved, 0, "called back without a buffer");
}

/// A surface that waits does not delay other surfaces of its client.
#[test]
fn a_surface_moves_while_another_of_its_client_waits_for_its_time() {
    let mut world = World::simulated(&[60_000]);
    let heavy = Heavy::known(&mut world, 2);
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
    world.client(client).data.heard.clear();
    let draw = |world: &mut World, number: u32| {
        world.client(client).draw(&menu, 70 + number, (20, 20), GREEN);
        world.client(client).ask(&menu, 5);
        menu.commit();
    };
    draw(&mut world, 0);
    let mut called = 0;
    world.run_for(LEARNED, &mut |world| {
        if std::mem::take(&mut world.client(client).data.heard).contains(&Heard::Called(5)) {
            called += 1;
            draw(world, called);
        }
        None
    });
    assert!(called > 170, "called back {called} times in {LEARNED}");
}
