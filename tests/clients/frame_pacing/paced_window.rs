//! A window whose client draws ahead.

use upbeat_timing::time::{Instant, Span};
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::ContentEvent;
use crate::fixture::pacing::{DiscardReason, Pacing, PacingTarget, UpbeatFramePacingV1, bind};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

pub const SIZE: (i32, i32) = (100, 80);

pub struct PacedWindow {
    pub world: TestWorld,
    pub client: ClientIndex,
    pub window: TestToplevel,
    pub pacing: UpbeatFramePacingV1,
}

impl PacedWindow {
    /// A window on screen (update 1000) whose client requested to draw `limit` frames ahead.
    pub fn new(limit: u32) -> Self {
        let mut world = TestWorld::slow();
        let (client, window) = world.open("a", SIZE.0, SIZE.1);
        let pacing = world.client(client).pacing(&window.surface);
        pacing.set_pacing(Pacing::Ahead);
        pacing.set_ahead_limit(limit);
        let mut stage = PacedWindow { world, client, window, pacing };
        stage.draw(1000, 0x0080_8080);
        stage.surface().commit();
        stage.wait_for_feedback(1000);
        stage.world.run_until_idle();
        stage
    }

    pub fn surface(&self) -> WlSurface {
        self.window.surface.clone()
    }

    /// Attaches a frame; does not commit.
    pub fn draw(&mut self, number: u32, colour: u32) {
        let surface = self.surface();
        self.world.client(self.client).draw(&surface, number, SIZE, colour);
    }

    /// Requests `count` targets and waits for them.
    pub fn targets(&mut self, count: usize) -> Vec<PacingTarget> {
        let (client, before) = (self.client, self.world.client(self.client).targets().len());
        for _ in 0..count {
            self.pacing.request_target();
        }
        self.world.run_until("targets", |world| world.client(client).targets().len() >= before + count);
        self.world.client(client).targets().split_off(before)
    }

    /// Commits a frame for a target: the target's id is the number of the update and its colour.
    pub fn frame(&mut self, target: &PacingTarget) {
        let number = target.id as u32;
        bind(&self.pacing, target.id);
        self.draw(number, number);
        self.surface().commit();
    }

    /// Waits for the end of an update's feedback.
    pub fn wait_for_feedback(&mut self, number: u32) {
        let client = self.client;
        self.world.run_until(&format!("feedback of {number}"), |world| {
            world.client(client).count_content_events(|heard| heard.is_end_of_feedback(number)) > 0
        });
    }

    /// Waits until a frame is presented or discarded.
    pub fn wait_for_fate(&mut self, target: &PacingTarget) -> Result<Instant, DiscardReason> {
        let (client, id) = (self.client, target.id);
        self.world.run_until(&format!("the end of frame {id}"), |world| world.client(client).fate(id).is_some());
        self.world.client(client).fate(id).unwrap()
    }

    pub fn has_received(&mut self, what: ContentEvent) -> bool {
        self.world.client(self.client).has_received(what)
    }

    pub fn pixel(&self) -> u32 {
        let origin = self.world.window("a").origin();
        self.world.pixel(origin.x + 10, origin.y + 10)
    }
}

/// How many refreshes `shown` lies after the target's; negative: before.
pub fn refreshes_late(target: &PacingTarget, shown: Instant) -> i64 {
    let (late, interval) = ((shown - target.present).as_nanos(), target.interval.as_nanos());
    (late + interval.signum() * interval / 2).div_euclid(interval)
}

/// Each target lies a whole number of intervals after the target before it.
#[track_caller]
pub fn on_the_grid(targets: &[PacingTarget]) {
    for pair in targets.windows(2) {
        let (step, interval) = (pair[1].present - pair[0].present, pair[0].interval);
        let intervals = (step.as_nanos() + interval.as_nanos() / 2) / interval.as_nanos();
        assert!(intervals >= 1 && (step - interval * intervals).abs() < interval / 8, "{targets:?}");
        assert!(pair[1].id > pair[0].id, "{targets:?}");
    }
}

/// Longer than any test runs.
pub const LONG: Span = Span::from_seconds(3);
