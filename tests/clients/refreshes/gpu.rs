//! A client whose frames a device goes on drawing after the commit: they cost what both take, and are latched when both are
//! done. Virtual time; the device is a fence.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, eventfd};
use upbeat::surface::fence;
use upbeat::timing::record::{ClientFrameRecord, MissReason};

use super::*;

const CALLBACK: u32 = 3;
const LEARNED: Span = Span::from_seconds(3);
/// No longer than records are kept.
const WATCHED: Span = Span::from_seconds(4);
/// From the last moment at which content may be there to its light, on this display, and what is kept in hand.
const TO_LIGHT: Span = Span::from_micros(2_500);

/// A client with a device.
struct Pipeline {
    cpu: Span,
    gpu: Span,
    client: ClientIndex,
    window: Toplevel,
    drawn_at: Option<Instant>,
    /// What the device is at, in order, and when each is done.
    unfinished: VecDeque<(Instant, OwnedFd)>,
    frames: u32,
}

impl Pipeline {
    fn new(world: &mut World, cpu: Span, gpu: Span) -> Self {
        let (client, window) = world.open_filled("pipeline", SIZE, RED);
        world.rest();
        world.client(client).data.heard.clear();
        let drawn_at = Some(world.now());
        Pipeline { cpu, gpu, client, window, drawn_at, unfinished: VecDeque::new(), frames: 9 }
    }

    fn act(&mut self, world: &mut World) -> Option<Instant> {
        let now = world.now();
        let heard = std::mem::take(&mut world.client(self.client).data.heard);
        if heard.contains(&Heard::Called(CALLBACK)) {
            self.drawn_at = Some(now + self.cpu);
        }
        while let Some((_, done)) = self.unfinished.front().filter(|(at, _)| *at <= now) {
            rustix::io::write(done, &1u64.to_ne_bytes()).expect("signalled");
            self.unfinished.pop_front();
        }
        if self.drawn_at.is_some_and(|at| at <= now) {
            self.drawn_at = None;
            self.commit(world, now);
        }
        self.drawn_at.into_iter().chain(self.unfinished.front().map(|(at, _)| *at)).min()
    }

    fn commit(&mut self, world: &mut World, now: Instant) {
        self.frames += 1;
        let fence = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd");
        let free = self.unfinished.back().map_or(now, |(at, _)| now.max(*at));
        self.unfinished.push_back((free + self.gpu, fence.try_clone().expect("a duplicate")));
        let surface = world.window("pipeline").surface().clone();
        fence::acquire(&mut world.state, &surface, Box::new(fence));
        let colour = [RED, GREEN, BLUE][self.frames as usize % 3];
        let client = world.client(self.client);
        client.draw(&self.window.surface, self.frames, SIZE, colour);
        self.window.surface.frame(&client.handle(), CALLBACK);
        self.window.surface.commit();
    }

    /// Lets it draw for so long; its frames that were on screen meanwhile.
    fn play(&mut self, world: &mut World, span: Span) -> Vec<ClientFrameRecord> {
        let began = world.now();
        world.run_for(span, &mut |world| self.act(world));
        world
            .state
            .outputs
            .statistics
            .recent()
            .filter(|record| record.callback_sent.is_some_and(|sent| sent >= began))
            .copied()
            .collect()
    }
}

/// Nearly every refresh shows a frame, none of them later than so long after its callback.
#[track_caller]
fn all_are_shown_within(world: &World, records: &[ClientFrameRecord], most: Span) {
    let share = records.len() as f64 * interval(world, 0).as_seconds_f64() / WATCHED.as_seconds_f64();
    assert!(share > 0.99, "{share} frames for each refresh");
    let longest = records.iter().filter_map(ClientFrameRecord::callback_to_light).max().expect("frames were shown");
    assert!(longest <= most, "{longest} from callback to light");
}

#[test]
fn what_a_device_draws_after_the_commit_is_part_of_what_a_frame_costs() {
    let mut world = World::simulated(&[60_000]);
    let (cpu, gpu) = (Span::from_millis(1), Span::from_millis(5));
    let mut pipeline = Pipeline::new(&mut world, cpu, gpu);
    pipeline.play(&mut world, LEARNED);
    let records = pipeline.play(&mut world, WATCHED);
    all_are_shown_within(&world, &records, cpu + gpu + TO_LIGHT);
    let costs = records.iter().filter_map(|record| record.cost_wall);
    assert!(costs.clone().count() > 200 && costs.min().is_some_and(|cost| cost >= cpu + gpu));
}

#[test]
fn both_stages_together_may_take_longer_than_a_refresh() {
    let mut world = World::simulated(&[60_000]);
    let mut pipeline = Pipeline::new(&mut world, Span::from_millis(11), Span::from_millis(12));
    pipeline.play(&mut world, LEARNED);
    let records = pipeline.play(&mut world, WATCHED);
    all_are_shown_within(&world, &records, interval(&world, 0) * 2);
}

#[test]
fn a_frame_that_its_device_finishes_late_is_said_to_be_late_for_that() {
    let mut world = World::simulated(&[60_000]);
    let (usual, long) = (Span::from_millis(5), Span::from_millis(14));
    let mut pipeline = Pipeline::new(&mut world, Span::from_millis(1), usual);
    pipeline.play(&mut world, LEARNED);
    let refresh = interval(&world, 0);
    pipeline.gpu = long;
    pipeline.play(&mut world, refresh);
    pipeline.gpu = usual;
    pipeline.play(&mut world, refresh * 6);
    let histories = world.state.outputs.statistics.iter();
    let misses: Vec<_> =
        histories.flat_map(|(_, history)| history.missed.iter()).filter_map(|record| record.miss).collect();
    let late = misses.iter().filter(|miss| matches!(miss, MissReason::FenceLate { .. })).count();
    assert!(late > 0, "{misses:?}");
}
