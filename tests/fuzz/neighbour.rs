//! A well-behaved client beside the misbehaving clients. The tests assert that its frames are shown.

use upbeat_timing::time::{Clock, Instant, Span};

use wayland_client::protocol::wl_buffer::WlBuffer;

use crate::fixture::content::{ContentEvent, GREEN};
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientEvent, ClientIndex, TestClient, TestToplevel, TestWorld};

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
    window: TestToplevel,
    number: u32,
    /// The newest buffers; older buffers are destroyed.
    buffers: Vec<WlBuffer>,
    drawn: Option<Instant>,
    /// Frames that were presented.
    pub shown: u32,
}

impl Neighbour {
    pub fn new(world: &mut TestWorld) -> Self {
        let client = world.connect();
        let (window, buffer) = open(world, client, 1);
        Neighbour { client, window, number: 1, buffers: vec![buffer], drawn: None, shown: 0 }
    }

    /// Draws once the last frame was presented, discarded or called back. Asserts that this did not take too long.
    pub fn draw_next(&mut self, world: &mut TestWorld) {
        let now = world.state.clock.now();
        let client = world.client(self.client);
        assert!(!client.is_disconnected(), "the neighbour was ended: {:?} {}", client.error, client.error_message());
        answer_all(client);
        let number = self.number;
        let ended = client.count_content_events(|heard| heard.is_end_of_feedback(number)) > 0;
        let called = client.has_received(ContentEvent::Callback(number));
        if let Some(drawn) = self.drawn.filter(|_| !ended && !called) {
            assert!(
                now - drawn < LONGEST,
                "frame {number} of the neighbour was not presented, discarded or called back for {}",
                now - drawn
            );
            return;
        }
        // A frame is presented after its callback, so this may be the light of an earlier frame.
        self.shown += client.count_content_events(|heard| matches!(heard, ContentEvent::Presented { .. })) as u32;
        client.data.content_events.clear();
        self.number += 1;
        let buffer = client.solid(self.number, SIZE.0, SIZE.1, GREEN);
        self.window.surface.attach(Some(&buffer), 0, 0);
        self.window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
        client.request_feedback(&self.window.surface, self.number);
        self.window.surface.commit();
        self.buffers.push(buffer);
        let old = self.buffers.len().saturating_sub(KEPT);
        self.buffers.drain(..old).for_each(|buffer| buffer.destroy());
        self.drawn = Some(now);
    }

    /// Asserts that a window that opens after all other clients have left is shown, from its first frame on.
    pub fn assert_new_window_is_shown(&mut self, world: &mut TestWorld) {
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
            let heard = &world.client(self.client).data.content_events;
            let given_up = heard.contains(&ContentEvent::Discarded(first));
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
            self.draw_next(world);
            world.run_for(STEP, &mut nothing);
        }
    }
}

/// Acknowledges the configures of all windows, and destroys the offers of selections and drags, since the client pastes
/// nothing.
fn answer_all(client: &mut TestClient) {
    for event in client.take_events() {
        match event {
            ClientEvent::Configure { surface, serial } => surface.ack_configure(serial),
            ClientEvent::Selection(Some(offer)) => offer.destroy(),
            _ => {}
        }
    }
    client.data.drag_offers.drain(..).for_each(|offer| offer.destroy());
}

fn open(world: &mut TestWorld, client: ClientIndex, number: u32) -> (TestToplevel, WlBuffer) {
    let window = world.client(client).toplevel("neighbour");
    for _ in 0..4 {
        world.turn();
    }
    answer_all(world.client(client));
    let client = world.client(client);
    let buffer = client.solid(number, SIZE.0, SIZE.1, GREEN);
    window.surface.attach(Some(&buffer), 0, 0);
    window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
    client.request_feedback(&window.surface, number);
    window.surface.commit();
    (window, buffer)
}
