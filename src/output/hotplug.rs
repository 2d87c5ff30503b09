//! Hotplug and layout: adds, changes, arranges and removes outputs.

use std::sync::Arc;

use smithay::output::{Mode as WaylandMode, Output, PhysicalProperties, Scale, Subpixel};
use smithay::utils::{Logical, Physical, Point, Size, Transform};

use super::frame::FrameContent;
use super::globals::OutputGlobals;
use super::panel::turn_of;
use super::placing::LaidOutOutput;
use super::{OutputState, guessed_scale, placing};
use crate::backend::{Display, EdidIdentity, VideoMode};
use crate::config::FrontBufferOption;
use crate::output_transform::OutputTransform;
use crate::render::Canvas;
use crate::revision::Revision;
use crate::shell::MonitorIdentity;
use crate::state::State;
use upbeat_timing::conductor::Conductor;
use upbeat_timing::id::OutputId;
use upbeat_timing::output::OutputMachine;
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::record::{OutputStatistics, RepaintReason, Ring};
use upbeat_timing::time::{Clock, Instant};
use upbeat_timing::vsync::VsyncModel;

/// Millimetres of a pixel if the monitor does not report its size: 96 DPI.
const DEFAULT_PIXEL_MM: f64 = 25.4 / 96.0;

/// Configuration of an output.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Top left corner (global logical coordinates); to the right of all other outputs if not given.
    pub position: Option<(i32, i32)>,
    /// Physical pixels of a logical pixel; guessed from the display's size if not given.
    pub scale: Option<f64>,
    /// Rotation and reflection on the panel; none if not given.
    pub turn: Option<OutputTransform>,
    /// How the output's clients are paced.
    pub pacing: Option<PacingWish>,
    /// Whether the buffer on screen may be written.
    pub front_buffer: FrontBufferOption,
}

/// Adds an output for a display that was plugged in.
pub fn add(state: &mut State, display: Box<dyn Display>, placement: Placement) -> OutputId {
    let is_placed = placement.position.is_some();
    add_back(state, display, placement, is_placed)
}

/// As [`add`]. `is_placed`: whether its position is a configured one, or only the position where it was before.
pub(super) fn add_back(
    state: &mut State,
    mut display: Box<dyn Display>,
    placement: Placement,
    is_placed: bool,
) -> OutputId {
    let now = state.clock.now();
    let mode = display.mode();
    let EdidIdentity { make, model, .. } = identity(display.as_ref());
    let output = Output::new(
        display.name().to_owned(),
        PhysicalProperties {
            size: display.millimetres().map_or_else(
                || millimetres(mode),
                |(width, height)| (width.cast_signed(), height.cast_signed()).into(),
            ),
            subpixel: Subpixel::Unknown,
            make,
            model,
        },
    );
    if let Some(identity) = display.identity() {
        // Windows return to this monitor wherever it is plugged in again.
        output.user_data().insert_if_missing_threadsafe(|| MonitorIdentity(identity.to_string()));
    }
    let right_of_all = super::all(state).map(|(_, area)| area.loc.x + area.size.w).max().unwrap_or(0);
    let position = placement.position.unwrap_or((right_of_all, 0));
    let scale = Some(Scale::Fractional(scale_of(display.as_ref(), &placement)));
    let turn = placement.turn.unwrap_or_default();
    output.change_current_state(Some(wayland_mode(mode)), Some(turn.into()), scale, Some(position.into()));
    output.set_preferred(wayland_mode(mode));
    let global = output.create_global::<State>(&state.display_handle);

    let machine = machine(display.as_mut(), mode, now);
    state.outputs.last_id += 1;
    let id = OutputId(state.outputs.last_id);
    if let Some(log) = &state.outputs.frame_log {
        log.name_output(id, &output.name());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    state.outputs.list.push(OutputState {
        id,
        canvas: canvas(mode, turn),
        output,
        global: Some(global),
        on: true,
        powered_on_by: None,
        guesses_scale: placement.scale.is_none(),
        former_limit: display.slowest_rate(),
        display,
        conductor: Conductor::new(machine, cores),
        is_placed,
        wish: placement.pacing,
        front_buffer: FrontBufferOption::default(),
        clients: super::clients::paced_clients::PacedClients::default(),
        drawn_scene: Arc::default(),
        focused_clients: super::clients::pacing::FocusedClients::default(),
        scene_cache: super::scene::scene_cache::SceneCache::default(),
        spare_layers: Vec::new(),
        on_screen: Arc::default(),
        front_share: None,
        shared_at: Instant::ZERO,
        share_ended: None,
        captured_at: None,
        latch_count: 0,
        scrolls: false,
        keeps_content: false,
        reports: Vec::new(),
        latched_views: Vec::new(),
        are_views_foreseen: false,
        last_latch: Instant::ZERO,
        lights: 0,
        last_sequence: None,
        last_light: None,
        cursor_moved: false,
        cursor_moves: 0,
        actions: 0,
        grid: Revision::default(),
        presented: Instant::ZERO,
        in_place: super::in_place::InPlaceWrites::default(),
        records: Ring::new(),
        statistics: OutputStatistics::default(),
    });
    state.outputs.rules.mark_all_stale();
    let writes_in_place = state.outputs.writes_in_place;
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.apply_front_buffer_option(placement.front_buffer);
        output.update_scan(writes_in_place);
        output.schedule_repaint(RepaintReason::Output);
    }
    close_gaps(state);
    // Windows left without an output get this one.
    crate::shell::outputs_changed(state);
    id
}

/// The scale of a display with this placement: the configured scale, otherwise a guess.
pub fn scale_of(display: &dyn Display, placement: &Placement) -> f64 {
    placement.scale.unwrap_or_else(|| guess(display))
}

/// Make, model and serial that clients see: those of the monitor, or our own for a virtual display.
pub fn identity(display: &dyn Display) -> EdidIdentity {
    let ours = || EdidIdentity { make: "Upbeat".to_owned(), model: display.name().to_owned(), serial: None };
    display.identity().unwrap_or_else(ours)
}

fn guess(display: &dyn Display) -> f64 {
    let VideoMode { width, height, .. } = display.mode();
    guessed_scale::guess((width, height), display.millimetres())
}

/// Moves an output (global logical coordinates) or changes its scale.
pub fn arrange(state: &mut State, id: OutputId, position: Option<(i32, i32)>, scale: f64) {
    let change = OutputChange { position, scale: ScaleChange::Fixed(scale), ..OutputChange::none(id) };
    arrange_all(state, &[change]);
}

/// Sets the output's rotation and reflection.
pub fn set_transform(state: &mut State, id: OutputId, turn: OutputTransform) {
    arrange_all(state, &[OutputChange { turn: Some(turn), ..OutputChange::none(id) }]);
}

/// A change of an output's position, scale or transform.
#[derive(Clone, Copy, Debug)]
pub struct OutputChange {
    pub output: OutputId,
    /// Top left corner (global logical coordinates); `None`: unchanged.
    pub position: Option<(i32, i32)>,
    /// Physical pixels of a logical pixel.
    pub scale: ScaleChange,
    /// Rotation and reflection on the panel; `None`: unchanged.
    pub turn: Option<OutputTransform>,
}

impl OutputChange {
    /// A change that leaves the output as it is.
    pub const fn none(output: OutputId) -> Self {
        OutputChange { output, position: None, scale: ScaleChange::Unchanged, turn: None }
    }
}

/// The scale to give an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleChange {
    /// Leaves the scale unchanged.
    Unchanged,
    /// Guesses the scale from the physical size.
    Guessed,
    Fixed(f64),
}

impl ScaleChange {
    /// The given scale; `None`: a guess.
    pub fn or_guessed(scale: Option<f64>) -> Self {
        scale.map_or(ScaleChange::Guessed, ScaleChange::Fixed)
    }
}

/// Applies several changes at once, so that windows never see an intermediate layout.
pub fn arrange_all(state: &mut State, changes: &[OutputChange]) {
    for change in changes {
        apply_change(state, change);
        if change.position.is_some()
            && let Some(output) = state.outputs.by_id_mut(change.output)
        {
            output.is_placed = true;
        }
    }
    // Gaps and overlaps of configured positions are intended.
    close_gaps(state);
    crate::shell::outputs_changed(state);
}

fn apply_change(state: &mut State, change: &OutputChange) {
    let OutputChange { output, position, scale, turn } = change;
    let Some(output) = state.outputs.by_id_mut(*output) else { return };
    let is_guessed = *scale == ScaleChange::Guessed;
    let scale = match scale {
        ScaleChange::Unchanged => None,
        ScaleChange::Guessed => Some(guess(output.display.as_ref())),
        ScaleChange::Fixed(scale) => Some(*scale),
    };
    if scale.is_some() {
        output.guesses_scale = is_guessed;
    }
    let (scale, position) = (scale.map(Scale::Fractional), position.map(Into::into));
    if turn.is_some_and(|turn| turn != turn_of(&output.output)) {
        output.canvas = canvas(output.display.mode(), turn.unwrap_or_default());
    }
    output.drawn_scene = Arc::default();
    output.schedule_repaint(RepaintReason::Output);
    let known = output.output.clone();
    state.change_output(&known, None, turn.map(Transform::from), scale, position);
}

fn machine(display: &mut dyn Display, mode: VideoMode, now: Instant) -> OutputMachine<FrameContent> {
    let capabilities = display.capabilities();
    let mut vsync = VsyncModel::new(mode.interval(), now);
    vsync.set_variable(capabilities.variable_refresh);
    if let Some((vblank, _)) = display.last_vblank(now) {
        vsync.synchronise(vblank);
    }
    let mut machine = OutputMachine::new(vsync, capabilities.submit_lead, now);
    machine.set_lead(capabilities.submit_lead, capabilities.driver_margin);
    machine.set_depth(capabilities.unreported);
    machine.set_planes(capabilities.pending_flips, capabilities.cursor_plane.is_some());
    machine
}

impl super::OutputState {
    /// Updates the machine's frame limits and cursor path from the display's capabilities.
    pub(super) fn update_frame_limits(&mut self) {
        let capabilities = self.display.capabilities();
        self.conductor.output_mut().set_planes(capabilities.pending_flips, capabilities.cursor_plane.is_some());
    }
}

/// The display's mode or capabilities changed.
pub(super) fn changed(state: &mut State, index: usize) {
    let now = state.clock.now();
    let super::Outputs { list, writes_in_place, .. } = &mut state.outputs;
    let output = &mut list[index];
    output.update_scan(*writes_in_place);
    output.former_limit = output.display.slowest_rate().or(output.former_limit);
    let mode = output.display.mode();
    let capabilities = output.display.capabilities();
    let same_mode = output.output.current_mode() == Some(wayland_mode(mode));
    if same_mode && output.conductor.output().display_lead() != capabilities.submit_lead {
        // Only the submit lead changed: refreshes, buffers and windows stay as they are.
        output.update_frame_limits();
        return output.conductor.output_mut().set_lead(capabilities.submit_lead, capabilities.driver_margin);
    }
    // A new mode changes the pixels but not the physical size, so the scale is guessed again.
    let scale = output.guesses_scale.then(|| Scale::Fractional(guess(output.display.as_ref())));
    let known = output.output.clone();
    state.change_output(&known, Some(wayland_mode(mode)), None, scale, None);
    let super::Outputs { list, renderer, .. } = &mut state.outputs;
    let output = &mut list[index];
    output.output.set_preferred(wayland_mode(mode));
    output.canvas = canvas(mode, turn_of(&output.output));
    output.discard_undrawn(renderer.as_mut());
    output.grid.advance();
    output.drawn_scene = Arc::default();
    (output.last_sequence, output.last_light) = (None, None);
    let vblank = output.display.last_vblank(now);
    output.update_frame_limits();
    let machine = output.conductor.output_mut();
    machine.set_lead(capabilities.submit_lead, capabilities.driver_margin);
    machine.set_depth(capabilities.unreported);
    machine.restart(Some(mode.interval()), now);
    machine.vsync_mut().set_variable(capabilities.variable_refresh);
    if let Some((vblank, _)) = vblank {
        machine.vsync_mut().synchronise(vblank);
    }
    output.schedule_repaint(RepaintReason::Output);
    close_gaps(state);
    crate::shell::outputs_changed(state);
}

/// The display is gone. Windows keep their positions until the shell moves them.
pub fn remove(state: &mut State, id: OutputId) {
    drop(take_out(state, id));
}

/// Removes an output and returns its state.
pub(super) fn take_out(state: &mut State, id: OutputId) -> Option<OutputState> {
    let index = state.outputs.list.iter().position(|output| output.id == id)?;
    let mut output = state.outputs.list.remove(index);
    output.discard_undrawn(state.outputs.renderer.as_mut());
    output.forget_frames();
    crate::shell::surface_outputs::output_removed(state, &output.output);
    crate::surface::scanout_feedback::forget(&output.output);
    if let Some(global) = output.global.take() {
        state.retire_global(global);
    }
    state.shell.end_animations();
    super::power::stop_pacing(state, id);
    close_gaps(state);
    crate::shell::outputs_changed(state);
    Some(output)
}

/// Keeps each output without a configured position beside the outputs on its left, so that it overlaps none and the
/// pointer can cross ([`placing`]): it moves left when one of them goes or shrinks, and right when one grows or is placed there.
pub(super) fn close_gaps(state: &mut State) {
    for (id, by) in free_moves(state) {
        move_output(state, id, by);
    }
}

fn free_moves(state: &State) -> Vec<(OutputId, Point<i32, Logical>)> {
    let outputs = state.outputs.states().map(|output| LaidOutOutput {
        id: output.id,
        is_placed: output.is_placed,
        area: super::geometry(&output.output),
    });
    placing::free_moves(outputs.collect())
}

/// Moves an output; its windows follow when the shell handles the change. The output still counts as not placed, because
/// no user asked for this position.
fn move_output(state: &mut State, id: OutputId, by: Point<i32, Logical>) {
    let Some(position) = state.outputs.by_id(id).map(|output| output.output.current_location() + by) else { return };
    apply_change(state, &OutputChange { position: Some((position.x, position.y)), ..OutputChange::none(id) });
}

pub fn by_name(state: &State, name: &str) -> Option<OutputId> {
    state.outputs.states().find(|output| output.output.name() == name).map(|output| output.id)
}

fn wayland_mode(mode: VideoMode) -> WaylandMode {
    WaylandMode { size: (mode.width, mode.height).into(), refresh: i32::try_from(mode.refresh).unwrap_or(i32::MAX) }
}

fn size(mode: VideoMode) -> Size<i32, Physical> {
    Size::from((mode.width, mode.height))
}

fn canvas(mode: VideoMode, turn: OutputTransform) -> Canvas {
    Canvas::new(turn.inverse().size(size(mode)), turn)
}

fn millimetres(mode: VideoMode) -> Size<i32, smithay::utils::Raw> {
    let side = |pixels: i32| (f64::from(pixels) * DEFAULT_PIXEL_MM).round() as i32;
    (side(mode.width), side(mode.height)).into()
}
