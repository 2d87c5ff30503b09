//! A client whose GPU goes on drawing after the commit: a frame costs CPU and GPU time, and is latched when both are
//! done. Virtual time; a fence stands for the GPU.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, eventfd};
use smithay::wayland::compositor::get_children;
use upbeat::surface::fence;
use upbeat_timing::id::SurfaceId;
use upbeat_timing::record::{ClientFrameRecord, MissReason};
use wayland_client::protocol::wl_surface::WlSurface;

use super::*;

const CALLBACK: u32 = 3;
const LEARNED: Span = Span::from_seconds(3);
/// Not longer than frame records are kept.
const WATCHED: Span = Span::from_seconds(4);
/// From the latest time at which content can be ready to its light, on this display, and the slack.
const TO_LIGHT: Span = Span::from_micros(2_500);

/// Size of subsurfaces: a part of the window stays visible.
const PART: (i32, i32) = (SIZE.0 / 2, SIZE.1 / 2);

/// The surface that the GPU draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GpuDrawnSurface {
    Window,
    /// A desynchronised subsurface with its own callbacks and frames, committed before the window, which the CPU draws.
    DesyncSubsurface,
    /// A subsurface that is committed with the window. The CPU draws the window, which requests the callbacks.
    SyncSubsurface,
    /// A subsurface that is committed with the window. The window gets no new buffer, but requests the callbacks.
    OnlySyncSubsurface,
}

/// A client that draws with a GPU.
struct GpuClient {
    cpu: Span,
    gpu: Span,
    drawn: GpuDrawnSurface,
    client: ClientIndex,
    window: TestToplevel,
    part: Option<WlSurface>,
    drawn_at: Option<Instant>,
    /// GPU jobs in order: the time at which each is done, and its fence.
    unfinished: VecDeque<(Instant, OwnedFd)>,
    frames: u32,
}

impl GpuClient {
    fn new(world: &mut TestWorld, cpu: Span, gpu: Span, drawn: GpuDrawnSurface) -> Self {
        let (client, window) = world.open_filled("pipeline", SIZE, RED);
        let part = (drawn != GpuDrawnSurface::Window).then(|| {
            let (part, subsurface) = world.client(client).subsurface(&window.surface);
            world.client(client).draw(&part, 2, PART, GREEN);
            part.commit();
            window.surface.commit();
            if drawn == GpuDrawnSurface::DesyncSubsurface {
                subsurface.set_desync();
            }
            part
        });
        world.run_until_idle();
        world.client(client).data.content_events.clear();
        let drawn_at = Some(world.now());
        GpuClient { cpu, gpu, drawn, client, window, part, drawn_at, unfinished: VecDeque::new(), frames: 9 }
    }

    fn update(&mut self, world: &mut TestWorld) -> Option<Instant> {
        let now = world.now();
        let heard = std::mem::take(&mut world.client(self.client).data.content_events);
        if heard.contains(&ContentEvent::Callback(CALLBACK)) {
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

    fn commit(&mut self, world: &mut TestWorld, now: Instant) {
        self.frames += 1;
        let fence = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd");
        let free = self.unfinished.back().map_or(now, |(at, _)| now.max(*at));
        self.unfinished.push_back((free + self.gpu, fence.try_clone().expect("a duplicate")));
        let surface = self.drawn_by_device(world);
        fence::acquire(&mut world.state, &surface, Box::new(fence));
        let colour = [RED, GREEN, BLUE][self.frames as usize % 3];
        let client = world.client(self.client);
        if let Some(part) = &self.part {
            part.attach(Some(&client.solid(self.frames, PART.0, PART.1, colour)), 0, 0);
            part.damage_buffer(0, 0, PART.0, PART.1);
            if self.drawn == GpuDrawnSurface::DesyncSubsurface {
                part.frame(&client.handle(), self.frames);
            }
            part.commit();
        }
        if self.drawn != GpuDrawnSurface::OnlySyncSubsurface {
            client.draw(&self.window.surface, self.frames, SIZE, colour);
        }
        self.window.surface.frame(&client.handle(), CALLBACK);
        self.window.surface.commit();
    }

    /// The session's object of the surface that the GPU draws.
    fn drawn_by_device(
        &self,
        world: &mut TestWorld,
    ) -> smithay::reexports::wayland_server::protocol::wl_surface::WlSurface {
        let window = world.window("pipeline").surface().clone();
        if self.part.is_some() { get_children(&window).pop().expect("its part") } else { window }
    }

    fn drawn_by_device_id(&self, world: &mut TestWorld) -> SurfaceId {
        let surface = self.drawn_by_device(world);
        world.state.surfaces.get(&surface).expect("it is known").id()
    }

    /// Lets the client draw for `span`. Returns the records of the GPU-drawn surface in this time.
    fn play(&mut self, world: &mut TestWorld, span: Span) -> Vec<ClientFrameRecord> {
        let (began, surface) = (world.now(), self.drawn_by_device_id(world));
        world.run_for(span, &mut |world| self.update(world));
        world
            .state
            .outputs
            .statistics()
            .recent()
            .filter(|record| record.surface == surface && record.committed.is_some_and(|committed| committed >= began))
            .copied()
            .collect()
    }
}

/// Checks that nearly every refresh shows a frame, and that none has its light later than `most` after its callback.
#[track_caller]
fn assert_shown_within(world: &TestWorld, records: &[ClientFrameRecord], most: Span) {
    let share = records.len() as f64 * interval(world, 0).as_seconds_f64() / WATCHED.as_seconds_f64();
    assert!(share > 0.99, "{share} frames for each refresh");
    let longest = records.iter().filter_map(ClientFrameRecord::callback_to_light).max().expect("frames were shown");
    assert!(longest <= most, "{longest} from callback to light");
}

#[test]
fn gpu_time_after_the_commit_counts_as_frame_cost() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (cpu, gpu) = (Span::from_millis(1), Span::from_millis(5));
    let mut pipeline = GpuClient::new(&mut world, cpu, gpu, GpuDrawnSurface::Window);
    pipeline.play(&mut world, LEARNED);
    let records = pipeline.play(&mut world, WATCHED);
    assert_shown_within(&world, &records, cpu + gpu + TO_LIGHT);
    let costs = records.iter().filter_map(|record| record.cost_wall);
    assert!(costs.clone().count() > 200 && costs.min().is_some_and(|cost| cost >= cpu + gpu));
}

/// Checks the time from the client's callback to the light of the GPU-drawn content.
fn assert_callback_to_light(drawn: GpuDrawnSurface) {
    let mut world = TestWorld::simulated(&[60_000]);
    let (cpu, gpu) = (Span::from_millis(1), Span::from_millis(5));
    let mut pipeline = GpuClient::new(&mut world, cpu, gpu, drawn);
    pipeline.play(&mut world, LEARNED);
    // Half the time, because there are records of two surfaces.
    let watched = WATCHED / 2;
    let records = pipeline.play(&mut world, watched);
    let share = records.len() as f64 * interval(&world, 0).as_seconds_f64() / watched.as_seconds_f64();
    assert!(share > 0.99, "{drawn:?}: {share} frames for each refresh");
    let late = |record: &ClientFrameRecord| Some(record.presented? - record.committed?);
    let longest = records.iter().filter_map(late).max().expect("frames were shown");
    assert!(longest <= gpu + TO_LIGHT, "{drawn:?}: {longest} from commit to light");
}

#[test]
fn gpu_time_of_a_subsurface_counts_as_frame_cost() {
    assert_callback_to_light(GpuDrawnSurface::DesyncSubsurface);
}

#[test]
fn gpu_time_of_a_synchronised_subsurface_counts_as_frame_cost() {
    assert_callback_to_light(GpuDrawnSurface::SyncSubsurface);
}

#[test]
fn parent_commit_that_applies_a_subsurface_answers_the_callback() {
    assert_callback_to_light(GpuDrawnSurface::OnlySyncSubsurface);
}

#[test]
fn cpu_and_gpu_time_together_may_exceed_a_refresh() {
    let mut world = TestWorld::simulated(&[60_000]);
    let mut pipeline =
        GpuClient::new(&mut world, Span::from_millis(11), Span::from_millis(12), GpuDrawnSurface::Window);
    pipeline.play(&mut world, LEARNED);
    let records = pipeline.play(&mut world, WATCHED);
    assert_shown_within(&world, &records, interval(&world, 0) * 2);
}

#[test]
fn frame_with_a_late_fence_is_recorded_as_fence_late() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (usual, long) = (Span::from_millis(5), Span::from_millis(14));
    let mut pipeline = GpuClient::new(&mut world, Span::from_millis(1), usual, GpuDrawnSurface::Window);
    pipeline.play(&mut world, LEARNED);
    let refresh = interval(&world, 0);
    pipeline.gpu = long;
    pipeline.play(&mut world, refresh);
    pipeline.gpu = usual;
    pipeline.play(&mut world, refresh * 6);
    let histories = world.state.outputs.statistics().iter();
    let misses: Vec<_> =
        histories.flat_map(|(_, history)| history.missed.iter()).filter_map(|record| record.miss).collect();
    let late = misses.iter().filter(|miss| matches!(miss, MissReason::FenceLate { .. })).count();
    assert!(late > 0, "{misses:?}");
}
