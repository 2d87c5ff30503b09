//! A well-behaved client beside the misbehaving clients. The tests assert that its frames are shown.

use upbeat_timing::time::{Clock, Instant, Span};

use wayland_client::protocol::wl_buffer::WlBuffer;

use crate::fixture::content::{GREEN, Heard};
use crate::fixture::simulated::nothing;
use crate::fixture::{Client, ClientIndex, Event, Toplevel, World};

const SIZE: (i32, i32) = (60, 40);
/// Within this time a frame is presented, discarded or called back. A hidden window gets one callback a second, hence
/// more than a second.
const LONGEST: Span = Span::from_millis(1_500);
/// In an uncovered window, the first frame is shown within this time, and so is each frame that follows.
const SEEN_WITHIN: Span = Span::from_millis(100);
/// Frames that the client draws in the uncovered window.
const FRAMES_ALONE: u32 = 4;
const STEP: Span = Span::from_millis(4);
/// Buffers that may be on screen or queued.
const KEPT: usize = 4;

pub struct Neighbour {
    pub client: ClientIndex,
    window: Toplevel,
    number: u32,
    /// The newest buffers; older buffers are destroyed.
    buffers: Vec<WlBuffer>,
    drawn: Option<Instant>,
    /// Frames that were presented.
    pub shown: u32,
}

impl Neighbour {
    pub fn new(world: &mut World) -> Self {
        let client = world.connect();
        let (window, buffer) = open(world, client, 1);
        Neighbour { client, window, number: 1, buffers: vec![buffer], drawn: None, shown: 0 }
    }

    /// Draws once the last frame was presented, discarded or called back. Asserts that this did not take too long.
    pub fn go_on(&mut self, world: &mut World) {
        let now = world.state.clock.now();
        let client = world.client(self.client);
        assert!(!client.is_gone(), "the neighbour was ended: {:?} {}", client.error, client.said());
        answer_all(client);
        let number = self.number;
        let ended = client.count(|heard| heard.is_end_of_feedback(number)) > 0;
        let called = client.heard(Heard::Called(number));
        if let Some(drawn) = self.drawn.filter(|_| !ended && !called) {
            assert!(
                now - drawn < LONGEST,
                "frame {number} of the neighbour was not presented, discarded or called back for {}",
                now - drawn
            );
            return;
        }
        // A frame is presented after its callback, so this may be the light of an earlier frame.
        self.shown += client.count(|heard| matches!(heard, Heard::Presented { .. })) as u32;
        client.data.heard.clear();
        self.number += 1;
        let buffer = client.solid(self.number, SIZE.0, SIZE.1, GREEN);
        self.window.surface.attach(Some(&buffer), 0, 0);
        self.window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
        client.ask(&self.window.surface, self.number);
        self.window.surface.commit();
        self.buffers.push(buffer);
        let old = self.buffers.len().saturating_sub(KEPT);
        self.buffers.drain(..old).for_each(|buffer| buffer.destroy());
        self.drawn = Some(now);
    }

    /// Asserts that a window that opens after all other clients have left is shown, from its first frame on.
    pub fn is_seen(&mut self, world: &mut World) {
        let start = world.state.clock.now();
        self.window.surface.attach(None, 0, 0);
        self.window.surface.commit();
        self.number += 1;
        let (new, buffer) = open(world, self.client, self.number);
        self.buffers.push(buffer);
        let old = std::mem::replace(&mut self.window, new);
        old.toplevel.destroy();
        old.xdg.destroy();
        old.surface.destroy();
        self.drawn = Some(start);
        let first = self.number;
        while world.client(self.client).light(first).is_none() {
            let waited = world.state.clock.now() - start;
            let heard = &world.client(self.client).data.heard;
            let given_up = heard.contains(&Heard::Discarded(first));
            assert!(waited < SEEN_WITHIN && !given_up, "a new window was not shown for {waited}: {heard:?}");
            world.run_for(STEP, &mut nothing);
        }
        let (start, before) = (world.state.clock.now(), self.shown);
        while self.shown < before + FRAMES_ALONE {
            let (waited, shown) = (world.state.clock.now() - start, self.shown - before);
            assert!(
                waited < SEEN_WITHIN * i64::from(FRAMES_ALONE),
                "only {shown} frames were presented within {waited}"
            );
            self.go_on(world);
            world.run_for(STEP, &mut nothing);
        }
    }
}

/// Acknowledges the configures of all windows, and destroys the offers of selections and drags, since the client pastes
/// nothing.
fn answer_all(client: &mut Client) {
    for event in client.take_events() {
        match event {
            Event::Configure { surface, serial } => surface.ack_configure(serial),
            Event::Selection(Some(offer)) => offer.destroy(),
            _ => {}
        }
    }
    client.data.drag_offers.drain(..).for_each(|offer| offer.destroy());
}

fn open(world: &mut World, client: ClientIndex, number: u32) -> (Toplevel, WlBuffer) {
    let window = world.client(client).toplevel("neighbour");
    for _ in 0..4 {
        world.turn();
    }
    answer_all(world.client(client));
    let client = world.client(client);
    let buffer = client.solid(number, SIZE.0, SIZE.1, GREEN);
    window.surface.attach(Some(&buffer), 0, 0);
    window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
    client.ask(&window.surface, number);
    window.surface.commit();
    (window, buffer)
}
