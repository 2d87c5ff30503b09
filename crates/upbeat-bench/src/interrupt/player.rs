//! The interrupt client: a window that draws frames for the targets of its pacer, and answers to presses.

use std::collections::VecDeque;
use std::io;

use wayland_client::backend::WaylandError;
use wayland_client::globals::{BindError, GlobalList, registry_queue_init};
use wayland_client::protocol::{wl_compositor::WlCompositor, wl_seat::WlSeat, wl_shm::WlShm, wl_surface::WlSurface};
use wayland_client::{Connection, EventQueue, QueueHandle};
use wayland_protocols::xdg::shell::client::xdg_wm_base::XdgWmBase;

use super::device::PressKind;
use super::figures::{AnsweringFrame, InterruptRun};
use super::presser::Presser;
use crate::block_code::BlockCode;
use crate::client::WINDOW;
use crate::client::buffers::{BufferAllocation, ClientBuffers};
use crate::process::{ProcessUsage, peer_pid};
use crate::wait::wait;
use upbeat_client::{FramePacer, FrameTarget, NotHeld, PacerEvent, Pacing, PacingOptions, TargetOutcome};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Presses that do not count: with the first ones client and compositor touch memory and read files for the first time.
pub(super) const WARM_UP: usize = 3;

/// How the animation is drawn, and which waiting frames a press cancels
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PressPolicy {
    /// One frame at a time: none waits
    JustInTime,
    /// Drawn ahead. A press cancels waiting frames from the first that a fresh frame can replace in time
    Superseded,
    /// Drawn ahead. A press cancels all waiting frames
    Flushed,
    /// Drawn ahead. Waiting frames are shown
    Queued,
}

impl PressPolicy {
    /// All policies, the baseline first.
    pub const ALL: [PressPolicy; 4] =
        [PressPolicy::JustInTime, PressPolicy::Superseded, PressPolicy::Flushed, PressPolicy::Queued];

    /// The value on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            PressPolicy::JustInTime => "just-in-time",
            PressPolicy::Superseded => "superseded",
            PressPolicy::Flushed => "flushed",
            PressPolicy::Queued => "queued",
        }
    }
}

/// Options of the interrupt client.
#[derive(Clone, Debug, clap::Args)]
pub struct PlayerOptions {
    /// How the animation is drawn and answers
    #[arg(long, value_enum)]
    pub answer: PressPolicy,
    /// Frames that may be in flight when drawn ahead
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub ahead: u8,
    /// Time to draw a frame, in milliseconds; the client waits, as if a GPU drew the frame
    #[arg(long, value_name = "MS", default_value_t = 4.0)]
    pub cost: f64,
    /// Time to draw the first frame after a press, in milliseconds; default: as every frame
    #[arg(long, value_name = "MS")]
    pub answer_cost: Option<f64>,
    /// Kind of press: key, button or touch
    #[arg(long, value_enum, default_value_t)]
    pub press: PressKind,
    /// Number of presses that count
    #[arg(long, default_value_t = 100)]
    pub presses: usize,
    /// Seed of the times of the presses
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Why the client could not run.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// No compositor could be reached.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(#[from] wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(#[from] wayland_client::globals::GlobalError),
    /// The compositor lacks a protocol.
    #[error("the compositor lacks a protocol that the client needs: {0}")]
    Missing(#[from] BindError),
    /// The session lacks the input device.
    #[error("the compositor has no virtual {0:?} to press")]
    NoDevice(PressKind),
    /// Some presses did not arrive at the client.
    #[error("the window received only {heard} of {sent} presses")]
    PressesLost {
        /// Number of presses that were sent.
        sent: usize,
        /// Number of presses that arrived.
        heard: usize,
    },
    #[error("the connection broke: {0}")]
    Dispatch(#[from] wayland_client::DispatchError),
    #[error("the connection broke: {0}")]
    Connection(#[from] WaylandError),
    /// The client bound a frame to a target that it does not hold.
    #[error(transparent)]
    NotHeld(#[from] NotHeld),
    /// No memory, or `poll` failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A frame between its beginning and its light.
#[derive(Clone, Copy, Debug)]
struct PlayedFrame {
    target: FrameTarget,
    /// Number of presses that it answers to.
    answers: usize,
    /// When it is drawn.
    until: Instant,
}

/// State of the client. `dispatch` updates it from events; [`run`] acts.
pub(super) struct InterruptClient {
    surface: WlSurface,
    pacer: FramePacer,
    pub(super) buffers: ClientBuffers,
    pub(super) configured: bool,
    pub(super) closed: bool,
    /// Number of presses that arrived.
    pub(super) arrived: usize,
    /// Presses for which waiting frames were cancelled.
    answered: usize,
    /// Presses for which a frame was begun.
    begun: usize,
    answer: PressPolicy,
    cost: Span,
    answer_cost: Span,
    drawing: Option<PlayedFrame>,
    committed: VecDeque<PlayedFrame>,
    frames: u32,
    shown: Vec<AnsweringFrame>,
    under_way: Vec<usize>,
    interval: Span,
}

impl InterruptClient {
    fn open(
        options: &PlayerOptions,
        connection: &Connection,
        globals: &GlobalList,
        handle: &QueueHandle<InterruptClient>,
    ) -> Result<InterruptClient, PlayerError> {
        let compositor: WlCompositor = globals.bind(handle, 4..=6, ())?;
        let shm: WlShm = globals.bind(handle, 1..=1, ())?;
        let base: XdgWmBase = globals.bind(handle, 1..=6, ())?;
        let _: WlSeat = globals.bind(handle, 5..=7, ())?;
        let surface = compositor.create_surface(handle, ());
        let toplevel = base.get_xdg_surface(&surface, handle, ()).get_toplevel(handle, ());
        toplevel.set_title("Upbeat interrupt".to_owned());
        toplevel.set_app_id("upbeat-interrupt".to_owned());
        let pacer = FramePacer::new(connection, globals, &surface);
        let just_in_time = options.answer == PressPolicy::JustInTime;
        pacer.set_options(PacingOptions {
            pacing: if just_in_time { Pacing::JustInTime } else { Pacing::Ahead },
            ahead_limit: if just_in_time { 1 } else { options.ahead.into() },
            stay_ahead: options.answer == PressPolicy::Queued,
            latest_ready: false,
        });
        surface.commit();
        // One buffer more than frames in flight, because the buffer on screen is released only when the next frame is
        // shown.
        let count = usize::from(options.ahead) + 1;
        let buffers =
            ClientBuffers::new(&shm, WINDOW, (count, BufferAllocation::AtOnce), handle).map_err(io::Error::from)?;
        Ok(InterruptClient {
            surface,
            pacer,
            buffers,
            configured: false,
            closed: false,
            arrived: 0,
            answered: 0,
            begun: 0,
            answer: options.answer,
            cost: Span::from_millis_f64(options.cost),
            answer_cost: Span::from_millis_f64(options.answer_cost.unwrap_or(options.cost)),
            drawing: None,
            committed: VecDeque::new(),
            frames: 0,
            shown: Vec::new(),
            under_way: Vec::new(),
            interval: Span::ZERO,
        })
    }

    /// Does all possible work, then waits for events.
    fn work_and_wait(&mut self, queue: &mut EventQueue<InterruptClient>) -> Result<(), PlayerError> {
        self.work(MonotonicClock.now())?;
        let until = self.drawing.map(|frame| frame.until);
        wait(queue, self, until)
    }

    /// Does all work that is possible at `now`.
    fn work(&mut self, now: Instant) -> Result<(), PlayerError> {
        self.read_pacer_events();
        while self.answered < self.arrived {
            self.answered += 1;
            self.under_way.push(self.committed.len() + usize::from(self.drawing.is_some()));
            self.cancel_stale_frames(now);
        }
        if let Some(frame) = self.drawing.take_if(|frame| frame.until <= now) {
            self.commit(frame)?;
        }
        if self.drawing.is_none()
            && self.buffers.free_index().is_some()
            && let Some(target) = self.pacer.next_target()
        {
            self.pacer.request_frame();
            self.interval = target.interval;
            let is_first = std::mem::replace(&mut self.begun, self.answered) < self.answered;
            let cost = if is_first { self.answer_cost } else { self.cost };
            self.drawing = Some(PlayedFrame { target, answers: self.answered, until: now + cost });
        }
        Ok(())
    }

    /// Reads the results of frames from the pacer.
    fn read_pacer_events(&mut self) {
        while let Some(event) = self.pacer.next_event() {
            let PacerEvent::Ended { target, outcome } = event else { continue };
            let Some(at) = self.committed.iter().position(|frame| frame.target.id == target.id) else { continue };
            let Some(frame) = self.committed.remove(at) else { continue };
            if let TargetOutcome::Presented { at, .. } = outcome {
                self.shown.push(AnsweringFrame { at, answers: frame.answers });
            }
        }
    }

    /// Cancels waiting frames that a press made stale, according to the policy.
    fn cancel_stale_frames(&mut self, now: Instant) {
        let fresh = now + self.answer_cost;
        let first = match self.answer {
            PressPolicy::JustInTime | PressPolicy::Queued => return,
            PressPolicy::Flushed => self.committed.front(),
            // Keep frames that are shown before a fresh frame can be: a stale frame is better than a drop.
            PressPolicy::Superseded => self.committed.iter().find(|frame| frame.target.ready_by >= fresh),
        };
        if let Some(frame) = first.or(self.drawing.as_ref()) {
            self.pacer.cancel_from(frame.target.id);
            self.drawing = None;
        }
    }

    fn commit(&mut self, frame: PlayedFrame) -> Result<(), PlayerError> {
        let Some(buffer) = self.buffers.free_index() else { return Ok(()) };
        self.frames += 1;
        self.buffers.draw(buffer, BlockCode { frame: self.frames, event: frame.answers as u32 });
        self.surface.attach(Some(self.buffers.hold(buffer)), 0, 0);
        self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        self.pacer.bind(frame.target.id)?;
        self.surface.commit();
        self.committed.push_back(frame);
        Ok(())
    }
}

/// Plays the animation, sends presses, and returns the figures.
///
/// # Errors
/// If there is no compositor, or it lacks a protocol, or the connection breaks.
pub fn run(options: &PlayerOptions) -> Result<InterruptRun, PlayerError> {
    let connection = Connection::connect_to_env()?;
    let (globals, mut queue) = registry_queue_init::<InterruptClient>(&connection)?;
    let mut player = InterruptClient::open(options, &connection, &globals, &queue.handle())?;
    while !player.configured {
        queue.blocking_dispatch(&mut player)?;
    }
    player.pacer.request_frame();
    // Presses go to the window with the focus, so the window must be shown first.
    while player.shown.is_empty() && !player.closed {
        player.work_and_wait(&mut queue)?;
    }
    let compositor = peer_pid(connection.backend().poll_fd()).ok();
    let usage = |pid: Option<u32>| pid.and_then(|pid| ProcessUsage::of(pid).ok());
    let usages = || [usage(compositor), usage(Some(std::process::id()))];
    let (before, first) = (usages(), player.shown.len());
    let presser = Presser::start(options.press, None, WARM_UP + options.presses, player.interval, options.seed)
        .ok_or(PlayerError::NoDevice(options.press))?;
    while !player.closed && !presser.is_done() {
        player.work_and_wait(&mut queue)?;
    }
    let presses = presser.stop();
    if presses.len() != player.arrived {
        return Err(PlayerError::PressesLost { sent: presses.len(), heard: player.arrived });
    }
    let frames = (player.shown.len() - first).max(1) as f64;
    let [compositor_cpu, client_cpu] = std::array::from_fn(|side| {
        let (after, before) = (usages()[side]?, before[side]?);
        Some(after.since(before).cpu.as_millis_f64() / frames)
    });
    player.under_way.drain(..WARM_UP.min(player.under_way.len()));
    player.under_way.sort_unstable();
    Ok(InterruptRun {
        policy: options.answer.name().to_owned(),
        press: options.press,
        ahead: if options.answer == PressPolicy::JustInTime { 1 } else { options.ahead.into() },
        cost_ms: options.cost,
        answer_cost_ms: options.answer_cost.unwrap_or(options.cost),
        under_way: player.under_way.get(player.under_way.len() / 2).copied().unwrap_or_default(),
        compositor_cpu_ms_per_frame: compositor_cpu,
        client_cpu_ms_per_frame: client_cpu,
        ..InterruptRun::count(&presses, WARM_UP, &player.shown, player.interval)
    })
}
