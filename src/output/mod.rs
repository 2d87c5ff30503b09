//! Outputs: schedules repaints, latches content, builds the scene and the plan, and follows each frame to light.
//!
//! [`loop_turn`] is the one place that states the order of these steps. `frame/latch` chooses and composes,
//! `frame/presentation` handles the display's results, and [`clients`] sends frame callbacks. *When* each step happens
//! is decided in [`timing`](upbeat_timing), by one [`Conductor`] per output.

pub mod capture;
pub mod clients;
mod frame;
pub mod gamma;
mod globals;
mod guessed_scale;
pub mod hotplug;
pub mod in_place;
pub mod lock;
pub mod loop_turn;
pub mod mode_switch;
pub mod panel;
pub mod parking;
mod placing;
pub mod power;
mod repaint;
pub mod scene;
mod shell_outputs;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use calloop::ping::Ping;
use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Size};

use crate::backend::Display;
use crate::backend::fence::Fence;
use crate::config::InPlaceSize;
use crate::render::{Canvas, Renderer};
use crate::revision::Revision;
use crate::scene::{CursorView, Layer, Scene};
use crate::shell::effects::WindowEffects;
pub use crate::shell::geometry;
use crate::shell::{Shell, ShellSeat, hit};
use crate::state::State;
use crate::surface::SurfaceEntry;
pub use capture::{WindowPicture, capture, picture_of_window};
use clients::paced_clients::PacedClients;
use clients::rules::PacingRules;
pub use clients::surface_queries::ShownContentKey;
use frame::FrameContent;
pub use globals::OutputGlobals;
pub use panel::{place_of_pixel, place_on_panel, turn_of};
pub use scene::on_screen::place_on_screen;
use upbeat_record::trace::kernel_times::KernelTimer;
use upbeat_timing::conductor::Conductor;
use upbeat_timing::id::{ClientId, FrameId, OutputId};
use upbeat_timing::output_order::OutputOrder;
use upbeat_timing::pacer::Pacer;
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::record::{FrameRecord, OutputStatistics, RepaintReason, Ring};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant, Span};

/// Number of frame records kept for each output.
const RECORDS: usize = upbeat_timing::record::RECORDS_KEPT;

pub struct Outputs {
    list: Vec<OutputState>,
    order: OutputOrder,
    /// Draws scenes; `None` in tests of protocols alone.
    renderer: Option<Renderer>,
    /// Wakes the loop when the render thread has finished a job.
    render_ping: Option<Ping>,
    /// Displays of outputs that were taken out of the layout.
    parked: Vec<parking::Parked>,
    captures: capture::Captures,
    /// When hidden surfaces get their callbacks next; `None` while none waits.
    hidden_tick: Option<Instant>,
    /// When an effective pacing may change without an event, because the user stopped interacting.
    next_decision: Option<Instant>,
    /// Pending mode changes and the requests that wait for their results.
    switches: mode_switch::OutputModeSwitches,
    /// Clients were sent events that destroy their objects.
    objects_ended: bool,
    /// Surfaces were destroyed since the last turn.
    surfaces_destroyed: bool,
    rules: PacingRules,
    statistics: clients::statistics::WindowHistories,
    frame_log: Option<upbeat_record::trace::FrameLog>,
    /// Scheduling delays caused by the kernel, as evidence for misses.
    kernel: KernelTimer,
    /// How many frames of our own animations are rendered ahead; 0 for none.
    frames_ahead: u8,
    /// Whether an interrupt supersedes frames rendered ahead; if not, they are shown first.
    supersedes: bool,
    /// Whether small changes of any client near the newest input are drawn into the front buffer.
    writes_in_place: bool,
    /// Side of the area around the newest input that such a change must lie in.
    in_place_size: InPlaceSize,
    /// Position of the newest input (global logical coordinates).
    input_position: Option<Point<f64, Logical>>,
    /// Subsurfaces that follow the pointer.
    followers: scene::followers::DeviceFollowers,
    /// Client buffers that may be scanned out while the client writes to them.
    front_buffers: clients::front_buffer::SharedFrontBuffers,
    /// Colour behind all windows: red, green, blue.
    background: [f32; 3],
    cursor: scene::cursor::CursorImages,
    overlays: scene::overlays::OverlayCache,
    titles: scene::titles::TitleCache,
    /// The outputs that the cursor surface and the drag icon have entered.
    entered_outputs: clients::enter_leave::EnteredOutputs,
    last_id: u32,
}

impl Outputs {
    fn new(now: Instant) -> Self {
        Outputs {
            list: Vec::new(),
            order: OutputOrder::default(),
            renderer: None,
            render_ping: None,
            parked: Vec::new(),
            captures: capture::Captures::default(),
            hidden_tick: None,
            next_decision: None,
            switches: mode_switch::OutputModeSwitches::default(),
            objects_ended: false,
            surfaces_destroyed: false,
            rules: PacingRules::default(),
            statistics: clients::statistics::WindowHistories::default(),
            frame_log: None,
            kernel: KernelTimer::start(now),
            frames_ahead: 0,
            supersedes: true,
            writes_in_place: false,
            in_place_size: InPlaceSize::default(),
            input_position: None,
            followers: scene::followers::DeviceFollowers::default(),
            front_buffers: clients::front_buffer::SharedFrontBuffers::default(),
            background: [0.13, 0.14, 0.17],
            cursor: scene::cursor::CursorImages::default(),
            overlays: scene::overlays::OverlayCache::default(),
            titles: scene::titles::TitleCache::default(),
            entered_outputs: clients::enter_leave::EnteredOutputs::default(),
            last_id: 0,
        }
    }
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list.iter().map(|output| output.output.name())).finish()
    }
}

pub struct OutputState {
    id: OutputId,
    output: Output,
    global: Option<smithay::reexports::wayland_server::backend::GlobalId>,
    display: Box<dyn Display>,
    /// Whether the output is powered; see [`power`].
    on: bool,
    /// The event that powers the output on again; `None` while it is on, and if a user or a client switched it off.
    powered_on_by: Option<power::PowerOnEvent>,
    /// No scale was configured: it is guessed from the physical size.
    guesses_scale: bool,
    /// The last lower limit of its variable rate (mHz), to which the rate varies if it is switched on without a limit.
    former_limit: Option<u32>,
    /// Decides when the output latches and when its clients get callbacks.
    conductor: Conductor<FrameContent>,
    /// How the output's clients are paced, unless a rule says otherwise.
    wish: Option<PacingWish>,
    /// Whether the position was configured; otherwise the output lies beside its neighbours.
    is_placed: bool,
    clients: PacedClients,
    canvas: Canvas,
    /// The scene in the newest composed buffer.
    drawn_scene: Arc<Scene>,
    /// The clients with focus or a pressed button, as last passed to the pacers.
    focused_clients: clients::pacing::FocusedClients,
    /// Cached result of the last latch.
    scene_cache: scene::scene_cache::SceneCache,
    /// Storage of a discarded scene, reused by the next.
    spare_layers: Vec<Layer>,
    /// The scene on screen.
    on_screen: Arc<Scene>,
    latch_count: u64,
    /// A scroll view on this output is still moving.
    scrolls: bool,
    /// Time alone moves these views.
    are_views_foreseen: bool,
    /// A scroll view shows content that its client has already replaced.
    keeps_content: bool,
    /// Scroll reports to send to clients when the current frame is presented.
    reports: Vec<scene::scrolling::ViewReport>,
    /// The scroll views that the last latch looked at.
    latched_views: Vec<WlSurface>,
    /// When content was last latched.
    last_latch: Instant,
    /// Number of frames that reached light.
    lights: u64,
    /// The display's sequence number at the last light; then the frame, and the refresh on the model's grid.
    last_sequence: Option<u64>,
    last_light: Option<(FrameId, RefreshIndex)>,
    /// The cursor of a submitted frame was moved, so the screen differs from the drawn scene.
    cursor_moved: bool,
    /// How often the cursor of a submitted frame was moved.
    cursor_moves: u64,
    /// Actions taken in this turn of the loop.
    actions: u32,
    /// Advanced when the refresh grid changes.
    grid: Revision,
    /// When the scene on screen was first presented.
    presented: Instant,
    /// Changes drawn into the front buffer.
    in_place: in_place::InPlaceWrites,
    /// Whether the buffer on screen may be written.
    front_buffer: crate::config::FrontBufferOption,
    /// The client buffer that is scanned out in place, and when that last began.
    front_share: Option<clients::front_buffer::FrontBufferShare>,
    shared_at: Instant,
    /// When that ended, until a frame latched since then is seen.
    share_ended: Option<Instant>,
    /// When a client last asked for a picture of it.
    captured_at: Option<Instant>,
    records: Ring<FrameRecord, RECORDS>,
    statistics: OutputStatistics,
}

/// A copy of a fence that is handed to the display, kept to read later when it signalled.
fn fence_copy(fence: &OwnedFd) -> Option<Fence> {
    fence.try_clone().ok().map(Fence::new)
}

impl Outputs {
    /// Without outputs yet; finished jobs of the render thread wake the loop of `handle`.
    pub(crate) fn with_loop(handle: &calloop::LoopHandle<'static, State>, now: Instant) -> Self {
        let (drawn, done) = match calloop::ping::make_ping() {
            Ok(ping) => ping,
            Err(error) => {
                tracing::error!(%error, "the render thread cannot wake the event loop: GPU frames wait for another event");
                return Outputs::new(now);
            }
        };
        // The ping only starts a turn: that turn asks the renderer for its finished jobs.
        if let Err(error) = handle.insert_source(done, |(), _, _| {}) {
            tracing::error!(%error, "the render thread cannot wake the event loop: GPU frames wait for another event");
        }
        Outputs { render_ping: Some(drawn), ..Outputs::new(now) }
    }

    /// Whether the renderer can blur the content behind a surface: OpenGL ES can.
    pub fn blurs(&self) -> bool {
        self.renderer.as_ref().is_some_and(Renderer::is_threaded)
    }

    /// The effects of `shell` that are drawn: without a GPU some are left out.
    pub fn effects(&self, shell: &Shell) -> WindowEffects {
        let on_gpu = self.renderer.as_ref().is_some_and(Renderer::is_hardware);
        if on_gpu { shell.effects().drawn_by_gpu() } else { shell.effects() }
    }

    /// Draws scenes; `None` in tests of protocols alone.
    pub const fn renderer(&self) -> Option<&Renderer> {
        self.renderer.as_ref()
    }

    pub const fn renderer_mut(&mut self) -> Option<&mut Renderer> {
        self.renderer.as_mut()
    }

    pub fn set_renderer(&mut self, renderer: Option<Renderer>) {
        self.renderer = renderer;
    }

    /// Takes the renderer away: no scene is drawn any more.
    pub const fn take_renderer(&mut self) -> Option<Renderer> {
        self.renderer.take()
    }

    /// Wakes the loop when the render thread has finished a job.
    pub(crate) fn render_ping(&self) -> Option<Ping> {
        self.render_ping.clone()
    }

    /// Whether clients were sent events that destroy their objects since the last call.
    pub(crate) const fn take_objects_ended(&mut self) -> bool {
        std::mem::replace(&mut self.objects_ended, false)
    }

    /// Displays of outputs that were taken out of the layout.
    pub fn parked(&self) -> &[parking::Parked] {
        &self.parked
    }

    pub fn parked_mut(&mut self) -> &mut [parking::Parked] {
        &mut self.parked
    }

    /// Pacing rules for clients, windows and layer surfaces.
    pub const fn rules(&self) -> &PacingRules {
        &self.rules
    }

    pub const fn rules_mut(&mut self) -> &mut PacingRules {
        &mut self.rules
    }

    pub const fn statistics(&self) -> &clients::statistics::WindowHistories {
        &self.statistics
    }

    pub const fn frame_log(&self) -> Option<&upbeat_record::trace::FrameLog> {
        self.frame_log.as_ref()
    }

    pub fn set_frame_log(&mut self, log: upbeat_record::trace::FrameLog) {
        self.frame_log = Some(log);
    }

    pub const fn take_frame_log(&mut self) -> Option<upbeat_record::trace::FrameLog> {
        self.frame_log.take()
    }

    /// The loop woke up this much too late; the kernel's share is evidence for misses.
    pub fn note_woke(&mut self, late: Span) {
        self.kernel.note_wake(late);
    }

    /// Sets the colour behind all windows: red, green, blue.
    pub const fn set_background(&mut self, background: [f32; 3]) {
        self.background = background;
    }

    /// How many frames of our own animations are rendered ahead; 0 for none.
    pub const fn frames_ahead(&self) -> u8 {
        self.frames_ahead
    }

    pub const fn set_frames_ahead(&mut self, frames: u8) {
        self.frames_ahead = frames;
    }

    /// Whether an interrupt supersedes frames rendered ahead; if not, they are shown first.
    pub const fn set_supersedes(&mut self, supersedes: bool) {
        self.supersedes = supersedes;
    }

    /// All outputs, including switched-off outputs.
    pub fn iter(&self) -> impl Iterator<Item = &Output> {
        self.list.iter().map(|output| &output.output)
    }

    pub fn states(&self) -> impl Iterator<Item = &OutputState> {
        self.list.iter()
    }

    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut OutputState> {
        self.list.iter_mut()
    }

    pub fn by_id(&self, id: OutputId) -> Option<&OutputState> {
        self.list.iter().find(|output| output.id == id)
    }

    pub fn by_id_mut(&mut self, id: OutputId) -> Option<&mut OutputState> {
        self.list.iter_mut().find(|output| output.id == id)
    }

    /// The output that paces surfaces that were never visible.
    fn first(&self) -> Option<OutputId> {
        self.list.iter().find(|output| output.on).map(|output| output.id)
    }
}

impl OutputState {
    pub const fn id(&self) -> OutputId {
        self.id
    }

    pub const fn output(&self) -> &Output {
        &self.output
    }

    pub fn display(&self) -> &dyn Display {
        self.display.as_ref()
    }

    pub fn display_mut(&mut self) -> &mut dyn Display {
        self.display.as_mut()
    }

    /// Whether the output is powered; see [`power`].
    pub const fn is_on(&self) -> bool {
        self.on
    }

    /// Whether its scale is guessed from the physical size.
    pub const fn guesses_scale(&self) -> bool {
        self.guesses_scale
    }

    /// Decides when the output latches and when its clients get callbacks.
    pub const fn conductor(&self) -> &Conductor<FrameContent> {
        &self.conductor
    }

    /// How the output's clients are paced, unless a rule says otherwise.
    pub const fn wish(&self) -> Option<PacingWish> {
        self.wish
    }

    /// Whether the position was configured; otherwise the output lies beside its neighbours.
    pub const fn is_placed(&self) -> bool {
        self.is_placed
    }

    /// Marks the position as configured.
    pub const fn set_placed(&mut self) {
        self.is_placed = true;
    }

    pub fn on_screen(&self) -> &Arc<Scene> {
        &self.on_screen
    }

    /// When the scene on screen was first presented.
    pub const fn presented(&self) -> Instant {
        self.presented
    }

    /// Changes drawn into the front buffer.
    pub const fn in_place(&self) -> &in_place::InPlaceWrites {
        &self.in_place
    }

    pub const fn records(&self) -> &Ring<FrameRecord, RECORDS> {
        &self.records
    }

    pub const fn statistics(&self) -> &OutputStatistics {
        &self.statistics
    }

    /// The pacer of `client` on this output.
    pub fn pacer(&self, client: ClientId) -> Option<&Pacer> {
        self.conductor.pacer(self.clients.get(&client)?.pacer)
    }

    /// Number of latches, including latches without a new frame.
    pub const fn latches(&self) -> u64 {
        self.latch_count
    }

    /// Number of layers in the scene on screen. For tests.
    pub fn layers_on_screen(&self) -> usize {
        self.on_screen.layers.len()
    }

    /// Advanced when the visibility of all windows was computed again, not only changed content. For tests.
    pub const fn arrangement(&self) -> Revision {
        self.scene_cache.arrangement()
    }

    /// Schedules a repaint for this reason.
    fn schedule_repaint(&mut self, need: RepaintReason) {
        self.conductor.output_mut().schedule_repaint(need);
    }

    /// Schedules a repaint for an update of `entry` that waits for a refresh after `index`.
    fn schedule_when_due(&mut self, entry: &SurfaceEntry, index: RefreshIndex) {
        let vsync = self.conductor.output().vsync();
        if let Some((due, at)) = entry.due(index, |time| vsync.at_or_after(time)) {
            self.conductor.output_mut().schedule_repaint_from(due, at);
        }
    }
}

impl OutputState {
    /// Whether any part of `surface` is visible in the newest scene.
    fn is_shown_by(&self, surface: &WlSurface) -> bool {
        let known = self.scene_cache.contains(surface);
        known.unwrap_or_else(|| self.drawn_scene.layers.iter().any(|layer| layer.surface == *surface))
    }

    fn overlaps_area(&self, area: Option<Rectangle<i32, Logical>>) -> bool {
        area.is_some_and(|area| geometry(&self.output).overlaps(area))
    }
}

/// Kind of an input event delivered to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    Key,
    Button,
    /// The wheel turned or a finger scrolled.
    Scroll,
    /// A finger touched, moved or left.
    Touch,
    /// The pointer moved; motion alone does not interrupt frames rendered ahead.
    Motion,
}

/// A window got the application id `app_id`: its rules apply from now on, and the frame log records the name.
pub fn window_named(state: &mut State, id: crate::shell::WindowId, app_id: &str) {
    let client = state.shell.window(id).and_then(|window| state.surfaces.client_of(window.surface()));
    client.iter().for_each(|client| state.outputs.rules.mark_client_stale(client.id));
    crate::shell::window_rules::schedule_rules(state, id);
    if let Some(log) = &state.outputs.frame_log {
        log.name_window(id, app_id);
    }
}

/// Schedules a repaint of all outputs for a change that may be visible on any of them.
pub fn schedule_repaint_all(state: &mut State) {
    state.shell.note_change();
    schedule_window_repaint(state);
}

/// Schedules a repaint of all outputs for a window change that the shell has already counted.
pub fn schedule_window_repaint(state: &mut State) {
    schedule_repaint_for(state, RepaintReason::Shell);
}

/// The cursor moved or got another image.
pub fn cursor_changed(state: &mut State) {
    frame::submit_ahead::move_cursors(state);
    let position = state.pointer_position();
    let is_hidden = matches!(state.cursor_view(1.0), CursorView::Hidden);
    for output in &mut state.outputs.list {
        // An output that showed the cursor must repaint, too, to remove it.
        let shows = !is_hidden && geometry(&output.output).to_f64().contains(position);
        let frames = output.conductor.output().frames();
        let is_in_frame = frames.iter().any(|frame| frame.content.scene.cursor.is_some());
        let has_cursor = is_in_frame || output.drawn_scene.cursor.is_some();
        if shows || has_cursor {
            output.schedule_repaint(RepaintReason::Cursor);
        }
    }
}

fn schedule_repaint_for(state: &mut State, need: RepaintReason) {
    for output in &mut state.outputs.list {
        output.schedule_repaint(need);
    }
}

/// An input event was delivered to the client of `surface`, or to the compositor itself.
pub fn input(state: &mut State, kind: InputKind, surface: Option<&WlSurface>, at: Instant) {
    let now = state.clock.now();
    if kind != InputKind::Motion {
        for output in &mut state.outputs.list {
            output.conductor.output_mut().supersede();
        }
    }
    if let Some(surface) = surface {
        clients::pacing::input(state, surface, kind != InputKind::Motion, at.min(now), now);
    }
}

/// Whether any part of `surface` is visible in the newest frame of any output.
pub fn is_drawn(state: &State, surface: &WlSurface) -> bool {
    let outputs = state.outputs.list.iter().filter(|output| output.on);
    outputs.into_iter().any(|output| output.is_shown_by(surface))
}

/// Hit test in the scenes on screen: the surface under `point` and its origin. Uses the current input regions.
pub fn scene_on_screen_hit(state: &State, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
    let lock = state.shell.lock();
    let output = state.outputs.list.iter().find(|output| geometry(&output.output).to_f64().contains(point))?;
    if state.shell.overlays().take_input() && !lock.takes_input() {
        let lies_above = !state.shell.overlays().covers_all();
        return lies_above.then(|| state.shell.hit_above(point, &output.output)).flatten();
    }
    if output.lights == 0 {
        // No frame was presented yet, so the current layout is the best answer.
        return state.shell.hit(point);
    }
    let scene = &output.on_screen;
    let live =
        scene.layers.iter().filter(|layer| layer.snapshot.is_none() && state.shell.lock_allows_input(&layer.surface));
    let (handle, corner) = (&output.output, geometry(&output.output).loc.to_f64());
    let place = (point - corner).to_physical(handle.current_scale().fractional_scale());
    let there = |layer: &&Layer| {
        // The layer's edges were rounded to pixels.
        let mut reach = layer.target.to_f64();
        reach.loc -= Point::from((1.0, 1.0));
        reach.size += Size::from((2.0, 2.0));
        // Parts that a scroll view crops do not take input.
        reach.contains(place) && layer.crop.is_none_or(|crop| crop.contains(point))
    };
    live.filter(there).filter(|layer| !hit::is_drag_icon(&layer.surface)).find_map(|layer| {
        // A window that slides out of sight is still visible but takes no input.
        let hidden = state.shell.window_of(&layer.surface).is_some_and(|window| !state.shell.is_visible(window.id));
        if hidden { None } else { hit_layer(scene, layer, point) }
    })
}

/// The surface that takes input at `point` on a layer: the layer's own, or a covered surface of the same window if the
/// layer's surface lets input through, as in browsers. The covered surface is not in the scene, since no part of it is
/// visible.
fn hit_layer(scene: &Scene, layer: &Layer, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
    let local = layer.to_surface(point);
    if hit::accepts_input(&layer.surface, local) {
        return Some((layer.surface.clone(), point - local));
    }
    let (below, local) =
        hit::covers(&layer.surface, local).then(|| hit::hit_tree_around(&layer.surface, local)).flatten()?;
    let is_seen = scene.layers.iter().any(|layer| layer.surface == below);
    (!is_seen).then(|| (below, point - local))
}

/// Every output with its rectangle (global logical coordinates).
pub fn all(state: &State) -> impl Iterator<Item = (&Output, Rectangle<i32, Logical>)> {
    state.outputs.iter().map(|output| (output, geometry(output)))
}

/// The output nearest to `point` (the first output if there is no point), with the area that layer surfaces leave to
/// windows (global logical coordinates). `None` if there is no output.
pub fn usable_area(state: &State, point: Option<Point<f64, Logical>>) -> Option<(Output, Rectangle<i32, Logical>)> {
    let distance = |area: &Rectangle<i32, Logical>| {
        let Some(point) = point else { return 0.0 };
        let nearest = point.constrain(area.to_f64());
        (nearest.x - point.x).powi(2) + (nearest.y - point.y).powi(2)
    };
    let nearest = all(state).min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    nearest.map(|(output, _)| (output.clone(), state.shell.layers().usable(output)))
}
