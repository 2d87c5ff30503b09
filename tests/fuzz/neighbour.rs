//! Somebody who behaves, beside those who do not: what is asserted is what is seen of him.

use upbeat_timing::time::{Clock, Instant, Span};

use wayland_client::protocol::wl_buffer::WlBuffer;

use crate::fixture::content::{GREEN, Heard};
use crate::fixture::simulated::nothing;
use crate::fixture::{Client, ClientIndex, Event, Toplevel, World};

const SIZE: (i32, i32) = (60, 40);
/// A frame is shown or, where others cover it, given up or called back for after that long: a window that is not seen is
/// called back once a second.
const LONGEST: Span = Span::from_millis(1_500);
/// The first frame of a window that nothing covers is shown within that time, and so is each that follows.
const SEEN_WITHIN: Span = Span::from_millis(100);
/// Frames that it draws in that window.
const FRAMES_ALONE: u32 = 4;
/// Between two looks.
const STEP: Span = Span::from_millis(4);
/// Buffers that may be on the screen, or on the way to it.
const KEPT: usize = 4;

pub struct Neighbour {
    pub client: ClientIndex,
    window: Toplevel,
    number: u32,
    /// The last ones: those before are given back.
    buffers: Vec<WlBuffer>,
    drawn: Option<Instant>,
    /// Frames that came to light.
    pub shown: u32,
}

impl Neighbour {
    pub fn new(world: &mut World) -> Self {
        let client = world.connect();
        let (window, buffer) = open(world, client, 1);
        Neighbour { client, window, number: 1, buffers: vec![buffer], drawn: None, shown: 0 }
    }

    /// Draws when its last frame has come to an end, and looks whether that took too long.
    pub fn go_on(&mut self, world: &mut World) {
        let now = world.state.clock.now();
        let client = world.client(self.client);
        assert!(!client.is_gone(), "the neighbour was ended: {:?} {}", client.error, client.said());
        answer_all(client);
        let number = self.number;
        let ended = client.count(|heard| heard.is_end_of_feedback(number)) > 0;
        let called = client.heard(Heard::Called(number));
        if let Some(drawn) = self.drawn.filter(|_| !ended && !called) {
            assert!(now - drawn < LONGEST, "frame {number} of the neighbour had no end for {}", now - drawn);
            return;
        }
        // The light of a frame comes after its callback: it may be that of the frame before.
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

    /// All others are gone: what it draws in a window that it opens now is seen, from the first frame on.
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
            assert!(waited < SEEN_WITHIN && !given_up, "a new window was not seen for {waited}: {heard:?}");
            world.run_for(STEP, &mut nothing);
        }
        let (start, before) = (world.state.clock.now(), self.shown);
        while self.shown < before + FRAMES_ALONE {
            let (waited, shown) = (world.state.clock.now() - start, self.shown - before);
            assert!(waited < SEEN_WITHIN * i64::from(FRAMES_ALONE), "{shown} frames came to light within {waited}");
            self.go_on(world);
            world.run_for(STEP, &mut nothing);
        }
    }
}

/// Acknowledges what all of its windows were told, and gives back what others have copied or drag: it pastes nothing.
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
