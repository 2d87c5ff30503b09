//! An output's life: need, latch, scene, plan, light.
//!
//! [`turn`] is the one place where the order of things is written down; `latch` chooses and composes, `present`
//! hears what became of it, [`clients`] calls them back. When all this happens is decided in
//! [`timing`](upbeat_timing), by one [`Conductor`] per output.

pub mod capture;
pub mod clients;
mod desk;
mod frame;
pub mod gamma;
mod globals;
mod guessed_scale;
pub mod hotplug;
pub mod in_place;
pub mod lock;
pub mod mode_switch;
mod needed;
pub mod panel;
pub mod parking;
pub mod power;
pub mod scene;
pub mod turn;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use calloop::ping::Ping;
use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Size};

use crate::backend::Display;
use crate::backend::fence::Fence;
use crate::render::{Canvas, Renderer};
use crate::revision::Revision;
use crate::scene::{Layer, Scene};
use crate::shell::effects::Effects;
pub use crate::shell::geometry;
use crate::shell::{Hand, Shell, hit};
use crate::state::State;
use crate::surface::Entry;
pub use capture::{OwnPicture, capture, picture_of_window};
use clients::paced_clients::PacedClients;
use clients::rules::PacingRules;
pub use clients::shows::Showing;
use frame::Content;
pub use globals::OutputGlobals;
pub use panel::{place_of_pixel, place_on_panel, turn_of};
pub use scene::on_screen::place_on_screen;
use upbeat_record::trace::kernel_times::KernelTimer;
use upbeat_timing::conductor::Conductor;
use upbeat_timing::id::{ClientId, FrameId, OutputId};
use upbeat_timing::order::Order;
use upbeat_timing::pacer::Pacer;
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::record::{FrameRecord, Need, OutputStatistics, Ring};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant, Span};

/// Frames of an output whose records are kept.
const RECORDS: usize = upbeat_timing::record::RECORDS_KEPT;

/// All outputs.
pub struct Outputs {
    list: Vec<OutputState>,
    order: Order,
    /// Draws scenes; none in tests of protocols alone.
    renderer: Option<Renderer>,
    /// Wakes the loop when something was drawn on another thread.
    drawn: Option<Ping>,
    /// Displays of outputs that were taken out of the layout.
    parked: Vec<parking::Parked>,
    /// Pictures that were asked for.
    captures: capture::Captures,
    /// When surfaces that nobody sees are called back next; `None` while none waits.
    hidden_tick: Option<Instant>,
    /// When a pacing in force may change though nothing happens: the user leaves off.
    next_decision: Option<Instant>,
    /// Modes that were asked for, and who waits to hear what came of them.
    switches: mode_switch::Switches,
    /// Clients were sent events that end their objects.
    objects_ended: bool,
    /// Surfaces went since the last turn.
    surfaces_went: bool,
    /// How clients are to be paced.
    rules: PacingRules,
    /// Per-window statistics.
    statistics: clients::statistics::Windows,
    /// Where records are written to.
    frame_log: Option<upbeat_record::trace::FrameLog>,
    /// What the kernel did instead of running us, as evidence of misses.
    kernel: KernelTimer,
    /// How many frames of our own animations are rendered ahead; 0 for none.
    frames_ahead: u8,
    /// Whether those that wait give way to what disturbs them; if not, they are shown first.
    supersedes: bool,
    /// Whether small changes near the hand are written into the picture on screen.
    writes_in_place: bool,
    /// Where the newest input was (global logical coordinates).
    hand: Option<Point<f64, Logical>>,
    /// Who follows the pointer.
    following: scene::following::Following,
    /// Whose memory may be scanned out as it stands.
    fronts: clients::front_buffer::Fronts,
    /// What lies behind all windows: red, green, blue.
    background: [f32; 3],
    cursor: scene::cursor::CursorImages,
    overlays: scene::overlays::Kept,
    titles: scene::titles::Drawn,
    /// The outputs that the cursor and the drag icon were told of.
    visits: clients::visiting::Visits,
    last_id: u32,
}

impl Outputs {
    /// No outputs yet.
    fn new(now: Instant) -> Self {
        Outputs {
            list: Vec::new(),
            order: Order::default(),
            renderer: None,
            drawn: None,
            parked: Vec::new(),
            captures: capture::Captures::default(),
            hidden_tick: None,
            next_decision: None,
            switches: mode_switch::Switches::default(),
            objects_ended: false,
            surfaces_went: false,
            rules: PacingRules::default(),
            statistics: clients::statistics::Windows::default(),
            frame_log: None,
            kernel: KernelTimer::start(now),
            frames_ahead: 0,
            supersedes: true,
            writes_in_place: false,
            hand: None,
            following: scene::following::Following::default(),
            fronts: clients::front_buffer::Fronts::default(),
            background: [0.13, 0.14, 0.17],
            cursor: scene::cursor::CursorImages::default(),
            overlays: scene::overlays::Kept::default(),
            titles: scene::titles::Drawn::default(),
            visits: clients::visiting::Visits::default(),
            last_id: 0,
        }
    }
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list.iter().map(|output| output.output.name())).finish()
    }
}

/// One output.
pub struct OutputState {
    /// Its number.
    id: OutputId,
    /// Its Wayland side.
    output: Output,
    global: Option<smithay::reexports::wayland_server::backend::GlobalId>,
    /// The device.
    display: Box<dyn Display>,
    /// Whether it shows anything; see [`power`].
    on: bool,
    /// The event that lights it again; `None` while it is on, and where a user or a client switched it off.
    lit_by: Option<power::LitBy>,
    /// Nobody said at which scale it is shown: it is guessed from its size.
    guesses_scale: bool,
    /// When things happen on it.
    conductor: Conductor<Content>,
    /// How its clients are paced, where no rule says otherwise.
    wish: Option<PacingWish>,
    /// Whether somebody said where it is; else it lies beside the others.
    is_placed: bool,
    clients: PacedClients,
    canvas: Canvas,
    /// What the newest composed buffer shows.
    drawn: Arc<Scene>,
    /// Whom its pacers were told of.
    attended: clients::pacing::Attended,
    /// What the last latch chose.
    stage: scene::stage::Stage,
    /// Storage of a scene that is not looked at any more, for the next one.
    spare: Vec<Layer>,
    /// What is on screen.
    on_screen: Arc<Scene>,
    scenes: u64,
    /// A view that it shows goes on moving.
    scrolls: bool,
    /// A view shows what is not there any more.
    keeps: bool,
    /// What clients are to hear of their views when the frame at hand is seen.
    reports: Vec<scene::scrolling::Report>,
    /// When content was chosen for it last.
    looked: Instant,
    /// Frames that reached light.
    lights: u64,
    /// The display's count at the last light; which frame that was, and the refresh of the model's grid.
    last_sequence: Option<u64>,
    last_light: Option<(FrameId, RefreshIndex)>,
    /// The cursor of frames that the display holds was moved: what is on screen is not what was drawn.
    cursor_moved: bool,
    /// How often that happened.
    cursor_moves: u64,
    /// Things done in this turn of the loop.
    actions: u32,
    /// Advanced when its refreshes are not those that they were.
    grid: Revision,
    /// When the scene on screen was first presented.
    presented: Instant,
    /// What is written into the picture on screen.
    in_place: in_place::InPlace,
    /// What is scanned out of a client's memory, and when that began last.
    front: Option<clients::front_buffer::Shared>,
    shared_at: Instant,
    /// The last frames.
    records: Ring<FrameRecord, RECORDS>,
    /// Frames, drops, costs.
    statistics: OutputStatistics,
}

/// A fence that is given away, to be asked later when it signalled.
fn drawn_by(fence: &OwnedFd) -> Option<Fence> {
    fence.try_clone().ok().map(Fence::new)
}

impl Outputs {
    /// No outputs yet; what is drawn on another thread wakes this loop.
    pub(crate) fn heard_by(handle: &calloop::LoopHandle<'static, State>, now: Instant) -> Self {
        let (drawn, done) = match calloop::ping::make_ping() {
            Ok(ping) => ping,
            Err(error) => {
                tracing::error!(%error, "what a GPU draws is seen only when something else happens");
                return Outputs::new(now);
            }
        };
        // What was drawn, the renderer says itself in the turn that this starts.
        if let Err(error) = handle.insert_source(done, |(), _, _| {}) {
            tracing::error!(%error, "what a GPU draws is seen only when something else happens");
        }
        Outputs { drawn: Some(drawn), ..Outputs::new(now) }
    }

    /// Whether who draws can blur what lies behind something: OpenGL ES does.
    pub fn blurs(&self) -> bool {
        self.renderer.as_ref().is_some_and(Renderer::is_threaded)
    }

    /// The effects of `shell` that are drawn: some are left out where no GPU draws.
    pub fn effects(&self, shell: &Shell) -> Effects {
        let on_gpu = self.renderer.as_ref().is_some_and(Renderer::is_hardware);
        if on_gpu { shell.effects().drawn_by_gpu() } else { shell.effects() }
    }

    /// Draws scenes; none in tests of protocols alone.
    pub const fn renderer(&self) -> Option<&Renderer> {
        self.renderer.as_ref()
    }

    /// The same, to have it draw.
    pub const fn renderer_mut(&mut self) -> Option<&mut Renderer> {
        self.renderer.as_mut()
    }

    /// Scenes are drawn by `renderer` from now on.
    pub fn set_renderer(&mut self, renderer: Option<Renderer>) {
        self.renderer = renderer;
    }

    /// No scene is drawn any more.
    pub const fn take_renderer(&mut self) -> Option<Renderer> {
        self.renderer.take()
    }

    /// Wakes the loop when something was drawn on another thread.
    pub(crate) fn drawn(&self) -> Option<Ping> {
        self.drawn.clone()
    }

    /// Whether clients were sent events that end their objects, since that was asked last.
    pub(crate) const fn take_objects_ended(&mut self) -> bool {
        std::mem::replace(&mut self.objects_ended, false)
    }

    /// Displays of outputs that were taken out of the layout.
    pub fn parked(&self) -> &[parking::Parked] {
        &self.parked
    }

    /// The rules for clients, windows and layer surfaces.
    pub const fn rules(&self) -> &PacingRules {
        &self.rules
    }

    /// The same, to change them.
    pub const fn rules_mut(&mut self) -> &mut PacingRules {
        &mut self.rules
    }

    /// Per-window statistics.
    pub const fn statistics(&self) -> &clients::statistics::Windows {
        &self.statistics
    }

    /// Where records are written to.
    pub const fn frame_log(&self) -> Option<&upbeat_record::trace::FrameLog> {
        self.frame_log.as_ref()
    }

    /// Records are written to `log` from now on.
    pub fn set_frame_log(&mut self, log: upbeat_record::trace::FrameLog) {
        self.frame_log = Some(log);
    }

    /// Records are written no more.
    pub const fn take_frame_log(&mut self) -> Option<upbeat_record::trace::FrameLog> {
        self.frame_log.take()
    }

    /// The loop woke up so late: the kernel's part of that is evidence of misses.
    pub fn note_woke(&mut self, late: Span) {
        self.kernel.woke(late);
    }

    /// This colour lies behind all windows: red, green, blue.
    pub const fn set_background(&mut self, background: [f32; 3]) {
        self.background = background;
    }

    /// How many frames of our own animations are rendered ahead; 0 for none.
    pub const fn frames_ahead(&self) -> u8 {
        self.frames_ahead
    }

    /// Renders so many ahead.
    pub const fn set_frames_ahead(&mut self, frames: u8) {
        self.frames_ahead = frames;
    }

    /// Whether those that wait give way to what disturbs them; if not, they are shown first.
    pub const fn set_supersedes(&mut self, supersedes: bool) {
        self.supersedes = supersedes;
    }

    /// All outputs, also those that are switched off.
    pub fn iter(&self) -> impl Iterator<Item = &Output> {
        self.list.iter().map(|output| &output.output)
    }

    /// Everything about each output.
    pub fn states(&self) -> impl Iterator<Item = &OutputState> {
        self.list.iter()
    }

    /// Everything about each output, to change it.
    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut OutputState> {
        self.list.iter_mut()
    }

    /// The output called `id`.
    pub fn by_id(&self, id: OutputId) -> Option<&OutputState> {
        self.list.iter().find(|output| output.id == id)
    }

    /// The output called `id`, to change it.
    pub fn by_id_mut(&mut self, id: OutputId) -> Option<&mut OutputState> {
        self.list.iter_mut().find(|output| output.id == id)
    }

    /// The output that paces what was never seen yet.
    fn first(&self) -> Option<OutputId> {
        self.list.iter().find(|output| output.on).map(|output| output.id)
    }
}

impl OutputState {
    /// Its number.
    pub const fn id(&self) -> OutputId {
        self.id
    }

    /// Its Wayland side.
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// The device.
    pub fn display(&self) -> &dyn Display {
        self.display.as_ref()
    }

    /// The same, to change it.
    pub fn display_mut(&mut self) -> &mut dyn Display {
        self.display.as_mut()
    }

    /// Whether it shows anything; see [`power`].
    pub const fn is_on(&self) -> bool {
        self.on
    }

    /// Whether its scale is guessed from its size.
    pub const fn guesses_scale(&self) -> bool {
        self.guesses_scale
    }

    /// When things happen on it.
    pub const fn conductor(&self) -> &Conductor<Content> {
        &self.conductor
    }

    /// How its clients are paced, where no rule says otherwise.
    pub const fn wish(&self) -> Option<PacingWish> {
        self.wish
    }

    /// Whether its place was said; else it lies beside the others.
    pub const fn is_placed(&self) -> bool {
        self.is_placed
    }

    /// Its place was said.
    pub const fn set_placed(&mut self) {
        self.is_placed = true;
    }

    /// The scene on screen.
    pub fn on_screen(&self) -> &Arc<Scene> {
        &self.on_screen
    }

    /// When the scene on screen was first presented.
    pub const fn presented(&self) -> Instant {
        self.presented
    }

    /// What is written into the picture on screen.
    pub const fn in_place(&self) -> &in_place::InPlace {
        &self.in_place
    }

    /// The last frames.
    pub const fn records(&self) -> &Ring<FrameRecord, RECORDS> {
        &self.records
    }

    /// Frames, drops, costs.
    pub const fn statistics(&self) -> &OutputStatistics {
        &self.statistics
    }

    /// The pacer of `client` on this output.
    pub fn pacer(&self, client: ClientId) -> Option<&Pacer> {
        self.conductor.pacer(self.clients.get(&client)?.pacer)
    }

    /// How often content was chosen for it, also where that came to nothing.
    pub const fn latches(&self) -> u64 {
        self.scenes
    }

    /// How many surfaces' content the picture on screen was put together from. For tests.
    pub fn layers_on_screen(&self) -> usize {
        self.on_screen.layers.len()
    }

    /// Advanced when windows were looked at for what is seen where, and not only content that has changed. For tests.
    pub const fn arrangement(&self) -> Revision {
        self.stage.arrangement()
    }

    /// Something on it changed, for this reason.
    fn need(&mut self, need: Need) {
        self.conductor.output_mut().need(need);
    }

    /// An update of `entry` waits for a refresh after `index`.
    fn need_when_due(&mut self, entry: &Entry, index: RefreshIndex) {
        let vsync = self.conductor.output().vsync();
        if let Some((due, at)) = entry.due(index, |time| vsync.at_or_after(time)) {
            self.conductor.output_mut().need_from(due, at);
        }
    }
}

impl OutputState {
    /// Whether its newest scene shows something of `surface`.
    fn is_shown_by(&self, surface: &WlSurface) -> bool {
        let known = self.stage.has(surface);
        known.unwrap_or_else(|| self.drawn.layers.iter().any(|layer| layer.surface == *surface))
    }

    fn touches(&self, area: Option<Rectangle<i32, Logical>>) -> bool {
        area.is_some_and(|area| geometry(&self.output).overlaps(area))
    }
}

/// What kind of input a client was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A key went down or up.
    Key,
    /// A pointer button went down or up.
    Button,
    /// The wheel turned or a finger scrolled.
    Scroll,
    /// A finger touched, moved or left.
    Touch,
    /// The pointer moved; does not interrupt by itself.
    Motion,
}

/// A window's application is called `app_id`: its rules count from now on, and the frame log knows its name.
pub fn window_named(state: &mut State, id: crate::shell::WindowId, app_id: &str) {
    let client = state.shell.window(id).and_then(|window| state.surfaces.client_of(window.surface()));
    client.iter().for_each(|client| state.outputs.rules.changed_for(client.id));
    crate::shell::wishes::renew_soon(state, id);
    if let Some(log) = &state.outputs.frame_log {
        log.name_window(id, app_id);
    }
}

/// Something changed that may be seen on any output.
pub fn need_all(state: &mut State) {
    state.shell.note_change();
    need_look(state);
}

/// Windows changed that count their changes themselves: every output looks at those.
pub fn need_look(state: &mut State) {
    need_all_for(state, Need::Shell);
}

/// The cursor moved or looks different.
pub fn cursor_changed(state: &mut State) {
    frame::handing_over::move_cursors(state);
    let position = state.pointer_position();
    for output in &mut state.outputs.list {
        // Where it was it has to go from.
        if output.drawn.cursor.is_some() || geometry(&output.output).to_f64().contains(position) {
            output.need(Need::Cursor);
        }
    }
}

fn need_all_for(state: &mut State, need: Need) {
    for output in &mut state.outputs.list {
        output.need(need);
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

/// Whether the newest frame of any output shows something of `surface`.
pub fn is_drawn(state: &State, surface: &WlSurface) -> bool {
    let outputs = state.outputs.list.iter().filter(|output| output.on);
    outputs.into_iter().any(|output| output.is_shown_by(surface))
}

/// What lies under `point` in the scenes on screen: the surface and where its origin is. Input regions are those in
/// force now.
pub fn scene_on_screen_hit(state: &State, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
    let lock = state.shell.lock();
    let output = state.outputs.list.iter().find(|output| geometry(&output.output).to_f64().contains(point))?;
    if state.shell.overlays().take_input() && !lock.takes_input() {
        let lies_above = !state.shell.overlays().covers_all();
        return lies_above.then(|| state.shell.hit_above(point, &output.output)).flatten();
    }
    if output.lights == 0 {
        // Nothing was ever shown: what would be shown is the best answer.
        return state.shell.hit(point);
    }
    let scene = &output.on_screen;
    let live = scene.layers.iter().filter(|layer| layer.snapshot.is_none() && state.shell.lets(&layer.surface));
    let (handle, corner) = (&output.output, geometry(&output.output).loc.to_f64());
    let place = (point - corner).to_physical(handle.current_scale().fractional_scale());
    let there = |layer: &&Layer| {
        // Its edges were rounded.
        let mut reach = layer.target.to_f64();
        reach.loc -= Point::from((1.0, 1.0));
        reach.size += Size::from((2.0, 2.0));
        // What a view cuts away is not there at all.
        reach.contains(place) && layer.crop.is_none_or(|crop| crop.contains(point))
    };
    live.filter(there).filter(|layer| !hit::is_drag_icon(&layer.surface)).find_map(|layer| {
        // What slides out of sight is seen and is not meant.
        let hidden = state.shell.window_of(&layer.surface).is_some_and(|window| !state.shell.is_visible(window.id));
        if hidden { None } else { hit_layer(scene, layer, point) }
    })
}

/// The surface that is meant by `point` on a layer: its own, or one of the same window that it covers and lets through to,
/// as browsers have it. That one is not in the scene, since nothing of it is seen.
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

/// The output at `point`, or the one nearest to it, or the first one if there is no point; with the area that windows
/// may fill (global logical coordinates): what layer surfaces leave of it. `None` when there is no output at all.
pub fn usable_area(state: &State, point: Option<Point<f64, Logical>>) -> Option<(Output, Rectangle<i32, Logical>)> {
    let distance = |area: &Rectangle<i32, Logical>| {
        let Some(point) = point else { return 0.0 };
        let nearest = point.constrain(area.to_f64());
        (nearest.x - point.x).powi(2) + (nearest.y - point.y).powi(2)
    };
    let nearest = all(state).min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    nearest.map(|(output, _)| (output.clone(), state.shell.layers().usable(output)))
}
