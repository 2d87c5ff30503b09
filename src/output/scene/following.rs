//! Subsurfaces that follow the pointer: each latch places them at its current position (`upbeat_late_latch_v1`).
//!
//! ```text
//!   event ─► need ─► latch: where is the pointer now? ─► the follower's place in the tree ─► scene
//!                       └ its client sleeps
//!
//!   where possible: event ─► its row is about to be scanned out ─► the front buffer     [in_place/follow]
//! ```

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor;

use crate::guard;
use crate::output::in_place::follow::{self, Move, Moved};
use crate::output::needed;
use crate::scene::Scene;
use crate::shell::Hand;
use crate::state::State;
use crate::surface::follower::{self, Means};
use crate::surface::{reach, root};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Clock, Instant};

/// All followers, and the surface tree under the pointer.
#[derive(Debug, Default)]
pub struct Following {
    followers: Vec<WlSurface>,
    /// Root of the surface under the pointer.
    window: Option<WlSurface>,
    /// Moves planned for when the beam reaches their rows.
    moves: Vec<Move>,
}

impl Following {
    /// When the next planned move is due.
    pub(in crate::output) fn next_wake(&self) -> Option<Instant> {
        self.moves.iter().map(|planned| planned.at).min()
    }
}

/// `surface` follows the pointer from now on.
pub fn begin(state: &mut State, surface: &WlSurface) {
    let following = &mut state.outputs.following;
    following.followers.retain(|known| known.is_alive() && known != surface);
    following.followers.push(surface.clone());
    needed::need(state, surface);
}

/// `surface` no longer follows the pointer.
pub fn end(state: &mut State, surface: &WlSurface) {
    state.outputs.following.followers.retain(|known| known != surface);
    if surface.is_alive() && guard::with_states(surface, |states| follower::set_place(states, None)) {
        state.shell.note_change();
        reach::touch(state, surface);
        needed::need(state, surface);
    }
}

/// The pointer moved or entered another surface.
pub fn moved(state: &mut State, focus: Option<&WlSurface>) {
    if state.outputs.following.followers.is_empty() {
        return;
    }
    let window = focus.map(root);
    let before = std::mem::replace(&mut state.outputs.following.window, window.clone());
    let concerned = |surface: &&WlSurface| {
        let own = Some(root(surface));
        own == window || own == before
    };
    let followers = &state.outputs.following.followers;
    let concerned: Vec<WlSurface> =
        followers.iter().filter(|surface| surface.is_alive()).filter(concerned).cloned().collect();
    for surface in concerned {
        if before != window || !plan(state, &surface) {
            needed::need(state, &surface);
        }
    }
}

/// Plans a move of `surface` ahead of the beam. Returns whether that is possible.
fn plan(state: &mut State, surface: &WlSurface) -> bool {
    let Some(way) = way_of(state, surface) else { return false };
    let mut moves = std::mem::take(&mut state.outputs.following.moves);
    let planned = match moves.iter_mut().find(|planned| planned.surface == *surface) {
        Some(planned) => {
            follow::hasten(state, planned, way);
            true
        }
        None => {
            let planned = follow::plan(state, surface, way);
            moves.extend(planned);
            moves.iter().any(|planned| planned.surface == *surface)
        }
    };
    state.outputs.following.moves = moves;
    planned
}

/// Carries out the due moves.
pub(in crate::output) fn attend(state: &mut State) {
    if state.outputs.following.moves.is_empty() {
        return;
    }
    let now = state.clock.now();
    let (due, waiting) =
        std::mem::take(&mut state.outputs.following.moves).into_iter().partition(|m: &Move| m.at <= now);
    state.outputs.following.moves = waiting;
    for planned in due {
        let surface = planned.surface.clone();
        if !surface.is_alive() {
            continue;
        }
        let moved = match way_of(state, &surface) {
            Some((before, then)) if before == then => continue,
            Some(way) => follow::perform(state, planned, way),
            None => Moved::Not,
        };
        match moved {
            Moved::Done => tell(state, &surface, Means::InPlace),
            Moved::Later(planned) => state.outputs.following.moves.push(planned),
            Moved::Not => {
                tell(state, &surface, Means::Composed);
                needed::need(state, &surface);
            }
        }
    }
}

/// Present and intended position of a follower in its parent, if the pointer is still on the follower's window.
fn way_of(state: &State, surface: &WlSurface) -> Option<(Point<f64, Logical>, Point<f64, Logical>)> {
    let before = guard::with_states(surface, follower::place)?;
    let id = state.surfaces.get(surface)?.output()?;
    Some((before, place_of(state, (id, None), surface)??))
}

fn tell(state: &mut State, surface: &WlSurface, means: Means) {
    let follower = state.surfaces.get_mut(surface).and_then(|entry| entry.follower_mut());
    follower.into_iter().for_each(|follower| follower.tell(means));
}

/// Called at a latch of output `id`: places its followers at the pointer, relative to their windows in `scene` or in
/// the last scene. Returns whether any follower moved.
pub(in crate::output) fn latch(state: &mut State, id: OutputId, scene: Option<&Scene>) -> bool {
    let following = &mut state.outputs.following;
    if following.followers.is_empty() {
        return false;
    }
    let mut moved = false;
    following.followers.retain(Resource::is_alive);
    for surface in following.followers.clone() {
        // A planned move takes the pointer's position later, when its row is due.
        if state.outputs.following.moves.iter().any(|planned| planned.surface == surface) {
            continue;
        }
        let Some(place) = place_of(state, (id, scene), &surface) else { continue };
        if !guard::with_states(&surface, |states| follower::set_place(states, place)) {
            continue;
        }
        state.shell.note_change();
        reach::touch(state, &surface);
        moved = true;
        let follower = state.surfaces.get(&surface).and_then(|entry| entry.follower());
        let means = follower.map(|follower| follower.means()).filter(|means| *means == Means::InPlace);
        tell(state, &surface, if place.is_some() { means.unwrap_or(Means::Composed) } else { Means::None });
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
    if state.outputs.following.window.as_ref() != Some(&root(surface)) || !follower.is_led() {
        return Some(None);
    }
    let parent = compositor::get_parent(surface)?;
    let scene = scene.or_else(|| Some(&*state.outputs.by_id(id)?.drawn))?;
    let layer = scene.layers.iter().find(|layer| layer.surface == parent && layer.snapshot.is_none())?;
    // Rounded to whole pixels, as its client would have drawn it.
    let pointer = layer.to_surface(state.pointer_position()).to_i32_round::<i32>();
    Some(Some((pointer - follower.anchor()).to_f64()))
}
