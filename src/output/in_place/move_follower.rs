//! Moves a follower (a subsurface that follows the pointer) in the front buffer, just ahead of the beam: the screen
//! shows it where the pointer was shortly before its rows were scanned out.
//!
//! ```text
//!   event ─► when is the first row of its old or new position scanned out? ─► sleep until then
//!                                                                              │ the pointer's newest position
//!            pixels below it, and the follower above them ◄────────────────────┘ ─► FrontRectangle
//! ```
//!
//! This works above one opaque window, if both are unscaled and nothing lies above them. Everywhere else, and when it
//! appears or disappears, the follower is composed.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Physical, Point, Rectangle, Transform};

use super::candidate::{MOST_PIXELS, has_no_effect_between, is_opaque, is_plain, is_unobscured, pixel_rect};
use super::pending_light::PendingWrite;
use super::{TURNS_UP, WriteObstacle};
use crate::backend::{CursorPlane, FramePlan, PixelBuffer, PixelRect, PlanChange, overlay};
use crate::guard;
use crate::output::OutputState;
use crate::render;
use crate::scene::{Layer, LayerShape, Scene};
use crate::state::State;
use crate::surface::content::SurfaceContent;
use crate::surface::{Feedback, follower, shm_pixels, tree_extent};
use upbeat_timing::id::OutputId;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant};

/// A planned move of a follower.
#[derive(Debug)]
pub(in crate::output) struct FollowerMove {
    pub surface: WlSurface,
    pub output: OutputId,
    /// The refresh that is to show the move.
    pub index: RefreshIndex,
    pub at: Instant,
    /// The move before it came too late for its refresh. If this one is late, too, the follower is composed.
    pub is_second_try: bool,
}

/// Result of a move.
pub(in crate::output) enum FollowerMoveResult {
    /// The follower was drawn at its new position.
    Done,
    /// A frame in flight must be shown first, or the beam came first: it is drawn for a later refresh.
    Later(FollowerMove),
    /// The follower has to be composed.
    Not,
}

/// Plans the move of `surface` from `before` to `then` (coordinates of its parent); `None`: it has to be composed.
pub(in crate::output) fn plan(
    state: &State,
    surface: &WlSurface,
    (before, then): (Point<f64, Logical>, Point<f64, Logical>),
) -> Option<FollowerMove> {
    let now = state.clock.now();
    let entry = state.surfaces.get(surface).filter(|_| state.outputs.rules.in_place)?;
    let (id, client) = (entry.output()?, entry.client());
    let output = state.outputs.by_id(id).filter(|output| output.writes_in_place() && !output.forbids_writes(client))?;
    let layer = output.drawn_scene.layers.iter().find(|layer| layer.surface == *surface)?;
    if layer.plane.is_some() {
        // A plane moves it without drawing.
        return None;
    }
    let line = first_line(output, layer, step(before, then))?;
    let machine = output.conductor.output();
    let mut index = machine.next_row(line, now)?;
    // At most once a refresh.
    if output.in_place.moved.is_some_and(|last| index <= last) {
        index = output.in_place.moved?.next();
    }
    let at = machine.planned_write(index, line)?.max(now);
    Some(FollowerMove { surface: surface.clone(), output: id, index, at, is_second_try: false })
}

/// The pointer moved on to `then` before planned move `known`: its deadline may become earlier.
pub(in crate::output) fn advance_deadline(
    state: &State,
    known: &mut FollowerMove,
    (before, then): (Point<f64, Logical>, Point<f64, Logical>),
) {
    let Some(output) = state.outputs.by_id(known.output) else { return };
    let layer = output.drawn_scene.layers.iter().find(|layer| layer.surface == known.surface);
    let line = layer.and_then(|layer| first_line(output, layer, step(before, then)));
    if let Some(at) = line.and_then(|line| output.conductor.output().planned_write(known.index, line)) {
        known.at = known.at.min(at.max(state.clock.now()));
    }
}

/// Moves the follower from `before` to `then` (coordinates of its parent).
pub(in crate::output) fn run_move(
    state: &mut State,
    planned: FollowerMove,
    (before, then): (Point<f64, Logical>, Point<f64, Logical>),
) -> FollowerMoveResult {
    let now = state.clock.now();
    let (id, surface) = (planned.output, planned.surface.clone());
    let Some(output) = state.outputs.by_id_mut(id) else { return FollowerMoveResult::Not };
    output.sync_phase(now);
    output.conductor.output_mut().began_late(now - planned.at);
    match output.write_obstacle() {
        None => {}
        Some(WriteObstacle::Ahead) => return FollowerMoveResult::Not,
        Some(WriteObstacle::Replaced(refresh)) => return later(state, planned, (before, then), refresh),
    }
    let Some(DrawnFollower { place, layer, rect, pixels }) = draw_follower(state, id, &surface, step(before, then))
    else {
        return FollowerMoveResult::Not;
    };
    let Some(output) = state.outputs.by_id_mut(id) else { return FollowerMoveResult::Not };
    let Some(index) = output.conductor.output().seen_in_place(&rect, now) else {
        output.in_place.counts.late += 1;
        if planned.is_second_try {
            return FollowerMoveResult::Not;
        }
        let next = planned.index.next();
        return later(state, FollowerMove { is_second_try: true, ..planned }, (before, then), next);
    };
    let frame = output.conductor.output_mut().frames_mut().take_frame_number();
    let present = output.conductor.output().vsync().present(index);
    let change = PlanChange::FrontRectangle { rect, pixels };
    let plan = FramePlan { present, final_at: now, ..FramePlan::plain(frame, change) };
    if let Err((error, _)) = output.display.submit(plan) {
        tracing::debug!(%error, "a follower is composed: the display rejected the write into its front buffer");
        return FollowerMoveResult::Not;
    }
    output.in_place.moved = Some(index);
    output.replace_layer(place, layer);
    let written = state.clock.now();
    let State { outputs, surfaces, .. } = state;
    if let Some((output, entry)) = outputs.by_id_mut(id).zip(surfaces.get(&surface)) {
        output.conductor.output_mut().wrote(written - now);
        let (surface, feedback) = (entry.id(), Feedback::default());
        outputs.objects_ended |= match outputs.by_id_mut(id) {
            Some(output) => output.in_place.written(PendingWrite { frame, surface, index, feedback, record: None }),
            None => false,
        };
    }
    if guard::with_states(&surface, |states| follower::set_place(states, Some(then))) {
        state.shell.note_change();
        tree_extent::touch(state, &surface);
    }
    FollowerMoveResult::Done
}

/// The move `planned`, done for refresh `refresh` instead, if that can still be in time.
fn later(
    state: &State,
    planned: FollowerMove,
    (before, then): (Point<f64, Logical>, Point<f64, Logical>),
    refresh: RefreshIndex,
) -> FollowerMoveResult {
    let Some(output) = state.outputs.by_id(planned.output) else { return FollowerMoveResult::Not };
    let layer = output.drawn_scene.layers.iter().find(|layer| layer.surface == planned.surface);
    let line = layer.and_then(|layer| first_line(output, layer, step(before, then)));
    let at = line.and_then(|line| output.conductor.output().planned_write(refresh, line));
    let later = at.filter(|at| *at > state.clock.now()).map(|at| FollowerMove { index: refresh, at, ..planned });
    later.map_or(FollowerMoveResult::Not, FollowerMoveResult::Later)
}

fn step(before: Point<f64, Logical>, then: Point<f64, Logical>) -> Point<i32, Physical> {
    // Only unscaled outputs get here: a logical pixel is a physical pixel.
    let step = (then - before).to_i32_round::<i32>();
    Point::from((step.x, step.y))
}

/// The first line of the old and the new position, less a margin in case the pointer turns upwards.
fn first_line(output: &OutputState, layer: &Layer, step: Point<i32, Physical>) -> Option<i32> {
    let scan = output.conductor.output().scan()?;
    let both = layer.target.merge(Rectangle::new(layer.target.loc + step, layer.target.size));
    Some((scan.first_line(&pixel_rect(both)) - TURNS_UP).max(0))
}

/// A follower drawn at its new position.
struct DrawnFollower {
    /// Index of its layer in the drawn scene, and the layer to put there.
    place: usize,
    layer: Layer,
    rect: PixelRect,
    pixels: Vec<u32>,
}

/// The pixels around `surface` after a move by `step`; `None` if this would need more than copying.
fn draw_follower(
    state: &State,
    id: OutputId,
    surface: &WlSurface,
    step: Point<i32, Physical>,
) -> Option<DrawnFollower> {
    let output = state.outputs.by_id(id).filter(|output| output.writes_in_place())?;
    let handle = &output.output;
    if handle.current_transform() != Transform::Normal || handle.current_scale().fractional_scale() != 1.0 {
        return None;
    }
    let scene = &*output.drawn_scene;
    let place = scene.layers.iter().position(|layer| layer.surface == *surface && layer.snapshot.is_none())?;
    let layer = &scene.layers[place];
    let then = Rectangle::new(layer.target.loc + step, layer.target.size);
    let rect = layer.target.merge(then);
    let screen = Rectangle::from_size(scene.size);
    let has_plane = output.display.capabilities().cursor_plane.is_some();
    let is_simple = is_plain(layer)
        && layer.source == layer.whole
        && screen.contains_rect(rect)
        && rect.size.w.checked_mul(rect.size.h).is_some_and(|pixels| pixels <= MOST_PIXELS)
        && is_unobscured(scene, place, rect, has_plane)
        && !is_fresh(state, surface);
    if !is_simple {
        return None;
    }
    let mut picture = below(state, scene, place, rect)?;
    let mut own = content(layer, Rectangle::from_size(layer.target.size))?;
    if is_opaque(layer, layer.target) {
        // The alpha byte of opaque pixels is undefined.
        own.iter_mut().for_each(|pixel| *pixel |= 0xff00_0000);
    }
    let image = PixelBuffer { width: then.size.w, height: then.size.h, pixels: own };
    let above = CursorPlane { x: then.loc.x, y: then.loc.y, image: Arc::new(image) };
    overlay::put_cursor(&above, pixel_rect(rect), &mut picture);
    let origin = layer.origin + Point::from((f64::from(step.x), f64::from(step.y)));
    let shape = Arc::new(LayerShape { target: then, origin, ..(*layer.shape).clone() });
    Some(DrawnFollower { place, layer: Layer { shape, ..layer.clone() }, rect: pixel_rect(rect), pixels: picture })
}

/// The pixels in `rect` below the layer at index `place`; `None` unless they all come from one unscaled window.
fn below(state: &State, scene: &Scene, place: usize, rect: Rectangle<i32, Physical>) -> Option<Vec<u32>> {
    let first = place + 1;
    let next = first + scene.layers.get(first..)?.iter().position(|layer| layer.target.overlaps(rect))?;
    let layer = &scene.layers[next];
    let is_simple = is_plain(layer)
        && layer.target.contains_rect(rect)
        && is_opaque(layer, rect)
        && layer.snapshot.is_none()
        && has_no_effect_between(scene, (place, next), rect)
        && !is_fresh(state, &layer.surface);
    if !is_simple {
        return None;
    }
    content(layer, Rectangle::new(rect.loc - layer.target.loc, rect.size))
}

/// The pixels of `part` of an unscaled layer.
fn content(layer: &Layer, part: Rectangle<i32, Physical>) -> Option<Vec<u32>> {
    let content = guard::with_states(&layer.surface, |states| SurfaceContent::of(&layer.surface, states))?;
    let corner = render::source(layer).loc.to_i32_round::<i32>();
    let from = pixel_rect(part);
    shm_pixels::read(&content.buffer, PixelRect { x: corner.x + from.x, y: corner.y + from.y, ..from })
}

/// Whether the surface has content that the screen does not show yet.
fn is_fresh(state: &State, surface: &WlSurface) -> bool {
    state.surfaces.get(surface).is_none_or(|entry| entry.has_unlatched_content())
}
