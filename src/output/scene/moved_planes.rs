//! Layers on overlay planes that the user moves: their places are taken again when the frame is submitted.
//!
//! The scene of a frame is chosen at its latch, and then the rest of it is drawn. Input that arrives meanwhile moves a
//! dragged window or a drag icon further. If the window is on a plane, its frame shows the newest place all the same:
//!
//! ```text
//!   latch: scene ─► planes ─► draw the rest ─► newest input ─► scene again: only planes moved? ─► submit
//!                                                                └ no: as latched
//! ```
//!
//! The scene that would be chosen now says whether that is allowed. If a shadow, a title or a translucent part belongs to
//! the window, or a window below it appears, the composed picture would have to change as well.

use std::sync::Arc;

use smithay::utils::{Physical, Rectangle};

use crate::backend::plane::PlaneContents;
use crate::output::OutputState;
use crate::output::scene::plane_choice::{AvailablePlanes, PlaneCandidate, PlaneScene};
use crate::output::scene::planes::{candidate, composed_areas, on_panel};
use crate::output::scene::scene_builder;
use crate::scene::{LayerShape, OnPlane, Scene};
use crate::shell::ShellSeat as _;
use crate::shell::drag::DragKind;
use crate::state::State;
use upbeat_timing::id::{FrameId, OutputId};

/// The shapes of layers on overlay planes, with their indices in the frame's scene and the places of all overlays.
#[derive(Debug)]
pub(in crate::output) struct MovedPlanes {
    shapes: Vec<(usize, Arc<LayerShape>)>,
    planes: PlaneContents,
}

impl MovedPlanes {
    /// Moves the layers of the frame's `scene`, and its `planes`.
    pub fn apply(self, scene: &mut Scene, planes: &mut PlaneContents) {
        for (index, shape) in self.shapes {
            scene.layers[index].shape = shape;
        }
        *planes = self.planes;
    }
}

/// Whether the user moves a window or a drag icon.
fn is_dragging(state: &State) -> bool {
    let moves_window = state.shell.drag().is_some_and(|drag| matches!(drag.kind, DragKind::Move { .. }));
    moves_window || state.surfaces.drag_icon().is_some()
}

/// The new places of the overlay planes of `frame`, whose scene was latched and is about to be submitted. `None`: they
/// stay where they are.
pub(in crate::output) fn find(state: &mut State, id: OutputId, frame: FrameId) -> Option<MovedPlanes> {
    if !is_dragging(state) {
        return None;
    }
    let content = &state.outputs.by_id(id)?.conductor.output().frames().get(frame)?.content;
    if content.planes.overlays.is_empty() {
        return None;
    }
    let (scene, planes, present) = (content.scene.clone(), content.planes.clone(), content.record.present);
    state.latch_drag();
    let now = scene_builder::choose(state, id, present);
    let output = state.outputs.by_id_mut(id)?;
    let moved = moved_planes(output, &scene, &now, planes);
    output.reclaim(Arc::new(now));
    moved
}

/// The difference between the latched scene and the scene `now`, if only overlays have moved and the display can show
/// them there.
fn moved_planes(
    output: &mut OutputState,
    latched: &Scene,
    now: &Scene,
    mut planes: PlaneContents,
) -> Option<MovedPlanes> {
    let shapes = moved_shapes(latched, now)?;
    let draws_cursor = output.display.capabilities().cursor_plane.is_none();
    if draws_cursor && latched.cursor != now.cursor {
        // The cursor is drawn at its latched place.
        return None;
    }
    let offer = AvailablePlanes::of(&output.display.capabilities());
    let parts = visible_parts(latched, now, offer, draws_cursor)?;
    let overlays = latched.layers.iter().zip(&now.layers).filter(|(layer, _)| layer.plane == Some(OnPlane::Overlay));
    for (content, (part, (before, layer))) in planes.overlays.iter_mut().zip(parts.into_iter().zip(overlays)) {
        let is_whole = content.target == on_panel(before.target, latched) && part == layer.target;
        let target = on_panel(part, now);
        if !is_whole && target != content.target {
            // The plane shows only a part of the layer, and would have to show another.
            return None;
        }
        content.target = target;
    }
    output.display.can_show(&planes).then_some(MovedPlanes { shapes, planes })
}

/// The layers on overlay planes that have moved; `None` if nothing moved, or if anything else would look different.
fn moved_shapes(latched: &Scene, now: &Scene) -> Option<Vec<(usize, Arc<LayerShape>)>> {
    let is_same_picture = latched.locked == now.locked
        && latched.size == now.size
        && latched.turn == now.turn
        && latched.background == now.background
        && latched.layers.len() == now.layers.len()
        && latched.effects.len() == now.effects.len()
        && latched.effects.iter().zip(&now.effects).all(|(a, b)| a.depth == b.depth && a.is_like(b));
    if !is_same_picture {
        return None;
    }
    let mut moved = Vec::new();
    for (index, (before, after)) in latched.layers.iter().zip(&now.layers).enumerate() {
        if before.shape.looks_like(&after.shape) {
            continue;
        }
        if before.plane != Some(OnPlane::Overlay) || !is_only_moved(&before.shape, &after.shape) {
            return None;
        }
        moved.push((index, after.shape.clone()));
    }
    (!moved.is_empty()).then_some(moved)
}

/// Whether both are the same layer at two places.
fn is_only_moved(before: &LayerShape, after: &LayerShape) -> bool {
    before.target.size == after.target.size && {
        let mut there = after.clone();
        there.target = before.target;
        before.looks_like(&there)
    }
}

/// The visible parts of the layers of the scene `latched` that are on overlay planes, at their places `now`; `None` if one
/// of them may not be on a plane there.
fn visible_parts(
    latched: &Scene,
    now: &Scene,
    offer: AvailablePlanes,
    draws_cursor: bool,
) -> Option<Vec<Rectangle<i32, Physical>>> {
    let layers = latched.layers.iter().zip(&now.layers);
    let layers: Vec<PlaneCandidate> =
        layers.map(|(before, after)| PlaneCandidate { plain: before.plane.is_some(), ..candidate(after) }).collect();
    let over = composed_areas(now, draws_cursor);
    let scene = PlaneScene { layers: &layers, over: &over, screen: now.size };
    let overlays = latched.layers.iter().enumerate().filter(|(_, layer)| layer.plane == Some(OnPlane::Overlay));
    let overlays: Vec<usize> = overlays.map(|(index, _)| index).collect();
    overlays.iter().map(|&index| scene.overlay_part(index, &overlays, offer).ok()).collect()
}
