//! A scene's parts as Smithay's renderers take them.

use smithay::backend::renderer::element::{Element, Id, RenderElement};
use smithay::backend::renderer::utils::{CommitCounter, DamageSet, OpaqueRegions};
use smithay::backend::renderer::{Color32F, Frame, Renderer, Texture};
use smithay::utils::{Buffer as BufferCoords, Physical, Rectangle, Scale, Size, Transform};

use crate::output::scene::{CursorLayer, Layer};

/// What a layer is filled with.
#[derive(Debug)]
pub enum Fill<T> {
    /// An imported buffer.
    Texture(T),
    /// What is seen of it, at its size on the output.
    Picture {
        /// The pixels.
        texture: T,
        /// Where they go, relative to the layer.
        area: Rectangle<i32, Physical>,
    },
    /// One colour: a single-pixel buffer.
    Colour(Color32F),
}

/// A layer with its content imported.
#[derive(Debug)]
pub struct LayerElement<'a, T> {
    /// The layer.
    pub layer: &'a Layer,
    /// Its content.
    pub fill: Fill<T>,
}

/// The cursor, where the display has no plane for it.
#[derive(Debug)]
pub struct CursorElement<'a, T> {
    /// The cursor.
    pub cursor: &'a CursorLayer,
    /// Its pixels.
    pub texture: T,
    /// Its name for damage tracking.
    pub id: Id,
    /// Which image it is.
    pub commit: CommitCounter,
}

/// Anything in a scene.
#[derive(Debug)]
pub enum SceneElement<'a, T> {
    /// A surface.
    Layer(LayerElement<'a, T>),
    /// The cursor.
    Cursor(CursorElement<'a, T>),
}

impl<T> Element for SceneElement<'_, T> {
    fn id(&self) -> &Id {
        match self {
            SceneElement::Layer(element) => &element.layer.id,
            SceneElement::Cursor(element) => &element.id,
        }
    }

    fn current_commit(&self) -> CommitCounter {
        match self {
            SceneElement::Layer(element) => element.layer.commit(),
            SceneElement::Cursor(element) => element.commit,
        }
    }

    fn geometry(&self, _scale: Scale<f64>) -> Rectangle<i32, Physical> {
        match self {
            SceneElement::Layer(element) => element.layer.target,
            SceneElement::Cursor(element) => {
                let image = &element.cursor.image;
                Rectangle::new(element.cursor.position, Size::from((image.width, image.height)))
            }
        }
    }

    fn src(&self) -> Rectangle<f64, BufferCoords> {
        match self {
            SceneElement::Layer(element) => source(element.layer),
            SceneElement::Cursor(element) => {
                let image = &element.cursor.image;
                Rectangle::from_size(Size::from((f64::from(image.width), f64::from(image.height))))
            }
        }
    }

    fn transform(&self) -> Transform {
        match self {
            SceneElement::Layer(element) => element.layer.buffer_transform,
            SceneElement::Cursor(_) => Transform::Normal,
        }
    }

    fn damage_since(&self, scale: Scale<f64>, commit: Option<CommitCounter>) -> DamageSet<i32, Physical> {
        match self {
            SceneElement::Layer(element) => damage_since(element.layer, commit),
            SceneElement::Cursor(element) if commit == Some(element.commit) => DamageSet::default(),
            SceneElement::Cursor(_) => DamageSet::from_slice(&[Rectangle::from_size(self.geometry(scale).size)]),
        }
    }

    fn alpha(&self) -> f32 {
        match self {
            SceneElement::Layer(element) => element.layer.opacity,
            SceneElement::Cursor(_) => 1.0,
        }
    }

    fn opaque_regions(&self, _scale: Scale<f64>) -> OpaqueRegions<i32, Physical> {
        match self {
            SceneElement::Layer(element) => OpaqueRegions::from_slice(&element.layer.opaque),
            SceneElement::Cursor(_) => OpaqueRegions::default(),
        }
    }
}

/// What of a layer's buffer is shown.
pub(super) fn source(layer: &Layer) -> Rectangle<f64, BufferCoords> {
    let logical = layer.buffer_size.to_f64().to_logical(f64::from(layer.buffer_scale), layer.buffer_transform);
    layer.source.to_buffer(f64::from(layer.buffer_scale), layer.buffer_transform, &logical)
}

fn damage_since(layer: &Layer, commit: Option<CommitCounter>) -> DamageSet<i32, Physical> {
    let whole = || DamageSet::from_slice(&[Rectangle::from_size(layer.target.size)]);
    let Some(damage) = layer.damage.damage_since(commit) else { return whole() };
    damage.iter().filter_map(|rect| to_target(layer, *rect)).collect()
}

/// A rectangle of the buffer, as it lies on the output relative to the layer, rounded outwards.
fn to_target(layer: &Layer, rect: Rectangle<i32, BufferCoords>) -> Option<Rectangle<i32, Physical>> {
    let scale = f64::from(layer.buffer_scale);
    let logical = rect.to_f64().to_logical(scale, layer.buffer_transform, &layer.buffer_size.to_f64());
    let shown = logical.intersection(layer.source)?;
    let zoom_x = f64::from(layer.target.size.w) / layer.source.size.w;
    let zoom_y = f64::from(layer.target.size.h) / layer.source.size.h;
    let left = (shown.loc.x - layer.source.loc.x) * zoom_x;
    let top = (shown.loc.y - layer.source.loc.y) * zoom_y;
    // Filtering reads one pixel beyond the edge where the buffer is scaled.
    let spill = if zoom_x == scale && zoom_y == scale { 0.0 } else { 1.0 };
    let (right, bottom) = (left + shown.size.w * zoom_x + spill, top + shown.size.h * zoom_y + spill);
    let (x, y) = ((left - spill).floor() as i32, (top - spill).floor() as i32);
    let size = Size::from((right.ceil() as i32 - x, bottom.ceil() as i32 - y));
    Rectangle::new((x, y).into(), size).intersection(Rectangle::from_size(layer.target.size))
}

impl<R> RenderElement<R> for SceneElement<'_, R::TextureId>
where
    R: Renderer,
    R::TextureId: Texture + 'static,
{
    fn draw(
        &self,
        frame: &mut R::Frame<'_, '_>,
        src: Rectangle<f64, BufferCoords>,
        dst: Rectangle<i32, Physical>,
        damage: &[Rectangle<i32, Physical>],
        opaque: &[Rectangle<i32, Physical>],
    ) -> Result<(), R::Error> {
        let texture = match self {
            SceneElement::Layer(LayerElement { fill: Fill::Colour(colour), .. }) => {
                return frame.draw_solid(dst, damage, *colour * self.alpha());
            }
            SceneElement::Layer(LayerElement { fill: Fill::Picture { texture, area }, .. }) => {
                let place = Rectangle::new(dst.loc + area.loc, area.size);
                let whole = Rectangle::from_size(Size::from((f64::from(area.size.w), f64::from(area.size.h))));
                let within = |rect: &Rectangle<i32, Physical>| {
                    Some(Rectangle::new(rect.intersection(*area)?.loc - area.loc, rect.intersection(*area)?.size))
                };
                let damage: Vec<_> = damage.iter().filter_map(within).collect();
                let alpha = self.alpha();
                return frame.render_texture_from_to(texture, whole, place, &damage, &[], Transform::Normal, alpha);
            }
            SceneElement::Layer(LayerElement { fill: Fill::Texture(texture), .. }) => texture,
            SceneElement::Cursor(element) => &element.texture,
        };
        let transform = Element::transform(self);
        frame.render_texture_from_to(texture, src, dst, damage, opaque, transform, self.alpha())
    }
}
