//! Whether new content of a surface can be written into the picture on screen as it is.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Physical, Point, Rectangle, Transform};

use crate::backend::PixelRect;
use crate::output::scene::stage;
use crate::output::{OutputState, geometry};
use crate::render;
use crate::scene::{Layer, Scene};
use crate::state::State;
use crate::surface::front_buffer::Reason;
use crate::surface::pixels;
use upbeat_timing::id::OutputId;
use upbeat_timing::pacer::Pacer;
use upbeat_timing::pacing::Pacing;

/// The rectangle around the newest input in which all of a change must lie, in physical pixels (Presto 3.2.1).
const AROUND: i32 = 200;
/// So far beyond its edges an effect may depend on what lies below: a blur reads what is around it.
const EFFECT_REACH: i32 = 128;

/// Content that can be written.
pub(super) struct Candidate {
    /// The place of its layer in the scene that is drawn.
    pub place: usize,
    /// The layer with that content, without its buffer.
    pub layer: Layer,
    /// What has changed of the picture.
    pub rect: PixelRect,
    /// Its pixels.
    pub pixels: Vec<u32>,
}

/// What of the picture on screen new content of `surface` changes, if that is all there is to it.
pub(super) fn find(state: &State, id: OutputId, surface: &WlSurface) -> Option<Candidate> {
    let output = state.outputs.by_id(id).filter(|output| output.writes_in_place())?;
    if output.output.current_transform() != Transform::Normal || !is_paced_so(state, output, surface) {
        return None;
    }
    let scene = &output.drawn;
    let place = scene.layers.iter().position(|layer| layer.surface == *surface && layer.snapshot.is_none())?;
    let before = scene.layers[place].commit();
    let mut layer = scene.layers[place].clone();
    if !stage::refresh(&mut layer, surface) || !is_plain(&layer) {
        return None;
    }
    let buffer = layer.buffer.take()?;
    let damage = render::damage_since(&layer, Some(before)).into_iter().reduce(Rectangle::merge)?;
    let rect = Rectangle::new(damage.loc + layer.target.loc, damage.size);
    let rect = rect.intersection(Rectangle::from_size(scene.size)).filter(|rect| !rect.is_empty())?;
    let hand = hand_on(state, output)?;
    let fits = PixelRect::around(hand.x, hand.y, AROUND).contains(&pixel_rect(rect))
        && is_opaque(&layer, rect)
        && is_unobscured(scene, place, rect, output.display.capabilities().cursor_plane.is_some());
    if !fits {
        return None;
    }
    let corner = render::source(&layer).loc.to_i32_round::<i32>();
    let inside = rect.loc - layer.target.loc;
    let from = PixelRect { x: corner.x + inside.x, y: corner.y + inside.y, ..pixel_rect(rect) };
    let pixels = pixels::read(&buffer, from)?;
    Some(Candidate { place, layer, rect: pixel_rect(rect), pixels })
}

/// Where part of a buffer is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) struct Sight {
    /// Of the screen.
    pub rect: PixelRect,
    /// Of the buffer.
    pub from: PixelRect,
}

/// Where `part` of the buffer of `surface` is seen in `scene`, all of it, alone, and as its buffer has it; else why it is not.
pub(in crate::output) fn sight(
    output: &OutputState,
    surface: &WlSurface,
    part: PixelRect,
    scene: &Scene,
) -> Result<Sight, Reason> {
    if output.output.current_transform() != Transform::Normal {
        return Err(Reason::Display);
    }
    let is_its = |layer: &Layer| layer.surface == *surface && layer.snapshot.is_none();
    let place = scene.layers.iter().position(is_its).ok_or(Reason::Covered)?;
    let layer = &scene.layers[place];
    if !is_plain(layer) {
        return Err(Reason::Changed);
    }
    let corner = render::source(layer).loc.to_i32_round::<i32>();
    let moved = layer.target.loc - Point::from((corner.x, corner.y));
    let rect = Rectangle::new(moved + Point::from((part.x, part.y)), (part.width, part.height).into());
    let is_seen = layer.target.contains_rect(rect) && Rectangle::from_size(scene.size).contains_rect(rect);
    let has_plane = output.display.capabilities().cursor_plane.is_some();
    if !is_seen || !is_opaque(layer, rect) || !is_unobscured(scene, place, rect, has_plane) {
        return Err(Reason::Covered);
    }
    Ok(Sight { rect: pixel_rect(rect), from: part })
}

/// Whether its client is not asked to draw at the refresh, as for comparison.
fn is_paced_so(state: &State, output: &OutputState, surface: &WlSurface) -> bool {
    let client = state.surfaces.get(surface).map(|entry| entry.client());
    let pacing = client.and_then(|client| output.clients.get(&client));
    let pacer = pacing.and_then(|pacing| output.conductor.pacer(pacing.pacer));
    let fixed = pacer.map(Pacer::wished).and_then(|wish| wish.fixed());
    !matches!(fixed, Some(Pacing::Vsync | Pacing::VsyncLate))
}

/// Whether each of its pixels is one of its buffer's: not faded, cut, turned or scaled, and on no plane.
pub(super) fn is_plain(layer: &Layer) -> bool {
    let source = render::source(layer);
    let whole = |value: f64| value == value.round();
    layer.opacity >= 1.0
        && layer.clip.is_none()
        && layer.plane.is_none()
        && layer.buffer_transform == Transform::Normal
        && whole(source.loc.x)
        && whole(source.loc.y)
        && (source.size.w, source.size.h) == (f64::from(layer.target.size.w), f64::from(layer.target.size.h))
}

pub(super) fn is_opaque(layer: &Layer, rect: Rectangle<i32, Physical>) -> bool {
    let opaque = layer.opaque.iter().map(|opaque| Rectangle::new(opaque.loc + layer.target.loc, opaque.size));
    rect.subtract_rects(opaque).is_empty()
}

/// Whether nothing is drawn above `rect` of the layer in this place, or follows from it.
pub(super) fn is_unobscured(
    scene: &Scene,
    place: usize,
    rect: Rectangle<i32, Physical>,
    cursor_has_plane: bool,
) -> bool {
    let covers = |layer: &Layer| layer.target.overlaps(rect);
    let reach = Rectangle::new(
        rect.loc - Point::from((EFFECT_REACH, EFFECT_REACH)),
        (rect.size.w + 2 * EFFECT_REACH, rect.size.h + 2 * EFFECT_REACH).into(),
    );
    let mut above = scene.layers[..place].iter().chain(scene.layers.iter().filter(|layer| layer.plane.is_some()));
    let under_cursor = scene.cursor.as_ref().is_some_and(|cursor| {
        let size = (cursor.image.width, cursor.image.height);
        Rectangle::new(cursor.position, size.into()).overlaps(rect)
    });
    !above.any(covers)
        && !scene.effects.iter().any(|effect| effect.depth <= place && effect.target().overlaps(reach))
        && (cursor_has_plane || !under_cursor)
}

/// Whether no effect lies between the layers in these two places, or follows from what they show in `rect`.
pub(super) fn hides_nothing_between(
    scene: &Scene,
    (above, below): (usize, usize),
    rect: Rectangle<i32, Physical>,
) -> bool {
    !scene.effects.iter().any(|effect| (above + 1..=below).contains(&effect.depth) && effect.target().overlaps(rect))
}

/// Where the newest input was on an output, in its pixels.
fn hand_on(state: &State, output: &OutputState) -> Option<Point<i32, Physical>> {
    let position = state.outputs.hand?;
    let scale = output.output.current_scale().fractional_scale();
    Some((position - geometry(&output.output).loc.to_f64()).to_physical(scale).to_i32_round())
}

pub(super) fn pixel_rect(rect: Rectangle<i32, Physical>) -> PixelRect {
    PixelRect { x: rect.loc.x, y: rect.loc.y, width: rect.size.w, height: rect.size.h }
}
