//! Render elements: a scene's layers, effects and cursor for Smithay's renderers, in panel coordinates.

use smithay::backend::renderer::element::{Element, Id, RenderElement};
use smithay::backend::renderer::gles::{GlesError, GlesFrame, GlesRenderer, GlesTexture};
use smithay::backend::renderer::pixman::{PixmanError, PixmanFrame, PixmanRenderer, PixmanTexture};
use smithay::backend::renderer::utils::{CommitCounter, DamageSet, OpaqueRegions};
use smithay::backend::renderer::{Color32F, Frame, Renderer, Texture};
use smithay::utils::{Buffer as BufferCoords, Physical, Point, Rectangle, Scale, Size, Transform};

use super::panel_transform::PanelTransform;
use super::{panel, rounded};
use crate::output_transform::OutputTransform;
use crate::scene::{CursorLayer, Effect, EffectKind, Layer, RoundedRect};

/// The imported content of a layer.
#[derive(Clone, Debug)]
pub enum LayerFill<T> {
    /// The client's buffer as a texture.
    Texture(T),
    /// The visible part, already scaled to its size on the output.
    Picture {
        texture: T,
        /// Its rectangle, relative to the layer, before the panel's transform.
        area: Rectangle<i32, Physical>,
    },
    /// The client's buffer, with separate textures for some corners and edges.
    Cornered {
        texture: T,
        /// Corners and edges with their rectangles, relative to the layer, before the panel's transform.
        corners: Vec<(T, Rectangle<i32, Physical>)>,
    },
    /// The colour of a single-pixel buffer.
    Colour(Color32F),
}

/// A layer with its imported content.
#[derive(Clone, Debug)]
pub struct LayerElement<'a, T> {
    pub layer: &'a Layer,
    pub fill: LayerFill<T>,
    /// The scene's transform onto the panel.
    pub(super) panel_transform: PanelTransform,
}

/// An effect with its textures.
#[derive(Clone, Debug)]
pub struct EffectElement<'a, T> {
    pub effect: &'a Effect,
    /// Textures with their rectangles, relative to the effect, before the panel's transform.
    pub parts: Vec<(T, Rectangle<i32, Physical>)>,
    /// Differs when the effect's look differs.
    pub commit: CommitCounter,
    /// The scene's transform onto the panel.
    pub(super) panel_transform: PanelTransform,
}

/// The cursor, on a display without a cursor plane.
#[derive(Clone, Debug)]
pub struct CursorElement<'a, T> {
    pub cursor: &'a CursorLayer,
    pub texture: T,
    /// Id for damage tracking.
    pub id: Id,
    /// Differs for each image.
    pub commit: CommitCounter,
    /// The scene's transform onto the panel.
    pub(super) panel_transform: PanelTransform,
}

/// An element of a scene.
#[derive(Clone, Debug)]
pub enum SceneElement<'a, T> {
    Layer(LayerElement<'a, T>),
    Effect(EffectElement<'a, T>),
    Cursor(CursorElement<'a, T>),
}

impl<T> Element for SceneElement<'_, T> {
    fn id(&self) -> &Id {
        match self {
            SceneElement::Layer(element) => &element.layer.id,
            SceneElement::Effect(element) => &element.effect.id,
            SceneElement::Cursor(element) => &element.id,
        }
    }

    fn current_commit(&self) -> CommitCounter {
        match self {
            SceneElement::Layer(element) => element.layer.commit(),
            SceneElement::Effect(element) => element.commit,
            SceneElement::Cursor(element) => element.commit,
        }
    }

    fn geometry(&self, _scale: Scale<f64>) -> Rectangle<i32, Physical> {
        self.panel_transform().rect(self.place())
    }

    fn src(&self) -> Rectangle<f64, BufferCoords> {
        match self {
            SceneElement::Layer(element) => source(element.layer),
            SceneElement::Effect(element) => {
                let size = element.effect.target().size;
                Rectangle::from_size(Size::from((f64::from(size.w), f64::from(size.h))))
            }
            SceneElement::Cursor(element) => {
                let image = &element.cursor.image;
                Rectangle::from_size(Size::from((f64::from(image.width), f64::from(image.height))))
            }
        }
    }

    fn transform(&self) -> Transform {
        let own = match self {
            SceneElement::Layer(element) => element.layer.buffer_transform.into(),
            SceneElement::Effect(_) | SceneElement::Cursor(_) => OutputTransform::NORMAL,
        };
        self.panel_transform().texture(own)
    }

    fn damage_since(&self, scale: Scale<f64>, commit: Option<CommitCounter>) -> DamageSet<i32, Physical> {
        match self {
            SceneElement::Layer(LayerElement { layer, panel_transform, .. }) => {
                let damage = damage_since(layer, commit);
                damage.iter().map(|rect| panel_transform.part(*rect, layer.target.size)).collect()
            }
            SceneElement::Cursor(CursorElement { commit: now, .. })
            | SceneElement::Effect(EffectElement { commit: now, .. })
                if commit == Some(*now) =>
            {
                DamageSet::default()
            }
            SceneElement::Cursor(_) | SceneElement::Effect(_) => {
                DamageSet::from_slice(&[Rectangle::from_size(self.geometry(scale).size)])
            }
        }
    }

    fn alpha(&self) -> f32 {
        match self {
            SceneElement::Layer(element) => element.layer.opacity,
            SceneElement::Effect(element) => element.effect.opacity,
            SceneElement::Cursor(_) => 1.0,
        }
    }

    fn opaque_regions(&self, _scale: Scale<f64>) -> OpaqueRegions<i32, Physical> {
        match self {
            SceneElement::Layer(LayerElement { layer, panel_transform, .. }) => {
                layer.opaque.iter().map(|rect| panel_transform.part(*rect, layer.target.size)).collect()
            }
            SceneElement::Effect(_) | SceneElement::Cursor(_) => OpaqueRegions::default(),
        }
    }
}

/// The visible part of a layer's buffer, in buffer pixels.
pub fn source(layer: &Layer) -> Rectangle<f64, BufferCoords> {
    let scale = f64::from(layer.buffer_scale);
    let surface = layer.buffer_size.to_f64().to_logical(scale, layer.buffer_transform);
    let rect = OutputTransform::from(layer.buffer_transform).rect(layer.source, surface);
    let (x, y, width, height) = (rect.loc.x * scale, rect.loc.y * scale, rect.size.w * scale, rect.size.h * scale);
    Rectangle::new(Point::from((x, y)), Size::from((width, height)))
}

/// Damage of a layer since `commit`, relative to the layer.
pub(crate) fn damage_since(layer: &Layer, commit: Option<CommitCounter>) -> DamageSet<i32, Physical> {
    let whole = || DamageSet::from_slice(&[Rectangle::from_size(layer.target.size)]);
    let Some(damage) = layer.damage.damage_since(commit) else { return whole() };
    damage.iter().filter_map(|rect| to_target(layer, *rect)).collect()
}

/// Converts a rectangle of the buffer to output pixels relative to the layer, rounded outwards.
fn to_target(layer: &Layer, rect: Rectangle<i32, BufferCoords>) -> Option<Rectangle<i32, Physical>> {
    let scale = f64::from(layer.buffer_scale);
    let upright = OutputTransform::from(layer.buffer_transform).inverse().rect(rect, layer.buffer_size);
    let logical = upright.to_f64().to_logical(scale, Transform::Normal, &Size::default());
    let shown = logical.intersection(layer.source)?;
    let zoom_x = f64::from(layer.target.size.w) / layer.source.size.w;
    let zoom_y = f64::from(layer.target.size.h) / layer.source.size.h;
    let left = (shown.loc.x - layer.source.loc.x) * zoom_x;
    let top = (shown.loc.y - layer.source.loc.y) * zoom_y;
    // Filtering spreads a pixel of a scaled buffer to its neighbours.
    let spill = if zoom_x == scale && zoom_y == scale { 0.0 } else { 1.0 };
    let (right, bottom) = (left + shown.size.w * zoom_x + spill, top + shown.size.h * zoom_y + spill);
    let (x, y) = ((left - spill).floor() as i32, (top - spill).floor() as i32);
    let size = Size::from((right.ceil() as i32 - x, bottom.ceil() as i32 - y));
    Rectangle::new((x, y).into(), size).intersection(Rectangle::from_size(layer.target.size))
}

impl RenderElement<PixmanRenderer> for SceneElement<'_, PixmanTexture> {
    fn draw(
        &self,
        frame: &mut PixmanFrame<'_, '_>,
        src: Rectangle<f64, BufferCoords>,
        dst: Rectangle<i32, Physical>,
        damage: &[Rectangle<i32, Physical>],
        opaque: &[Rectangle<i32, Physical>],
    ) -> Result<(), PixmanError> {
        let drawn = draw::<PixmanRenderer>(self, frame, src, dst, damage, opaque);
        match (drawn, self) {
            // For example a layer enlarged beyond pixman's range: only this layer is lost, not the frame.
            (Err(error), SceneElement::Layer(_)) => {
                tracing::debug!(%error, "a surface cannot be drawn");
                frame.draw_solid(dst, damage, Color32F::BLACK)
            }
            (drawn, _) => drawn,
        }
    }
}

impl RenderElement<GlesRenderer> for SceneElement<'_, GlesTexture> {
    fn draw(
        &self,
        frame: &mut GlesFrame<'_, '_>,
        src: Rectangle<f64, BufferCoords>,
        dst: Rectangle<i32, Physical>,
        damage: &[Rectangle<i32, Physical>],
        opaque: &[Rectangle<i32, Physical>],
    ) -> Result<(), GlesError> {
        let program = frame.egl_context().user_data().get::<rounded::RoundedShader>().map(|program| program.0.clone());
        let (Some(clip), Some(program)) = (self.clip(), program) else {
            return draw::<GlesRenderer>(self, frame, src, dst, damage, opaque);
        };
        let (clip, radius) = clip_within(clip, Element::geometry(self, Scale::from(1.0)), dst);
        let uniforms = rounded::uniforms(clip, radius);
        let (alpha, program) = (self.alpha(), Some(&program));
        match self {
            SceneElement::Layer(LayerElement { fill: LayerFill::Texture(texture), .. }) => {
                let transform = Element::transform(self);
                frame.render_texture_from_to(texture, src, dst, damage, opaque, transform, alpha, program, &uniforms)
            }
            SceneElement::Effect(EffectElement { parts, .. }) => parts.iter().try_for_each(|(texture, _)| {
                let whole = Rectangle::from_size(texture.size()).to_f64();
                frame.render_texture_from_to(
                    texture,
                    whole,
                    dst,
                    damage,
                    &[],
                    Transform::Normal,
                    alpha,
                    program,
                    &uniforms,
                )
            }),
            _ => draw::<GlesRenderer>(self, frame, src, dst, damage, opaque),
        }
    }
}

impl<T> SceneElement<'_, T> {
    const fn panel_transform(&self) -> PanelTransform {
        match self {
            SceneElement::Layer(element) => element.panel_transform,
            SceneElement::Effect(element) => element.panel_transform,
            SceneElement::Cursor(element) => element.panel_transform,
        }
    }

    /// Its rectangle in the scene, before the panel's transform.
    fn place(&self) -> Rectangle<i32, Physical> {
        match self {
            SceneElement::Layer(element) => element.layer.target,
            SceneElement::Effect(element) => element.effect.target(),
            SceneElement::Cursor(element) => {
                let image = &element.cursor.image;
                Rectangle::new(element.cursor.position, Size::from((image.width, image.height)))
            }
        }
    }

    /// The rounded rectangle that the renderer clips it to, in panel coordinates.
    fn clip(&self) -> Option<RoundedRect> {
        let clip = match self {
            SceneElement::Layer(element) => element.layer.clip,
            SceneElement::Effect(element) => match element.effect.kind {
                EffectKind::Blur { area, .. } => Some(area),
                _ => None,
            },
            SceneElement::Cursor(_) => None,
        };
        clip.map(|clip| self.panel_transform().rounded(clip))
    }
}

/// Maps `clip` of an element at `place` to its drawing at `dst`, which may have another size.
fn clip_within(
    clip: RoundedRect,
    place: Rectangle<i32, Physical>,
    dst: Rectangle<i32, Physical>,
) -> (Rectangle<f32, Physical>, f32) {
    let (across, down) =
        (dst.size.w as f32 / place.size.w.max(1) as f32, dst.size.h as f32 / place.size.h.max(1) as f32);
    let offset = clip.rect.loc - place.loc;
    let corner = (dst.loc.x as f32 + offset.x as f32 * across, dst.loc.y as f32 + offset.y as f32 * down);
    let size = (clip.rect.size.w as f32 * across, clip.rect.size.h as f32 * down);
    (Rectangle::new(corner.into(), size.into()), clip.radius as f32 * across.min(down))
}

/// Draws an element with any renderer.
fn draw<R>(
    element: &SceneElement<'_, R::TextureId>,
    frame: &mut R::Frame<'_, '_>,
    src: Rectangle<f64, BufferCoords>,
    dst: Rectangle<i32, Physical>,
    damage: &[Rectangle<i32, Physical>],
    opaque: &[Rectangle<i32, Physical>],
) -> Result<(), R::Error>
where
    R: Renderer,
    R::TextureId: Texture + 'static,
{
    let (alpha, transform) = (element.alpha(), Element::transform(element));
    let of = PlacedElement { place: element.place(), panel_transform: element.panel_transform() };
    match element {
        SceneElement::Layer(LayerElement { fill, .. }) => match fill {
            LayerFill::Colour(colour) => frame.draw_solid(dst, damage, *colour * alpha),
            LayerFill::Texture(texture) => {
                frame.render_texture_from_to(texture, src, dst, damage, opaque, transform, alpha)
            }
            LayerFill::Picture { texture, area } => draw_part::<R>(frame, texture, *area, of, dst, damage, alpha),
            LayerFill::Cornered { texture, corners } => {
                let damaged = damage.to_vec();
                let areas = corners.iter().map(|(_, area)| of.part(*area));
                let inner = Rectangle::subtract_rects_many_in_place(damaged, areas);
                frame.render_texture_from_to(texture, src, dst, &inner, opaque, transform, alpha)?;
                draw_parts::<R>(frame, corners, of, dst, damage, alpha)
            }
        },
        SceneElement::Effect(element) => match element.effect.kind {
            EffectKind::Colour { area, hole, colour } => {
                let free = panel::free(hole).map(|rect| of.part(rect));
                let damage = Rectangle::subtract_rects_many_in_place(damage.to_vec(), free);
                if damage.is_empty() {
                    Ok(())
                } else {
                    draw_panel::<R>(frame, (area, hole, of), colour, dst, &damage, alpha)
                }
            }
            // The texture already has the panel's orientation.
            EffectKind::Blur { .. } => element.parts.iter().try_for_each(|(texture, _)| {
                let whole = Rectangle::from_size(texture.size()).to_f64();
                frame.render_texture_from_to(texture, whole, dst, damage, &[], Transform::Normal, alpha)
            }),
            _ => draw_parts::<R>(frame, &element.parts, of, dst, damage, alpha),
        },
        SceneElement::Cursor(element) => {
            frame.render_texture_from_to(&element.texture, src, dst, damage, opaque, transform, alpha)
        }
    }
}

/// An element's rectangle in its scene, and the scene's transform onto the panel.
#[derive(Clone, Copy)]
struct PlacedElement {
    place: Rectangle<i32, Physical>,
    panel_transform: PanelTransform,
}

impl PlacedElement {
    /// Converts a part of the element from scene to panel orientation, relative to the element.
    fn part(self, part: Rectangle<i32, Physical>) -> Rectangle<i32, Physical> {
        self.panel_transform.part(part, self.place.size)
    }
}

/// Fills a rectangle with rounded corners.
fn draw_panel<R: Renderer>(
    frame: &mut R::Frame<'_, '_>,
    (area, hole, of): (RoundedRect, RoundedRect, PlacedElement),
    [red, green, blue, opacity]: [f32; 4],
    dst: Rectangle<i32, Physical>,
    damage: &[Rectangle<i32, Physical>],
    alpha: f32,
) -> Result<(), R::Error> {
    for (coverage, parts) in panel::parts(area, hole) {
        let opacity = opacity * alpha * coverage;
        let colour = Color32F::new(red * opacity, green * opacity, blue * opacity, opacity);
        let damage = damage.iter().flat_map(|rect| parts.iter().filter_map(|part| rect.intersection(of.part(*part))));
        let damage: Vec<_> = damage.collect();
        if !damage.is_empty() {
            frame.draw_solid(dst, &damage, colour)?;
        }
    }
    Ok(())
}

fn draw_parts<R>(
    frame: &mut R::Frame<'_, '_>,
    parts: &[(R::TextureId, Rectangle<i32, Physical>)],
    of: PlacedElement,
    dst: Rectangle<i32, Physical>,
    damage: &[Rectangle<i32, Physical>],
    alpha: f32,
) -> Result<(), R::Error>
where
    R: Renderer,
    R::TextureId: Texture + 'static,
{
    parts.iter().try_for_each(|(texture, area)| draw_part::<R>(frame, texture, *area, of, dst, damage, alpha))
}

/// Draws a texture for the part `area` (relative to the element, before the panel's transform) of an element at `dst`.
fn draw_part<R>(
    frame: &mut R::Frame<'_, '_>,
    texture: &R::TextureId,
    area: Rectangle<i32, Physical>,
    of: PlacedElement,
    dst: Rectangle<i32, Physical>,
    damage: &[Rectangle<i32, Physical>],
    alpha: f32,
) -> Result<(), R::Error>
where
    R: Renderer,
    R::TextureId: Texture + 'static,
{
    let (area, size) = (of.part(area), of.panel_transform.rect(of.place).size);
    let area = if size == dst.size {
        area
    } else {
        let zoom = |length: i32, from: i32, to: i32| f64::from(length) * f64::from(to) / f64::from(from.max(1));
        let across = |length| zoom(length, size.w, dst.size.w);
        let down = |length| zoom(length, size.h, dst.size.h);
        let corner = (across(area.loc.x), down(area.loc.y));
        let size = (across(area.size.w), down(area.size.h));
        Rectangle::<f64, Physical>::new(corner.into(), size.into()).to_i32_round()
    };
    let whole = Rectangle::from_size(texture.size()).to_f64();
    let within = |rect: &Rectangle<i32, Physical>| {
        let common = rect.intersection(area)?;
        Some(Rectangle::new(common.loc - area.loc, common.size))
    };
    let damage: Vec<_> = damage.iter().filter_map(within).collect();
    if damage.is_empty() {
        return Ok(());
    }
    let place = Rectangle::new(dst.loc + area.loc, area.size);
    let transform = of.panel_transform.texture(OutputTransform::NORMAL);
    frame.render_texture_from_to(texture, whole, place, &damage, &[], transform, alpha)
}
