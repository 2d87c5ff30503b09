//! The ink client: a sheet that covers the screen, with ink under the hand.

use std::io;
use std::sync::PoisonError;

use serde::{Deserialize, Serialize};
use wayland_client::backend::WaylandError;
use wayland_client::globals::{BindError, GlobalList, registry_queue_init};
use wayland_client::protocol::{
    wl_compositor::WlCompositor, wl_pointer::WlPointer, wl_seat::WlSeat, wl_shm::WlShm, wl_surface::WlSurface,
};
use wayland_client::{Connection, EventQueue, QueueHandle};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;
use wayland_protocols::xdg::shell::client::xdg_wm_base::XdgWmBase;

use super::beam_timing::FrontBufferState;
use super::hand::{HandThread, ReportLog, SentReport};
use super::hand_path::HandPath;
use super::marker::{self, MarkerBounds};
use super::targets::TargetRequests;
use crate::block_code::BlockCode;
use crate::client::buffers::{BufferAllocation, ClientBuffers};
use crate::client::burn_rest;
use crate::load::{ClientCosts, ClientLoad};
use crate::process::{ProcessUsage, peer_pid};
use crate::sentinel::Sentinel;
use crate::wait::wait;
use upbeat_client::protocol::predicted_input::upbeat_predicted_input_manager_v1::UpbeatPredictedInputManagerV1;
use upbeat_timing::time::{Clock as _, MonotonicClock, Span};

/// Frames before the hand begins: in the first frames client and compositor touch their memory for the first time.
const WARM_UP: u32 = 300;
/// Longest wait for the light of the last frames.
const LAST_LIGHT: Span = Span::from_millis(200);
/// Longest wait for the sheet's first frames.
const PATIENCE: Span = Span::from_seconds(10);
/// A buffer to draw into, a buffer on screen, and a buffer between them.
const BUFFERS: usize = 3;
/// Reports after the last known report that are searched for a position: more than arrive at once.
const MOST_AHEAD: usize = 256;
/// Positions that differ by less are equal: a little more than half a unit of Wayland's fixed-point numbers.
const SAME: f64 = 1.0 / 128.0;

/// How the client brings its ink to the screen
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum InkMethod {
    /// A frame for each callback
    #[default]
    Frames,
    /// A frame for each target; a refresh has two targets where a second frame fits
    TwoShot,
    /// One picture, which the compositor keeps at the pointer
    Follower,
    /// Written into the buffer on screen, ahead of the beam
    FrontBuffer,
}

impl InkMethod {
    /// Its name on the command line.
    pub(super) const fn option_value(self) -> &'static str {
        match self {
            InkMethod::Frames => "frames",
            InkMethod::TwoShot => "two-shot",
            InkMethod::Follower => "follower",
            InkMethod::FrontBuffer => "front-buffer",
        }
    }
}

/// Hand, cost and drawing mode of the client.
#[derive(Clone, Debug, clap::Args)]
pub struct SheetOptions {
    /// `hand`, `column`, or a recording with the columns t_us,x,y,state
    #[arg(long, value_name = "INPUT")]
    pub input: HandPath,
    /// Cost of a frame
    #[arg(long, value_name = "LOAD", default_value = "flat")]
    pub cost: ClientLoad,
    /// How far ahead of its last report the hand is drawn, in milliseconds; 0: at its last report
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub prediction: f64,
    /// Width and height of the screen in pixels
    #[arg(long, num_args = 2, value_names = ["WIDTH", "HEIGHT"], required = true)]
    pub size: Vec<u32>,
    /// How the ink comes to the screen
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub way: InkMethod,
    /// How long to draw, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub duration: f64,
    /// Seed of the costs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// A frame that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnInkFrame {
    /// Its number, as in its marker, from one.
    pub frame: u32,
    /// The newest report in it; 0 before the first.
    pub event: u32,
    /// Position of its dot.
    pub x: f64,
    pub y: f64,
    /// The position is a prediction.
    pub predicted: bool,
}

/// Records of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SheetReport {
    /// All reports of the hand, in order.
    pub sent: Vec<SentReport>,
    /// All drawn frames, in order.
    pub frames: Vec<DrawnInkFrame>,
    /// CPU time of the compositor while the hand moved.
    pub compositor_cpu_ms: Option<f64>,
    /// CPU time of the client while the hand moved.
    pub client_cpu_ms: Option<f64>,
    /// The host's noise: 99th percentile of how late a sleeping thread was woken.
    pub sentinel_wake_p99_ms: Option<f64>,
}

/// Why the client could not run.
#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    /// No compositor could be reached.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(#[from] wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(#[from] wayland_client::globals::GlobalError),
    /// The compositor lacks a protocol.
    #[error("the compositor lacks a protocol that the client needs: {0}")]
    Missing(#[from] BindError),
    /// The compositor has no such input device.
    #[error("the compositor has no virtual device to draw with")]
    NoDevice,
    /// The sheet was closed, or never shown.
    #[error("the sheet is not shown")]
    NotShown,
    #[error("the connection broke: {0}")]
    Dispatch(#[from] wayland_client::DispatchError),
    #[error("the connection broke: {0}")]
    Connection(#[from] WaylandError),
    /// No memory, or `poll` failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// State of the client. `dispatch` updates it from events; [`run`] acts.
pub(super) struct InkClient {
    pub(super) surface: WlSurface,
    pub(super) size: (usize, usize),
    pub(super) buffers: ClientBuffers,
    pub(super) configured: bool,
    pub(super) closed: bool,
    /// A frame callback or a target has arrived, and no frame was drawn since.
    pub(super) callback_done: bool,
    pub(super) tablets: Option<ZwpTabletManagerV2>,
    pub(super) pointer: Option<WlPointer>,
    way: InkMethod,
    pub(super) targets: Option<TargetRequests>,
    /// The client draws no more frames.
    has_stopped: bool,
    pub(super) front: Option<FrontBufferState>,
    log: Option<ReportLog>,
    /// Number of the newest report that has arrived.
    pub(super) event: u32,
    /// Position of that report.
    pub(super) newest: (f64, f64),
    /// Predicted position at the light of the next frame.
    pub(super) predicted: Option<(f64, f64)>,
    pub(super) costs: ClientCosts,
    pub(super) frames: Vec<DrawnInkFrame>,
    pub(super) painted: Option<MarkerBounds>,
}

impl InkClient {
    fn open(
        options: &SheetOptions,
        globals: &GlobalList,
        handle: &QueueHandle<InkClient>,
    ) -> Result<InkClient, SheetError> {
        let compositor: WlCompositor = globals.bind(handle, 4..=6, ())?;
        let shm: WlShm = globals.bind(handle, 1..=1, ())?;
        let base: XdgWmBase = globals.bind(handle, 1..=6, ())?;
        let tablets: Option<ZwpTabletManagerV2> = globals.bind(handle, 1..=1, ()).ok();
        let _: WlSeat = globals.bind(handle, 5..=7, ())?;
        let surface = compositor.create_surface(handle, ());
        let toplevel = base.get_xdg_surface(&surface, handle, ()).get_toplevel(handle, ());
        toplevel.set_title("Upbeat ink".to_owned());
        toplevel.set_app_id("upbeat-ink".to_owned());
        toplevel.set_fullscreen(None);
        if options.prediction > 0.0 && options.way != InkMethod::Follower {
            let manager: UpbeatPredictedInputManagerV1 = globals.bind(handle, 1..=1, ())?;
            let object = manager.get_predicted_input(&surface, handle, ());
            object.set_horizon((options.prediction * 1e6) as u32);
        }
        let targets =
            (options.way == InkMethod::TwoShot).then(|| TargetRequests::ask(globals, &surface, handle)).transpose()?;
        surface.commit();
        let size = (options.size[0] as usize, options.size[1] as usize);
        let buffers =
            ClientBuffers::new(&shm, size, (BUFFERS, BufferAllocation::AtOnce), handle).map_err(io::Error::from)?;
        Ok(InkClient {
            surface,
            size,
            buffers,
            configured: false,
            closed: false,
            callback_done: targets.is_none(),
            tablets,
            pointer: None,
            way: options.way,
            targets,
            has_stopped: false,
            front: None,
            log: None,
            event: 0,
            newest: (size.0 as f64 / 2.0, size.1 as f64 / 2.0),
            predicted: None,
            costs: options.cost.costs(options.seed),
            frames: Vec::new(),
            painted: None,
        })
    }

    /// Handles a new position of the device; the position identifies the report.
    pub(super) fn handle_position(&mut self, x: f64, y: f64) {
        self.newest = (x, y);
        let Some(log) = &self.log else { return };
        let log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = |sent: &SentReport| (sent.x - x).abs() < SAME && (sent.y - y).abs() < SAME;
        let known = self.event as usize;
        if known > 0 && log.get(known - 1).is_some_and(is_there) {
            return;
        }
        if let Some(ahead) = log.iter().skip(known).take(MOST_AHEAD).position(is_there) {
            self.event += ahead as u32 + 1;
        }
    }

    /// Draws after a callback if a buffer is free, then waits for events.
    fn draw_and_wait(&mut self, queue: &mut EventQueue<InkClient>) -> Result<(), SheetError> {
        if self.front.is_some() {
            return self.write_ahead_of_beam(queue);
        }
        if self.callback_done
            && !self.has_stopped
            && let Some(buffer) = self.buffers.free_index()
        {
            self.draw(buffer, &queue.handle());
        }
        // Wake up now and then, because a finished hand causes no event.
        wait(queue, self, Some(MonotonicClock.now() + LAST_LIGHT))
    }

    fn draw(&mut self, buffer: usize, handle: &QueueHandle<InkClient>) {
        self.callback_done = false;
        let predicted = self.predicted.take();
        let at = predicted.unwrap_or(self.newest);
        let frame = self.frames.len() as u32 + 1;
        let code = BlockCode { frame, event: self.event };
        self.frames.push(DrawnInkFrame { frame, event: self.event, x: at.0, y: at.1, predicted: predicted.is_some() });
        let (cost, size) = (self.costs.next_cost(), self.size);
        let mut painted = None;
        burn_rest(cost, || {
            painted = self.buffers.pixels_mut(buffer).and_then(|pixels| match self.way {
                InkMethod::Frames | InkMethod::TwoShot => Some(marker::draw(pixels, size, at, code)),
                InkMethod::Follower | InkMethod::FrontBuffer => {
                    marker::clear(pixels);
                    None
                }
            });
        });
        self.surface.attach(Some(self.buffers.hold(buffer)), 0, 0);
        let before = std::mem::replace(&mut self.painted, painted);
        match before.zip(painted) {
            Some((a, b)) => {
                let (left, top, right, bottom) = (a.0.min(b.0), a.1.min(b.1), a.2.max(b.2), a.3.max(b.3));
                let (left, top) = (left.max(0), top.max(0));
                self.surface.damage_buffer(left as i32, top as i32, (right - left) as i32, (bottom - top) as i32);
            }
            None => self.surface.damage_buffer(0, 0, size.0 as i32, size.1 as i32),
        }
        match &self.targets {
            Some(targets) => targets.bind(),
            None => drop(self.surface.frame(handle, ())),
        }
        self.surface.commit();
        if let Some(targets) = &self.targets {
            targets.next();
        }
    }
}

/// Draws ink under a hand, and returns all reports and frames.
///
/// # Errors
/// If there is no compositor, or it lacks a protocol, or the connection breaks.
pub fn run(options: &SheetOptions) -> Result<SheetReport, SheetError> {
    let connection = Connection::connect_to_env()?;
    let (globals, mut queue) = registry_queue_init::<InkClient>(&connection)?;
    let mut sheet = InkClient::open(options, &globals, &queue.handle())?;
    let sentinel = Sentinel::start();
    let limit = MonotonicClock.now() + PATIENCE;
    while !sheet.configured {
        queue.blocking_dispatch(&mut sheet)?;
    }
    while (sheet.frames.len() as u32) < WARM_UP {
        sheet.draw_and_wait(&mut queue)?;
        if sheet.closed || MonotonicClock.now() > limit {
            return Err(SheetError::NotShown);
        }
    }
    let followed = match options.way {
        InkMethod::Frames | InkMethod::TwoShot | InkMethod::FrontBuffer => None,
        InkMethod::Follower => Some(sheet.follow(&globals, &queue.handle(), options.prediction)?),
    };
    sheet.has_stopped = followed.is_some();
    if options.way == InkMethod::FrontBuffer {
        sheet.share_front_buffer(&globals, &queue, options.input.columns(sheet.size.0, marker::SIZE.0))?;
    }
    let pid = peer_pid(connection.backend().poll_fd()).ok();
    let usage = |pid: Option<u32>| pid.and_then(|pid| ProcessUsage::of(pid).ok());
    let usages = || [usage(pid), usage(Some(std::process::id()))];
    let before = usages();
    sentinel.begin();
    let size = (f64::from(options.size[0]), f64::from(options.size[1]));
    let reports = options.input.reports(size, Span::from_millis_f64(options.duration * 1e3));
    let hand = HandThread::start(options.input.device(), reports).ok_or(SheetError::NoDevice)?;
    sheet.log = Some(hand.log.clone());
    while !hand.is_done() && !sheet.closed {
        sheet.draw_and_wait(&mut queue)?;
    }
    let (after, noise) = (usages(), sentinel.stop());
    let end = MonotonicClock.now() + LAST_LIGHT;
    while MonotonicClock.now() < end && !sheet.closed {
        sheet.draw_and_wait(&mut queue)?;
    }
    let sent = hand.log.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let [compositor_cpu_ms, client_cpu_ms] = std::array::from_fn(|side| {
        let (after, before) = (after[side]?, before[side]?);
        Some(after.since(before).cpu.as_millis_f64())
    });
    let sentinel_wake_p99_ms = noise.map(|noise| noise.p99);
    Ok(SheetReport { sent, frames: sheet.frames, compositor_cpu_ms, client_cpu_ms, sentinel_wake_p99_ms })
}
