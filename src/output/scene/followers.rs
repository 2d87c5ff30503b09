//! Subsurfaces that follow a pointer, a finger or a pen: each latch places them where the device is expected to be when
//! they are seen (`upbeat_late_latch_v1`).
//!
//! ```text
//!   report ─► repaint ─► latch: where will the device be at the light of its row? ─► the follower's place ─► scene
//!                          └ its client sleeps
//!
//!   where possible: report ─► its row is about to be scanned out ─► the front buffer     [in_place/move_follower]
//! ```
//!
//! A device that stops reports nothing. So a follower that is shown at an expected position is placed again at the next
//! refresh, until it is at the last report.

mod leading_devices;

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor;

use crate::guard;
use crate::output::in_place::move_follower::{self, FollowerMove, FollowerMoveResult};
use crate::output::{OutputState, geometry, repaint};
use crate::scene::{OnPlane, Scene};
use crate::state::State;
use crate::surface::follower::{self, FollowMode};
use crate::surface::input_prediction::TrackedDevice;
use crate::surface::{root, tree_extent};
use leading_devices::{DeviceReport, DevicesOnWindows};
use upbeat_timing::beam::PixelRect;
use upbeat_timing::id::OutputId;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::{Clock, Instant};

/// All followers, and the devices on windows.
#[derive(Debug, Default)]
pub struct DeviceFollowers {
    followers: Vec<WlSurface>,
    devices: DevicesOnWindows,
    /// Moves planned for when the beam reaches their rows.
    moves: Vec<FollowerMove>,
}

impl DeviceFollowers {
    /// When the next planned move is due.
    pub(in crate::output) fn next_wake(&self) -> Option<Instant> {
        self.moves.iter().map(|planned| planned.at).min()
    }
}

/// `surface` follows its devices from now on.
pub fn begin(state: &mut State, surface: &WlSurface) {
    let following = &mut state.outputs.followers;
    following.followers.retain(|known| known.is_alive() && known != surface);
    following.followers.push(surface.clone());
    repaint::surface_changed(state, surface);
}

/// `surface` no longer follows a device.
pub fn end(state: &mut State, surface: &WlSurface) {
    let following = &mut state.outputs.followers;
    following.followers.retain(|known| known != surface);
    following.moves.retain(|planned| planned.surface != *surface);
    if following.followers.is_empty() {
        following.devices = DevicesOnWindows::default();
    }
    if surface.is_alive() && guard::with_states(surface, |states| follower::set_place(states, None)) {
        state.shell.note_change();
        tree_extent::touch(state, surface);
        repaint::surface_changed(state, surface);
    }
}

/// Whether any surface follows a device.
pub fn any(state: &State) -> bool {
    !state.outputs.followers.followers.is_empty()
}

/// `device` reported `position` (global logical coordinates) at `time`, on `surface`.
pub fn device_moved(
    state: &mut State,
    device: TrackedDevice,
    time: Instant,
    position: Point<f64, Logical>,
    surface: &WlSurface,
) {
    if any(state) {
        let window = root(surface);
        let before = state.outputs.followers.devices.report(DeviceReport { device, time, position, window: &window });
        follow(state, before.as_ref(), Some(&window));
    }
}

/// The pointer stands at `position` (global logical coordinates), and `surface` is below it now. That is no report.
pub fn pointer_stands(state: &mut State, position: Point<f64, Logical>, surface: &WlSurface) {
    if any(state) {
        let (window, now) = (root(surface), state.clock.now());
        let report = DeviceReport { device: TrackedDevice::Pointer, time: now, position, window: &window };
        let before = state.outputs.followers.devices.stand(report);
        if before.as_ref() != Some(&window) {
            follow(state, before.as_ref(), Some(&window));
        }
    }
}

/// `device` left its window.
pub fn device_left(state: &mut State, device: TrackedDevice) {
    if let Some(before) = state.outputs.followers.devices.leave(device) {
        follow(state, Some(&before), None);
    }
}

/// All fingers were lifted or cancelled.
pub fn fingers_lifted(state: &mut State) {
    while let Some(finger) = state.outputs.followers.devices.any_finger() {
        device_left(state, finger);
    }
}

/// Has the followers on both windows placed again.
fn follow(state: &mut State, before: Option<&WlSurface>, window: Option<&WlSurface>) {
    let concerned = |surface: &&WlSurface| {
        let own = Some(root(surface));
        own.as_ref() == window || own.as_ref() == before
    };
    let followers = &state.outputs.followers.followers;
    let concerned: Vec<WlSurface> =
        followers.iter().filter(|surface| surface.is_alive()).filter(concerned).cloned().collect();
    for surface in concerned {
        if before != window || !plan(state, &surface) {
            repaint::surface_changed(state, &surface);
        }
    }
}

/// The way of a follower, in its parent's coordinates.
#[derive(Clone, Copy, Debug)]
struct FollowerStep {
    shown: Point<f64, Logical>,
    next: Point<f64, Logical>,
    /// The next position is expected, and not reported.
    is_predicted: bool,
}

/// Plans a move of `surface` ahead of the beam. Returns whether that is possible.
fn plan(state: &mut State, surface: &WlSurface) -> bool {
    let Some(step) = step_of(state, surface, None) else { return false };
    let way = (step.shown, step.next);
    let mut moves = std::mem::take(&mut state.outputs.followers.moves);
    let planned = match moves.iter_mut().find(|planned| planned.surface == *surface) {
        Some(planned) => {
            move_follower::advance_deadline(state, planned, way);
            true
        }
        None => {
            let planned = move_follower::plan(state, surface, way);
            moves.extend(planned);
            moves.iter().any(|planned| planned.surface == *surface)
        }
    };
    state.outputs.followers.moves = moves;
    planned
}

/// Carries out the due moves.
pub(in crate::output) fn run_due_moves(state: &mut State) {
    if state.outputs.followers.moves.is_empty() {
        return;
    }
    let now = state.clock.now();
    let (due, waiting) =
        std::mem::take(&mut state.outputs.followers.moves).into_iter().partition(|m: &FollowerMove| m.at <= now);
    state.outputs.followers.moves = waiting;
    for planned in due {
        let surface = planned.surface.clone();
        if !surface.is_alive() {
            continue;
        }
        let step = step_of(state, &surface, Some(&planned));
        let moved = match step {
            Some(step) if step.shown == step.next && step.is_predicted => {
                let interval =
                    state.outputs.by_id(planned.output).map(|output| output.conductor.output().vsync().interval());
                let Some(interval) = interval else { continue };
                let (index, at) = (planned.index.next(), planned.at + interval);
                FollowerMoveResult::Later(FollowerMove { index, at, ..planned })
            }
            Some(step) if step.shown == step.next => continue,
            Some(step) => move_follower::run_move(state, planned, (step.shown, step.next)),
            None => FollowerMoveResult::Not,
        };
        match moved {
            FollowerMoveResult::Done => {
                tell(state, &surface, FollowMode::InPlace);
                if step.is_some_and(|step| step.is_predicted) && !plan(state, &surface) {
                    repaint::surface_changed(state, &surface);
                }
            }
            FollowerMoveResult::Later(planned) => state.outputs.followers.moves.push(planned),
            FollowerMoveResult::Not => {
                tell(state, &surface, FollowMode::Composed);
                repaint::surface_changed(state, &surface);
            }
        }
    }
}

/// The next step of a follower that is placed, if a device is still on its window; for the refresh of the planned move,
/// or for the next.
fn step_of(state: &State, surface: &WlSurface, planned: Option<&FollowerMove>) -> Option<FollowerStep> {
    let shown = guard::with_states(surface, follower::place)?;
    let output = state.outputs.by_id(state.surfaces.get(surface)?.output()?)?;
    let machine = output.conductor.output();
    let index = planned.map_or_else(|| machine.next_index(state.clock.now()), |planned| planned.index);
    let present = machine.vsync().present(index);
    let place = place_of(state, FollowerView { output, present, scene: &output.drawn_scene }, surface)?;
    let FollowerPlace::Led { at, is_predicted } = place else { return None };
    Some(FollowerStep { shown, next: at, is_predicted })
}

fn tell(state: &mut State, surface: &WlSurface, means: FollowMode) {
    let follower = state.surfaces.get_mut(surface).and_then(|entry| entry.follower_mut());
    follower.into_iter().for_each(|follower| follower.set_mode(means));
}

/// Called at a latch of output `id` for the refresh that starts at `present`: places its followers at their devices,
/// relative to their windows in `scene` or in the last scene. Returns whether any follower moved.
pub(in crate::output) fn latch(state: &mut State, id: OutputId, present: Instant, scene: Option<&Scene>) -> bool {
    let following = &mut state.outputs.followers;
    if following.followers.is_empty() {
        return false;
    }
    let (mut moved, mut is_predicted) = (false, false);
    following.followers.retain(Resource::is_alive);
    for surface in following.followers.clone() {
        // A planned move takes the device's position later, when its row is due.
        if state.outputs.followers.moves.iter().any(|planned| planned.surface == surface) {
            continue;
        }
        // A surface has one place. The output that paces it decides.
        let paced_by = state.surfaces.get(&surface).and_then(|entry| entry.output());
        if paced_by.is_some_and(|paced_by| paced_by != id) {
            continue;
        }
        let Some(output) = state.outputs.by_id(id) else { return moved };
        let scene = scene.unwrap_or(&output.drawn_scene);
        let Some(place) = place_of(state, FollowerView { output, present, scene }, &surface) else { continue };
        is_predicted |= matches!(place, FollowerPlace::Led { is_predicted: true, .. });
        if !guard::with_states(&surface, |states| follower::set_place(states, place.led())) {
            continue;
        }
        state.shell.note_change();
        tree_extent::touch(state, &surface);
        moved = true;
        for other in state.outputs.list.iter_mut().filter(|other| other.id != id && other.is_shown_by(&surface)) {
            other.schedule_repaint(RepaintReason::Content);
        }
        let follower = state.surfaces.get(&surface).and_then(|entry| entry.follower());
        let means = follower.map(|follower| follower.means()).filter(|means| *means != FollowMode::None);
        let means = if place.led().is_some() { means.unwrap_or(FollowMode::Composed) } else { FollowMode::None };
        tell(state, &surface, means);
    }
    if is_predicted && let Some(output) = state.outputs.by_id_mut(id) {
        output.schedule_repaint(RepaintReason::Content);
    }
    moved
}

/// Tells the clients of followers on output `id` whether a plane shows them in the frame that was just made.
pub(in crate::output) fn report_planes(state: &mut State, id: OutputId) {
    if !any(state) {
        return;
    }
    for surface in state.outputs.followers.followers.clone() {
        let Some(output) = state.outputs.by_id(id) else { return };
        let is_it = |layer: &&crate::scene::Layer| layer.surface == surface && layer.snapshot.is_none();
        let Some(layer) = output.drawn_scene.layers.iter().find(is_it) else { continue };
        let is_on_plane = layer.plane == Some(OnPlane::Overlay);
        let follower = state.surfaces.get(&surface).and_then(|entry| entry.follower());
        match follower.map(|follower| follower.means()) {
            None | Some(FollowMode::None) => {}
            Some(_) if is_on_plane => tell(state, &surface, FollowMode::Overlay),
            Some(FollowMode::Overlay) => tell(state, &surface, FollowMode::Composed),
            Some(_) => {}
        }
    }
}

/// The place of a follower.
#[derive(Clone, Copy, Debug)]
enum FollowerPlace {
    /// The subsurface's own position.
    Own,
    /// At a device: in its parent's coordinates.
    Led { at: Point<f64, Logical>, is_predicted: bool },
}

impl FollowerPlace {
    const fn led(self) -> Option<Point<f64, Logical>> {
        match self {
            FollowerPlace::Own => None,
            FollowerPlace::Led { at, .. } => Some(at),
        }
    }
}

/// The picture in which a follower is placed.
struct FollowerView<'a> {
    output: &'a OutputState,
    /// The start of the refresh that shows it.
    present: Instant,
    scene: &'a Scene,
}

impl FollowerView<'_> {
    /// When the row at `position` (global logical coordinates) is lit.
    fn light_at(&self, position: Point<f64, Logical>) -> Instant {
        let Some(scan) = self.output.display.capabilities().scan else { return self.present };
        let output = &self.output.output;
        let scale = output.current_scale().fractional_scale();
        let place = (position - geometry(output).loc.to_f64()).to_physical(scale).to_i32_round::<i32>();
        scan.line_start(self.present, scan.first_line(&PixelRect { x: place.x, y: place.y, width: 1, height: 1 }))
    }
}

/// Where a follower is to be shown; `None`: unknown on this output.
fn place_of(state: &State, view: FollowerView<'_>, surface: &WlSurface) -> Option<FollowerPlace> {
    let follower = state.surfaces.get(surface)?.follower()?;
    let Some(leader) = state.outputs.followers.devices.leader(&root(surface), follower) else {
        return Some(FollowerPlace::Own);
    };
    let parent = compositor::get_parent(surface)?;
    let layer = view.scene.layers.iter().find(|layer| layer.surface == parent && layer.snapshot.is_none())?;
    let reported = leader.position();
    let light = view.light_at(reported);
    let predicted = leader.predict(light, state.clock.now(), follower.allowed_horizon());
    // Rounded to whole pixels, as its client would have drawn it.
    let place = layer.to_surface(predicted.unwrap_or(reported)).to_i32_round::<i32>();
    Some(FollowerPlace::Led { at: (place - follower.anchor()).to_f64(), is_predicted: predicted.is_some() })
}
