//! The game: a client whose frames have the costs of a load, paced by callbacks or ahead.

use std::collections::VecDeque;
use std::io;

use wayland_client::globals::{BindError, GlobalList, registry_queue_init};
use wayland_client::protocol::{wl_compositor::WlCompositor, wl_shm::WlShm, wl_surface::WlSurface};
use wayland_client::{Connection, EventQueue, QueueHandle};
use wayland_protocols::wp::fifo::v1::client::{wp_fifo_manager_v1::WpFifoManagerV1, wp_fifo_v1::WpFifoV1};
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::xdg::shell::client::{
    xdg_surface::XdgSurface, xdg_toplevel::XdgToplevel, xdg_wm_base::XdgWmBase,
};

use super::costs::{CostOptions, UnknownLoad};
use super::figures::{ShownGameFrame, SmoothRun};
use super::pipeline::{FramePermission, GamePipeline, PipelineFrame};
use crate::block_code::BlockCode;
use crate::client::WINDOW;
use crate::client::buffers::{BufferAllocation, ClientBuffers};
use crate::process::{ProcessUsage, peer_pid};
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::UpbeatFramePacingManagerV1;
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_v1::{Pacing, UpbeatFramePacingV1};
use upbeat_lab::load::FrameCost;
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Longest wait for the last frames.
const LAST_LIGHT: Span = Span::from_seconds(2);
/// Bytes in a buffer, which has the size of the probe's window.
const BUFFER_BYTES: f64 = (WINDOW.0 * WINDOW.1 * 4) as f64;

/// Load and pacing of a game.
#[derive(Clone, Debug, clap::Args)]
pub struct GameOptions {
    /// Costs of the frames
    #[command(flatten)]
    pub costs: CostOptions,
    /// Number of pixel buffers
    #[arg(long, default_value_t = 4)]
    pub buffers: u8,
    /// Frames that may be recorded further ahead than there are buffers
    #[arg(long, default_value_t = 0)]
    pub run_ahead: u8,
    /// Be paced by frame callbacks, with a queue of fifo commits, instead of ahead
    #[arg(long)]
    pub vsync: bool,
}

/// Why the game could not run.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// No compositor could be reached.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(#[from] wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(#[from] wayland_client::globals::GlobalError),
    /// The compositor lacks a protocol.
    #[error("the compositor lacks a protocol that the game needs: {0}")]
    Missing(#[from] BindError),
    #[error("the connection broke: {0}")]
    Dispatch(#[from] wayland_client::DispatchError),
    #[error("the connection broke: {0}")]
    Connection(#[from] wayland_client::backend::WaylandError),
    /// No memory, or `poll` failed.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The load does not exist.
    #[error(transparent)]
    Load(#[from] UnknownLoad),
}

impl GameOptions {
    /// Name of the policy in reports.
    pub(super) fn policy(&self) -> String {
        match (self.vsync, self.run_ahead) {
            (true, _) => format!("vsync-{}", self.buffers),
            (false, 0) => format!("ahead-{}", self.buffers),
            (false, run_ahead) => format!("ahead-{}+run-ahead-{run_ahead}", self.buffers),
        }
    }
}

/// State of the game. `dispatch` updates it from events; [`run`] acts.
pub(super) struct GameClient {
    pub(super) surface: WlSurface,
    presentation: WpPresentation,
    pub(super) fifo: Option<WpFifoV1>,
    pub(super) pacing: Option<UpbeatFramePacingV1>,
    pub(super) buffers: ClientBuffers,
    pub(super) configured: bool,
    pub(super) closed: bool,
    /// Targets or callbacks for which no frame was begun.
    pub(super) permissions: VecDeque<FramePermission>,
    /// Since when a buffer is free.
    pub(super) buffer_free: Instant,
    pub(super) shown: Vec<ShownGameFrame>,
    pub(super) discarded: usize,
    /// Content time of each committed frame, by number.
    pub(super) content_times: Vec<Instant>,
    ended_frames: usize,
    /// Targets that the compositor will send without a request, in place of revoked targets.
    unrequested_targets: usize,
    /// Most frames in the pipeline.
    limit: usize,
    pipeline: GamePipeline,
    costs: std::vec::IntoIter<FrameCost>,
}

impl GameClient {
    fn bind(
        options: &GameOptions,
        costs: Vec<FrameCost>,
        globals: &GlobalList,
        handle: &QueueHandle<GameClient>,
    ) -> Result<GameClient, GameError> {
        let compositor: WlCompositor = globals.bind(handle, 4..=6, ())?;
        let shm: WlShm = globals.bind(handle, 1..=1, ())?;
        let base: XdgWmBase = globals.bind(handle, 1..=6, ())?;
        let presentation: WpPresentation = globals.bind(handle, 1..=2, ())?;
        let surface = compositor.create_surface(handle, ());
        let xdg: XdgSurface = base.get_xdg_surface(&surface, handle, ());
        let toplevel: XdgToplevel = xdg.get_toplevel(handle, ());
        toplevel.set_title("Upbeat game".to_owned());
        toplevel.set_app_id("upbeat-game".to_owned());
        let (mut fifo, mut pacing) = (None, None);
        if options.vsync {
            let manager: WpFifoManagerV1 = globals.bind(handle, 1..=1, ())?;
            fifo = Some(manager.get_fifo(&surface, handle, ()));
        } else {
            let manager: UpbeatFramePacingManagerV1 = globals.bind(handle, 1..=1, ())?;
            let object = manager.get_frame_pacing(&surface, handle, ());
            object.set_pacing(Pacing::Ahead);
            object.set_ahead_limit(u32::from(options.buffers) - 1 + u32::from(options.run_ahead));
            pacing = Some(object);
        }
        Ok(GameClient {
            surface,
            presentation,
            fifo,
            pacing,
            buffers: ClientBuffers::new(&shm, WINDOW, (usize::from(options.buffers), BufferAllocation::AtOnce), handle)
                .map_err(io::Error::from)?,
            configured: false,
            closed: false,
            permissions: VecDeque::new(),
            buffer_free: Instant::ZERO,
            shown: Vec::new(),
            discarded: 0,
            content_times: Vec::new(),
            ended_frames: 0,
            unrequested_targets: 0,
            limit: usize::from(options.buffers) - 1 + usize::from(options.run_ahead),
            pipeline: GamePipeline::default(),
            costs: costs.into_iter(),
        })
    }

    /// Requests the next target or callback.
    fn request_next(&self, handle: &QueueHandle<GameClient>) {
        match &self.pacing {
            Some(pacing) => pacing.request_target(),
            None => {
                // An empty commit requests a callback for each refresh, even if no frame is ready.
                self.surface.frame(handle, ());
                self.surface.commit();
            }
        }
    }

    /// Handles a callback and requests the next one, so that every refresh ticks.
    pub(super) fn handle_callback(&mut self, permission: FramePermission, handle: &QueueHandle<GameClient>) {
        // A tick is lost while the recorder is busy.
        let takes =
            self.pipeline.is_recorder_free() && !self.pipeline.has_recorded() && self.buffers.free_index().is_some();
        if takes && self.permissions.is_empty() {
            self.permissions.push_back(permission);
        }
        self.request_next(handle);
    }

    /// Handles the revocation of all targets from `first` on. Frames in the pipeline keep their targets and are shown
    /// as soon as possible. The compositor sends new targets in their place without a request: they are for later
    /// frames.
    pub(super) fn handle_revoked(&mut self, first: u64) {
        self.permissions.retain(|permission| permission.target.is_none_or(|target| target < first));
        self.unrequested_targets += self.pipeline.drawn_for(first);
    }

    /// Counts a frame that was shown or discarded.
    pub(super) fn count_ended(&mut self) {
        self.ended_frames += 1;
    }

    /// Does all work that is possible at `now`.
    fn work(&mut self, now: Instant, handle: &QueueHandle<GameClient>) {
        loop {
            // Frames with revoked targets still count against the limit. Otherwise the replacement targets would let
            // the recorder run on and on, and the display would stay behind for good.
            while self.pipeline.is_recorder_free()
                && self.pipeline.len() < self.limit
                && let Some(permission) = self.permissions.pop_front()
                && let Some(cost) = self.costs.next()
            {
                self.pipeline.begin(permission, cost);
                if self.pacing.is_some() {
                    if self.unrequested_targets > 0 {
                        self.unrequested_targets -= 1;
                    } else {
                        self.request_next(handle);
                    }
                }
            }
            let buffer_free = self.buffers.free_index().map(|_| self.buffer_free);
            let was_recording = !self.pipeline.is_recorder_free();
            match self.pipeline.advance(now, buffer_free) {
                Some(frame) => self.commit(frame, handle),
                None if was_recording && self.pipeline.is_recorder_free() => {}
                None => return,
            }
        }
    }

    fn commit(&mut self, frame: PipelineFrame, handle: &QueueHandle<GameClient>) {
        let Some(buffer) = self.buffers.free_index() else { return };
        let represents = frame.permission.content_time;
        self.buffers.draw(buffer, BlockCode::of_time(frame.number, represents));
        self.surface.attach(Some(self.buffers.hold(buffer)), 0, 0);
        self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        if let (Some(pacing), Some(target)) = (&self.pacing, frame.permission.target) {
            pacing.bind((target >> 32) as u32, target as u32);
        }
        if let Some(fifo) = &self.fifo {
            fifo.wait_barrier();
            fifo.set_barrier();
        }
        self.content_times.push(represents);
        self.presentation.feedback(&self.surface, handle, self.content_times.len() - 1);
        self.surface.commit();
    }

    fn is_over(&self) -> bool {
        self.costs.len() == 0 && self.pipeline.is_empty() && self.ended_frames == self.content_times.len()
    }
}

/// Plays the game, and returns its figures.
pub fn run(options: &GameOptions) -> Result<SmoothRun, GameError> {
    let load = options.costs.costs()?;
    let connection = Connection::connect_to_env()?;
    let (globals, mut queue) = registry_queue_init::<GameClient>(&connection)?;
    let handle = queue.handle();
    let limit = GamePipeline::total(&load.frames) * 4 + Span::from_seconds(30);
    let mut game = GameClient::bind(options, load.frames, &globals, &handle)?;
    game.surface.commit();
    while !game.configured {
        queue.blocking_dispatch(&mut game)?;
    }
    show_first(&mut game, &mut queue, &handle)?;
    let compositor = peer_pid(connection.backend().poll_fd()).ok();
    let usage = |pid: Option<u32>| pid.and_then(|pid| ProcessUsage::of(pid).ok());
    let before = (usage(compositor), usage(Some(std::process::id())));
    let began = MonotonicClock.now();
    game.request_next(&handle);
    let mut quiet = None;
    while !game.closed && !game.is_over() && MonotonicClock.now() < began + limit {
        game.work(MonotonicClock.now(), &handle);
        if game.costs.len() == 0 && game.pipeline.is_empty() {
            // A frame that is not shown by then was replaced by a newer frame.
            let until = *quiet.get_or_insert(MonotonicClock.now() + LAST_LIGHT);
            if MonotonicClock.now() >= until {
                break;
            }
        }
        wait(&mut game, &mut queue, quiet)?;
    }
    let after = (usage(compositor), usage(Some(std::process::id())));
    Ok(report(options, load.name, game, before, after))
}

/// Shows a first frame, so that the window is on screen when the animation begins.
fn show_first(
    game: &mut GameClient,
    queue: &mut EventQueue<GameClient>,
    handle: &QueueHandle<GameClient>,
) -> Result<(), GameError> {
    let now = MonotonicClock.now();
    game.buffers.draw(0, BlockCode::of_time(0, now));
    game.surface.attach(Some(game.buffers.hold(0)), 0, 0);
    game.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
    game.content_times.push(now);
    game.presentation.feedback(&game.surface, handle, 0);
    game.surface.commit();
    while game.ended_frames == 0 && !game.closed {
        queue.blocking_dispatch(game)?;
    }
    game.shown.clear();
    game.discarded = 0;
    Ok(())
}

/// Waits for events or for the end of a stage.
fn wait(game: &mut GameClient, queue: &mut EventQueue<GameClient>, quiet: Option<Instant>) -> Result<(), GameError> {
    let until = game.pipeline.next_end().into_iter().chain(quiet).min();
    crate::wait::wait(queue, game, until)
}

type ProcessUsages = (Option<ProcessUsage>, Option<ProcessUsage>);

fn report(
    options: &GameOptions,
    load: String,
    game: GameClient,
    before: ProcessUsages,
    after: ProcessUsages,
) -> SmoothRun {
    let since = |after: Option<ProcessUsage>, before: Option<ProcessUsage>| Some(after?.since(before?));
    let (compositor, client) = (since(after.0, before.0), since(after.1, before.1));
    let frames = game.shown.len().max(1) as f64;
    let refreshes = match (game.shown.first(), game.shown.last()) {
        (Some(first), Some(last)) => (last.sequence - first.sequence).max(1) as f64,
        _ => 1.0,
    };
    SmoothRun {
        load,
        policy: options.policy(),
        buffers: options.buffers,
        refresh_hz: options.costs.refresh,
        discarded: game.discarded,
        compositor_cpu_ms_per_frame: compositor.map(|usage| usage.cpu.as_millis_f64() / frames),
        client_cpu_ms_per_frame: client.map(|usage| usage.cpu.as_millis_f64() / frames),
        wake_ups_per_refresh: compositor.map(|usage| usage.wake_ups as f64 / refreshes),
        buffer_megabytes: BUFFER_BYTES * f64::from(options.buffers) / 1e6,
        ..SmoothRun::count(game.shown, options.costs.interval())
    }
}
