//! Subsurfaces that follow the pointer: each latch places them at its current position (`upbeat_late_latch_v1`).
//!
//! ```text
//!   event ─► repaint ─► latch: where is the pointer now? ─► the follower's place in the tree ─► scene
//!                          └ its client sleeps
//!
//!   where possible: event ─► its row is about to be scanned out ─► the front buffer     [in_place/move_follower]
//! ```

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor;

use crate::guard;
use crate::output::in_place::move_follower::{self, FollowerMove, FollowerMoveResult};
use crate::output::repaint;
use crate::scene::Scene;
use crate::shell::ShellSeat;
use crate::state::State;
use crate::surface::follower::{self, FollowMode};
use crate::surface::{root, tree_extent};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Clock, Instant};

/// All followers, and the surface tree under the pointer.
#[derive(Debug, Default)]
pub struct PointerFollowers {
    followers: Vec<WlSurface>,
    /// Root of the surface under the pointer.
    window: Option<WlSurface>,
    /// Moves planned for when the beam reaches their rows.
    moves: Vec<FollowerMove>,
}

impl PointerFollowers {
    /// When the next planned move is due.
    pub(in crate::output) fn next_wake(&self) -> Option<Instant> {
        self.moves.iter().map(|planned| planned.at).min()
    }
}

/// `surface` follows the pointer from now on.
pub fn begin(state: &mut State, surface: &WlSurface) {
    let following = &mut state.outputs.followers;
    following.followers.retain(|known| known.is_alive() && known != surface);
    following.followers.push(surface.clone());
    repaint::surface_changed(state, surface);
}

/// `surface` no longer follows the pointer.
pub fn end(state: &mut State, surface: &WlSurface) {
    state.outputs.followers.followers.retain(|known| known != surface);
    if surface.is_alive() && guard::with_states(surface, |states| follower::set_place(states, None)) {
        state.shell.note_change();
        tree_extent::touch(state, surface);
        repaint::surface_changed(state, surface);
    }
}

/// The pointer moved or entered another surface.
pub fn moved(state: &mut State, focus: Option<&WlSurface>) {
    if state.outputs.followers.followers.is_empty() {
        return;
    }
    let window = focus.map(root);
    let before = std::mem::replace(&mut state.outputs.followers.window, window.clone());
    let concerned = |surface: &&WlSurface| {
        let own = Some(root(surface));
        own == window || own == before
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

/// Plans a move of `surface` ahead of the beam. Returns whether that is possible.
fn plan(state: &mut State, surface: &WlSurface) -> bool {
    let Some(way) = positions_of(state, surface) else { return false };
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
        let moved = match positions_of(state, &surface) {
            Some((before, then)) if before == then => continue,
            Some(way) => move_follower::run_move(state, planned, way),
            None => FollowerMoveResult::Not,
        };
        match moved {
            FollowerMoveResult::Done => tell(state, &surface, FollowMode::InPlace),
            FollowerMoveResult::Later(planned) => state.outputs.followers.moves.push(planned),
            FollowerMoveResult::Not => {
                tell(state, &surface, FollowMode::Composed);
                repaint::surface_changed(state, &surface);
            }
        }
    }
}

/// Present and intended position of a follower in its parent, if the pointer is still on the follower's window.
fn positions_of(state: &State, surface: &WlSurface) -> Option<(Point<f64, Logical>, Point<f64, Logical>)> {
    let before = guard::with_states(surface, follower::place)?;
    let id = state.surfaces.get(surface)?.output()?;
    Some((before, place_of(state, (id, None), surface)??))
}

fn tell(state: &mut State, surface: &WlSurface, means: FollowMode) {
    let follower = state.surfaces.get_mut(surface).and_then(|entry| entry.follower_mut());
    follower.into_iter().for_each(|follower| follower.set_mode(means));
}

/// Called at a latch of output `id`: places its followers at the pointer, relative to their windows in `scene` or in
/// the last scene. Returns whether any follower moved.
pub(in crate::output) fn latch(state: &mut State, id: OutputId, scene: Option<&Scene>) -> bool {
    let following = &mut state.outputs.followers;
    if following.followers.is_empty() {
        return false;
    }
    let mut moved = false;
    following.followers.retain(Resource::is_alive);
    for surface in following.followers.clone() {
        // A planned move takes the pointer's position later, when its row is due.
        if state.outputs.followers.moves.iter().any(|planned| planned.surface == surface) {
            continue;
        }
        let Some(place) = place_of(state, (id, scene), &surface) else { continue };
        if !guard::with_states(&surface, |states| follower::set_place(states, place)) {
            continue;
        }
        state.shell.note_change();
        tree_extent::touch(state, &surface);
        moved = true;
        let follower = state.surfaces.get(&surface).and_then(|entry| entry.follower());
        let means = follower.map(|follower| follower.means()).filter(|means| *means == FollowMode::InPlace);
        tell(state, &surface, if place.is_some() { means.unwrap_or(FollowMode::Composed) } else { FollowMode::None });
    }
    moved
}

/// The intended position of a follower, in its parent's coordinates; `Some(None)`: the subsurface's own position;
/// `None`: unknown on this output.
fn place_of(
    state: &State,
    (id, scene): (OutputId, Option<&Scene>),
    surface: &WlSurface,
) -> Option<Option<Point<f64, Logical>>> {
    let follower = state.surfaces.get(surface)?.follower()?;
    if state.outputs.followers.window.as_ref() != Some(&root(surface)) || !follower.is_led() {
        return Some(None);
    }
    let parent = compositor::get_parent(surface)?;
    let scene = scene.or_else(|| Some(&*state.outputs.by_id(id)?.drawn_scene))?;
    let layer = scene.layers.iter().find(|layer| layer.surface == parent && layer.snapshot.is_none())?;
    // Rounded to whole pixels, as its client would have drawn it.
    let pointer = layer.to_surface(state.pointer_position()).to_i32_round::<i32>();
    Some(Some((pointer - follower.anchor()).to_f64()))
}
