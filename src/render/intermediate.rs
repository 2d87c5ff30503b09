//! Intermediate images for layers that pixman cannot composite onto the frame in one step.
//!
//! Smithay 0.7 composites an opaque format with `SRC`, whose mask does not blend but darkens, so an opaque window could
//! not be made translucent. Also, pixman's transforms are fixed point with 16 integer bits: a layer that is shown much
//! smaller than its buffer and far from the corner overflows them. Both work in an image of their own, of the layer's
//! visible size, with its origin near the layer's. The image then goes onto the frame one to one. Such images have the
//! orientation of the scene, not of the panel.

use smithay::backend::allocator::Fourcc;
use smithay::backend::allocator::format::has_alpha;
use smithay::backend::renderer::pixman::{PixmanError, PixmanRenderer, PixmanTexture};
use smithay::backend::renderer::{Bind, Color32F, Frame, Offscreen, Renderer, Texture};
use smithay::reexports::pixman::Image;
use smithay::utils::{Physical, Rectangle, Size, Transform};

use super::element::{LayerElement, LayerFill, SceneElement};
use super::{edges, rounded};
use crate::scene::{Layer, RoundedRect, Scene};

/// Largest product of position and downscaling that pixman's transforms hold, with some room for additions.
const LARGEST_PLACE: f64 = 16_000.0;

/// Draws an intermediate image for each layer that needs one. A layer that cannot be drawn is left out and logged.
pub(super) fn prepare(
    renderer: &mut PixmanRenderer,
    scene: &Scene,
    elements: &mut Vec<SceneElement<'_, PixmanTexture>>,
) {
    let screen = Rectangle::from_size(scene.size);
    elements.retain_mut(|element| {
        let SceneElement::Layer(element) = element else { return true };
        let LayerFill::Texture(texture) = &element.fill else { return true };
        if !needs_picture(element) {
            let (layer, texture) = (element.layer, texture.clone());
            let corners = corners_and_edges(renderer, layer, &texture, screen);
            if !corners.is_empty() {
                element.fill = LayerFill::Cornered { texture, corners };
            }
            return true;
        }
        let Some(seen) = element.layer.target.intersection(screen).filter(|seen| !seen.is_empty()) else {
            return false;
        };
        match picture(renderer, element.layer, texture, seen) {
            Ok(texture) => {
                let area = Rectangle::new(seen.loc - element.layer.target.loc, seen.size);
                element.fill = LayerFill::Picture { texture, area };
                true
            }
            Err(error) => {
                tracing::warn!(%error, "a layer cannot be drawn");
                false
            }
        }
    });
}

fn needs_picture(element: &LayerElement<'_, PixmanTexture>) -> bool {
    let layer = element.layer;
    let shrinks = |buffer: f64, shown: i32| buffer / f64::from(shown.max(1));
    let (x, y) = element.panel_transform.along(layer.target);
    let across = shrinks(layer.source.size.w, layer.target.size.w) * f64::from(x.abs());
    let down = shrinks(layer.source.size.h, layer.target.size.h) * f64::from(y.abs());
    let scale = f64::from(layer.buffer_scale.max(1));
    layer.opacity < 1.0 || across.max(down) * scale > LARGEST_PLACE
}

/// Images of a layer's rounded corners, and of its edges where filtering reads beyond its buffer. Without its image a
/// corner would stay square and an edge would fade.
fn corners_and_edges(
    renderer: &mut PixmanRenderer,
    layer: &Layer,
    texture: &PixmanTexture,
    screen: Rectangle<i32, Physical>,
) -> Vec<(PixmanTexture, Rectangle<i32, Physical>)> {
    let seen = |part: Rectangle<i32, Physical>| {
        let seen = part.intersection(layer.target)?.intersection(screen)?;
        (!seen.is_empty()).then_some(seen)
    };
    let corners: Vec<_> = layer.clip.iter().flat_map(RoundedRect::corners).filter_map(seen).collect();
    let edges = Rectangle::subtract_rects_many(edges::bands(layer), corners.iter().copied());
    let drawn = |seen: Rectangle<i32, Physical>| {
        let picture = picture(renderer, layer, texture, seen);
        let picture =
            picture.inspect_err(|error| tracing::debug!(%error, "a corner or an edge cannot be drawn")).ok()?;
        Some((picture, Rectangle::new(seen.loc - layer.target.loc, seen.size)))
    };
    let edges = edges.into_iter().filter_map(seen);
    corners.iter().copied().chain(edges).filter_map(drawn).collect()
}

/// The part `seen` (relative to the output) of a layer, scaled to the output and clipped, at full opacity.
fn picture(
    renderer: &mut PixmanRenderer,
    layer: &Layer,
    texture: &PixmanTexture,
    seen: Rectangle<i32, Physical>,
) -> Result<PixmanTexture, PixmanError> {
    let size = Size::from((seen.size.w, seen.size.h));
    // An opaque layer must stay opaque to its last row, because the layers below it may not be drawn.
    let is_opaque =
        layer.opacity >= 1.0 && layer.clip.is_none() && texture.format().is_some_and(|format| !has_alpha(format));
    let format = if is_opaque { Fourcc::Xrgb8888 } else { Fourcc::Argb8888 };
    let mut image: Image<'static, 'static> = renderer.create_buffer(format, size)?;
    let place = Rectangle::new(layer.target.loc - seen.loc, layer.target.size);
    let whole = Rectangle::from_size(seen.size);
    let (texture, source) = edges::texture_for(renderer, layer, texture, seen)?;
    {
        let mut target = renderer.bind(&mut image)?;
        let mut frame = renderer.render(&mut target, seen.size, Transform::Normal)?;
        frame.clear(Color32F::TRANSPARENT, &[whole])?;
        let damage = [Rectangle::from_size(place.size)];
        frame.render_texture_from_to(&texture, source, place, &damage, &[], layer.buffer_transform, 1.0)?;
        frame.finish()?.wait().ok();
    }
    if let Some(clip) = layer.clip {
        rounded::cut(&mut image, seen, clip);
    }
    Ok(PixmanTexture::from(image))
}
