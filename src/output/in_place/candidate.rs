//! Checks whether new content of a surface can be copied into the front buffer without composing.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Physical, Point, Rectangle, Transform};

use super::input_area;
use crate::backend::PixelRect;
use crate::output::scene::scene_cache;
use crate::output::{OutputState, geometry};
use crate::render;
use crate::scene::{Layer, Scene};
use crate::state::State;
use crate::surface::front_buffer::FrontBufferReason;
use crate::surface::shm_pixels;
use upbeat_timing::id::OutputId;

/// The most pixels of one write: 200 × 200, for which [`FIRST_WRITE`](upbeat_timing::defaults::FIRST_WRITE) is enough.
pub(super) const MOST_PIXELS: i32 = 200 * 200;
/// How far beyond its edges an effect may depend on the pixels below, because a blur samples its surroundings.
const EFFECT_REACH: i32 = 128;

/// Content that can be written in place.
pub(super) struct InPlaceCandidate {
    /// Index of its layer in the drawn scene.
    pub place: usize,
    /// The layer with the new content, without its buffer.
    pub layer: Layer,
    /// The changed part of the screen.
    pub rect: PixelRect,
    pub pixels: Vec<u32>,
}

/// The change that new content of `surface` makes to the screen; `None` if it cannot be written in place.
pub(super) fn find(state: &State, id: OutputId, surface: &WlSurface) -> Option<InPlaceCandidate> {
    let output = state.outputs.by_id(id).filter(|output| output.writes_in_place())?;
    let client = state.surfaces.get(surface)?.client();
    if output.output.current_transform() != Transform::Normal || !output.may_write(client) {
        return None;
    }
    let scene = &output.drawn_scene;
    let place = scene.layers.iter().position(|layer| layer.surface == *surface && layer.snapshot.is_none())?;
    let before = scene.layers[place].commit();
    let mut layer = scene.layers[place].clone();
    if !scene_cache::refresh(&mut layer, surface) || !is_plain(&layer) {
        return None;
    }
    let buffer = layer.buffer.take()?;
    let damage = render::damage_since(&layer, Some(before)).into_iter().reduce(Rectangle::merge)?;
    let rect = Rectangle::new(damage.loc + layer.target.loc, damage.size);
    let rect = rect.intersection(Rectangle::from_size(scene.size)).filter(|rect| !rect.is_empty())?;
    let fits = input_area_on(state, output)?.contains(&pixel_rect(rect))
        && rect.size.w.checked_mul(rect.size.h).is_some_and(|pixels| pixels <= MOST_PIXELS)
        && is_opaque(&layer, rect)
        && is_unobscured(scene, place, rect, output.display.capabilities().cursor_plane.is_some());
    if !fits {
        return None;
    }
    let corner = render::source(&layer).loc.to_i32_round::<i32>();
    let inside = rect.loc - layer.target.loc;
    let from = PixelRect { x: corner.x + inside.x, y: corner.y + inside.y, ..pixel_rect(rect) };
    let pixels = shm_pixels::read(&buffer, from)?;
    Some(InPlaceCandidate { place, layer, rect: pixel_rect(rect), pixels })
}

/// The part of the screen that shows a part of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) struct BufferOnScreen {
    /// In pixels of the screen.
    pub rect: PixelRect,
    /// In pixels of the buffer.
    pub from: PixelRect,
}

/// Locates `part` of the buffer of `surface` in `scene`. The part must be wholly visible, unobscured and unscaled;
/// otherwise returns the reason.
pub(in crate::output) fn locate_buffer(
    output: &OutputState,
    surface: &WlSurface,
    part: PixelRect,
    scene: &Scene,
) -> Result<BufferOnScreen, FrontBufferReason> {
    if output.output.current_transform() != Transform::Normal {
        return Err(FrontBufferReason::Display);
    }
    let is_its = |layer: &Layer| layer.surface == *surface && layer.snapshot.is_none();
    let place = scene.layers.iter().position(is_its).ok_or(FrontBufferReason::Covered)?;
    let layer = &scene.layers[place];
    if !is_plain(layer) {
        return Err(FrontBufferReason::Changed);
    }
    let corner = render::source(layer).loc.to_i32_round::<i32>();
    let moved = layer.target.loc - Point::from((corner.x, corner.y));
    let rect = Rectangle::new(moved + Point::from((part.x, part.y)), (part.width, part.height).into());
    let is_seen = layer.target.contains_rect(rect) && Rectangle::from_size(scene.size).contains_rect(rect);
    let has_plane = output.display.capabilities().cursor_plane.is_some();
    if !is_seen || !is_opaque(layer, rect) || !is_unobscured(scene, place, rect, has_plane) {
        return Err(FrontBufferReason::Covered);
    }
    Ok(BufferOnScreen { rect: pixel_rect(rect), from: part })
}

/// Whether each pixel of the layer is a pixel of its buffer: not faded, clipped, transformed or scaled, and on no
/// plane.
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

/// Whether no layer, cursor or effect above the layer at index `place` covers `rect` or depends on its pixels.
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

/// Whether no effect between the layers at these two indices covers `rect`.
pub(super) fn has_no_effect_between(
    scene: &Scene,
    (above, below): (usize, usize),
    rect: Rectangle<i32, Physical>,
) -> bool {
    !scene.effects.iter().any(|effect| (above + 1..=below).contains(&effect.depth) && effect.target().overlaps(rect))
}

/// The area around the newest input, in pixels of the output.
fn input_area_on(state: &State, output: &OutputState) -> Option<PixelRect> {
    let position = state.outputs.input_position?;
    let scale = output.output.current_scale().fractional_scale();
    let input = (position - geometry(&output.output).loc.to_f64()).to_physical(scale).to_i32_round();
    Some(input_area::around(input, state.outputs.in_place_size, output.display.mode(), output.display.millimetres()))
}

pub(super) fn pixel_rect(rect: Rectangle<i32, Physical>) -> PixelRect {
    PixelRect { x: rect.loc.x, y: rect.loc.y, width: rect.size.w, height: rect.size.h }
}
