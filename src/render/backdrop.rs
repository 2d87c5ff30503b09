//! Background blur behind translucent windows (OpenGL ES).
//!
//! The layers below are drawn at half size, halved repeatedly and doubled as often. With linear filtering each step is
//! a small blur; together they give a wide, smooth blur at a fraction of its cost (like "dual filtering", without its
//! wider kernels). The result depends only on the layers below, so it is cached until they change, and the damage is
//! right by itself. All coordinates are those of the panel.

use std::hash::{DefaultHasher, Hash, Hasher};

use smithay::backend::allocator::Fourcc;
use smithay::backend::renderer::element::{Element, Id, RenderElement};
use smithay::backend::renderer::gles::{GlesError, GlesFrame, GlesRenderer, GlesTexture};
use smithay::backend::renderer::utils::CommitCounter;
use smithay::backend::renderer::{Bind, Color32F, Frame, Offscreen, Renderer, Texture};
use smithay::utils::{Physical, Rectangle, Scale, Size, Transform};

use super::element::SceneElement;
use super::panel_transform::PanelTransform;
use crate::scene::{EffectKind, Scene};

/// Shortest side of an intermediate texture, in pixels: below it there is nothing left to blur.
const SHORTEST_SIDE: i32 = 4;

/// Blurred textures, by effect id, with the signature of the layers below.
#[derive(Debug, Default)]
pub(super) struct BackdropCache(Vec<CachedBackdrop>);

#[derive(Debug)]
struct CachedBackdrop {
    id: Id,
    below: usize,
    texture: GlesTexture,
    used: bool,
}

impl BackdropCache {
    /// Sets the texture of every blur in `elements`. A blur that cannot be drawn is left out and logged.
    pub(super) fn prepare(
        &mut self,
        renderer: &mut GlesRenderer,
        scene: &Scene,
        elements: &mut [SceneElement<'_, GlesTexture>],
    ) {
        // From the bottom up, because a window's backdrop may show another window's.
        for index in (0..elements.len()).rev() {
            let (above, below) = elements.split_at_mut(index + 1);
            let Some(SceneElement::Effect(element)) = above.last_mut() else { continue };
            let EffectKind::Blur { area, passes } = element.effect.kind else { continue };
            let area = PanelTransform::of(scene).rounded(area);
            let signature = signature(scene, below, area.rect, passes);
            element.commit = CommitCounter::from(signature);
            let texture = self
                .known(&element.effect.id, signature)
                .map_or_else(|| blurred(renderer, scene, below, area.rect, passes), Ok);
            match texture {
                Ok(texture) => {
                    self.keep(&element.effect.id, signature, &texture);
                    element.parts = vec![(texture, Rectangle::from_size(area.rect.size))];
                }
                Err(error) => tracing::warn!(%error, "a backdrop cannot be blurred"),
            }
        }
        self.0.retain_mut(|known| std::mem::take(&mut known.used));
    }

    fn known(&self, id: &Id, below: usize) -> Option<GlesTexture> {
        let known = self.0.iter().find(|known| known.id == *id && known.below == below)?;
        Some(known.texture.clone())
    }

    fn keep(&mut self, id: &Id, below: usize, texture: &GlesTexture) {
        self.0.retain(|known| known.id != *id);
        self.0.push(CachedBackdrop { id: id.clone(), below, texture: texture.clone(), used: true });
    }
}

/// Hash of the layers below: ids, commits, positions and opacities.
fn signature(
    scene: &Scene,
    below: &[SceneElement<'_, GlesTexture>],
    area: Rectangle<i32, Physical>,
    passes: u8,
) -> usize {
    let mut hasher = DefaultHasher::new();
    (area.loc.x, area.loc.y, area.size.w, area.size.h, passes).hash(&mut hasher);
    scene.background.map(f32::to_bits).hash(&mut hasher);
    for element in below {
        let place = element.geometry(Scale::from(1.0));
        let source = element.src();
        let parts = [source.loc.x, source.loc.y, source.size.w, source.size.h].map(f64::to_bits);
        element.id().hash(&mut hasher);
        element.current_commit().distance(Some(CommitCounter::from(0))).hash(&mut hasher);
        (place.loc.x, place.loc.y, place.size.w, place.size.h, parts, element.alpha().to_bits()).hash(&mut hasher);
    }
    hasher.finish() as usize
}

/// The part `area` of the layers `below`, at half size and blurred.
fn blurred(
    renderer: &mut GlesRenderer,
    scene: &Scene,
    below: &[SceneElement<'_, GlesTexture>],
    area: Rectangle<i32, Physical>,
    passes: u8,
) -> Result<GlesTexture, GlesError> {
    let mut sizes = vec![halved(area.size)];
    for _ in 1..passes.max(1) {
        sizes.push(halved(sizes[sizes.len() - 1]));
    }
    let [red, green, blue] = scene.background;
    let background = Color32F::new(red, green, blue, 1.0);
    let mut texture = picture(renderer, sizes[0], background, |frame| {
        let zoom = Scale::from((
            f64::from(sizes[0].w) / f64::from(area.size.w.max(1)),
            f64::from(sizes[0].h) / f64::from(area.size.h.max(1)),
        ));
        below.iter().rev().try_for_each(|element| {
            let place = element.geometry(Scale::from(1.0));
            let moved = Rectangle::new(place.loc - area.loc, place.size).to_f64();
            let place = moved.upscale(zoom).to_i32_round::<i32>();
            let damage = [Rectangle::from_size(place.size)];
            RenderElement::<GlesRenderer>::draw(element, frame, element.src(), place, &damage, &[])
        })
    })?;
    let again = sizes.iter().skip(1).chain(sizes.iter().rev().skip(1));
    for size in again {
        texture = scaled(renderer, &texture, *size)?;
    }
    Ok(texture)
}

fn halved(size: Size<i32, Physical>) -> Size<i32, Physical> {
    let half = |side: i32| (side / 2).max(SHORTEST_SIDE);
    Size::from((half(size.w), half(size.h)))
}

fn scaled(
    renderer: &mut GlesRenderer,
    texture: &GlesTexture,
    size: Size<i32, Physical>,
) -> Result<GlesTexture, GlesError> {
    let whole = Rectangle::from_size(texture.size()).to_f64();
    let place = Rectangle::from_size(size);
    picture(renderer, size, Color32F::TRANSPARENT, |frame| {
        Frame::render_texture_from_to(frame, texture, whole, place, &[place], &[], Transform::Normal, 1.0)
    })
}

/// A texture of `size` pixels with `background`, onto which `draw` draws.
fn picture(
    renderer: &mut GlesRenderer,
    size: Size<i32, Physical>,
    background: Color32F,
    draw: impl FnOnce(&mut GlesFrame<'_, '_>) -> Result<(), GlesError>,
) -> Result<GlesTexture, GlesError> {
    let mut texture: GlesTexture = renderer.create_buffer(Fourcc::Abgr8888, Size::from((size.w, size.h)))?;
    {
        let mut target = renderer.bind(&mut texture)?;
        let mut frame = renderer.render(&mut target, size, Transform::Normal)?;
        frame.clear(background, &[Rectangle::from_size(size)])?;
        draw(&mut frame)?;
        // The same context draws and samples the texture, so GL orders the commands by itself.
        let _ = frame.finish()?;
    }
    Ok(texture)
}
