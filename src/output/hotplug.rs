//! Outputs come, change and go.

use std::collections::HashMap;
use std::sync::Arc;

use smithay::output::{Mode as WaylandMode, Output, PhysicalProperties, Scale, Subpixel};
use smithay::utils::{Physical, Size, Transform};

use super::OutputState;
use super::frame::Content;
use crate::backend::{Display, Mode};
use crate::render::Canvas;
use crate::state::State;
use crate::time::{Clock, Instant};
use crate::timing::conductor::Conductor;
use crate::timing::id::OutputId;
use crate::timing::output::OutputMachine;
use crate::timing::pacing::PacingWish;
use crate::timing::record::{Need, OutputStatistics, Ring};
use crate::timing::vsync::VsyncModel;

/// Millimetres of a pixel on a monitor that does not say: 96 dots an inch.
const DEFAULT_PIXEL_MM: f64 = 25.4 / 96.0;

/// What the configuration says of an output.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Top left corner (global logical coordinates); right of all others if not given.
    pub position: Option<(i32, i32)>,
    /// Physical pixels a logical one; 1 if not given.
    pub scale: Option<f64>,
    /// How its clients are paced.
    pub pacing: Option<PacingWish>,
}

/// A display was plugged in.
pub fn add(state: &mut State, mut display: Box<dyn Display>, placement: Placement) -> OutputId {
    let now = state.clock.now();
    let mode = display.mode();
    let output = Output::new(
        display.name().to_owned(),
        PhysicalProperties {
            size: display.millimetres().map_or_else(
                || millimetres(mode),
                |(width, height)| (width.cast_signed(), height.cast_signed()).into(),
            ),
            subpixel: Subpixel::Unknown,
            make: "Upbeat".to_owned(),
            model: display.name().to_owned(),
        },
    );
    let right_of_all = super::all(state).map(|(_, area)| area.loc.x + area.size.w).max().unwrap_or(0);
    let position = placement.position.unwrap_or((right_of_all, 0));
    let scale = placement.scale.map(Scale::Fractional);
    output.change_current_state(Some(wayland_mode(mode)), Some(Transform::Normal), scale, Some(position.into()));
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
        canvas: Canvas::new(size(mode)),
        output,
        global: Some(global),
        display,
        on: true,
        conductor: Conductor::new(machine, cores),
        wish: placement.pacing,
        clients: HashMap::new(),
        drawn: Arc::default(),
        attended: super::pacing::Attended::default(),
        stage: super::stage::Stage::default(),
        spare: Vec::new(),
        on_screen: Arc::default(),
        scenes: 0,
        scrolls: false,
        keeps: false,
        reports: Vec::new(),
        looked: Instant::ZERO,
        lights: 0,
        last_sequence: None,
        last_light: None,
        cursor_moved: false,
        cursor_moves: 0,
        actions: 0,
        generation: 0,
        presented: Instant::ZERO,
        records: Ring::new(),
        statistics: OutputStatistics::default(),
    });
    state.outputs.rules.changed();
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.need(Need::Output);
    }
    // Windows that were left without an output have one again.
    crate::shell::outputs_changed(state);
    id
}

/// Puts an output elsewhere (global logical coordinates), or shows it at another scale.
pub fn arrange(state: &mut State, id: OutputId, position: Option<(i32, i32)>, scale: f64) {
    arrange_all(state, &[Arranged { output: id, position, scale }]);
}

/// Where an output is to be, and how it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Arranged {
    /// Which.
    pub output: OutputId,
    /// Top left corner (global logical coordinates); `None`: where it is.
    pub position: Option<(i32, i32)>,
    /// Physical pixels of a logical one.
    pub scale: f64,
}

/// The same with several at once: windows see nothing of what is in between.
pub fn arrange_all(state: &mut State, changes: &[Arranged]) {
    for Arranged { output, position, scale } in changes {
        let Some(output) = state.outputs.by_id_mut(*output) else { continue };
        let position = position.map(Into::into);
        state.protocols.xdg_output.change(&output.output, None, Some(Scale::Fractional(*scale)), position);
        output.drawn = Arc::default();
        output.need(Need::Output);
    }
    crate::shell::outputs_changed(state);
}

fn machine(display: &mut dyn Display, mode: Mode, now: Instant) -> OutputMachine<Content> {
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
    /// How many frames the display may have, and how it shows the cursor.
    pub(super) fn note_room(&mut self) {
        let capabilities = self.display.capabilities();
        self.conductor.output_mut().set_planes(capabilities.pending_flips, capabilities.cursor_plane.is_some());
    }
}

/// The display's mode or capabilities changed.
pub(super) fn changed(state: &mut State, index: usize) {
    let now = state.clock.now();
    let super::Outputs { list, renderer, .. } = &mut state.outputs;
    let output = &mut list[index];
    let mode = output.display.mode();
    let capabilities = output.display.capabilities();
    let same_mode = output.output.current_mode() == Some(wayland_mode(mode));
    if same_mode && output.conductor.output().display_lead() != capabilities.submit_lead {
        // It only learned how early it wants its frames: refreshes, buffers and windows are what they were.
        output.note_room();
        return output.conductor.output_mut().set_lead(capabilities.submit_lead, capabilities.driver_margin);
    }
    state.protocols.xdg_output.change(&output.output, Some(wayland_mode(mode)), None, None);
    output.output.set_preferred(wayland_mode(mode));
    output.canvas = Canvas::new(size(mode));
    output.drop_undrawn(renderer.as_mut());
    output.generation += 1;
    output.drawn = Arc::default();
    (output.last_sequence, output.last_light) = (None, None);
    let vblank = output.display.last_vblank(now);
    output.note_room();
    let machine = output.conductor.output_mut();
    machine.set_lead(capabilities.submit_lead, capabilities.driver_margin);
    machine.set_depth(capabilities.unreported);
    machine.restart(Some(mode.interval()), now);
    machine.vsync_mut().set_variable(capabilities.variable_refresh);
    if let Some((vblank, _)) = vblank {
        machine.vsync_mut().synchronise(vblank);
    }
    output.need(Need::Output);
    crate::shell::outputs_changed(state);
}

/// The display is gone. Its windows stay where they are until the shell has moved them.
pub fn remove(state: &mut State, id: OutputId) {
    drop(take(state, id));
}

/// The output is gone, and what is left of it is the caller's.
pub(super) fn take(state: &mut State, id: OutputId) -> Option<OutputState> {
    let index = state.outputs.list.iter().position(|output| output.id == id)?;
    let mut output = state.outputs.list.remove(index);
    output.drop_undrawn(state.outputs.renderer.as_mut());
    output.forget_frames();
    crate::shell::visit::leave(state, &output.output);
    crate::surface::scanout::forget(&output.output);
    if let Some(global) = output.global.take() {
        state.protocols.output.retire(&state.display_handle, global);
    }
    state.shell.end_animations();
    super::power::forsake(state, id);
    crate::shell::outputs_changed(state);
    Some(output)
}

/// The output under a name.
pub fn by_name(state: &State, name: &str) -> Option<OutputId> {
    state.outputs.states().find(|output| output.output.name() == name).map(|output| output.id)
}

fn wayland_mode(mode: Mode) -> WaylandMode {
    WaylandMode { size: (mode.width, mode.height).into(), refresh: i32::try_from(mode.refresh).unwrap_or(i32::MAX) }
}

fn size(mode: Mode) -> Size<i32, Physical> {
    Size::from((mode.width, mode.height))
}

fn millimetres(mode: Mode) -> Size<i32, smithay::utils::Raw> {
    let side = |pixels: i32| (f64::from(pixels) * DEFAULT_PIXEL_MM).round() as i32;
    (side(mode.width), side(mode.height)).into()
}
