//! The edges of layers that pixman enlarges.
//!
//! Smithay 0.7 uses `Repeat::None`: pixman filters with transparent black around a texture, so the edges of an enlarged
//! layer fade. Here they are drawn from a copy of the texture's edge that repeats its outermost pixels.

use smithay::backend::allocator::Fourcc;
use smithay::backend::allocator::format::has_alpha;
use smithay::backend::renderer::pixman::{PixmanError, PixmanRenderer, PixmanTexture};
use smithay::backend::renderer::{Bind, Color32F, Frame, Offscreen, Renderer, Texture};
use smithay::reexports::pixman::Image;
use smithay::utils::{Buffer as BufferCoords, Physical, Point, Rectangle, Size, Transform};

use super::element::source;
use crate::output_transform::OutputTransform;
use crate::scene::Layer;

/// A weight below the precision of pixman, which has 128 steps.
const NO_WEIGHT: f64 = 1.0 / 256.0;

/// The visible part of a layer's buffer, after the buffer transform and in whole pixels, as pixman takes it.
struct UprightSource {
    turn: OutputTransform,
    shown: Rectangle<i32, BufferCoords>,
    /// The size of the buffer.
    whole: Size<i32, BufferCoords>,
    target: Rectangle<i32, Physical>,
}

impl UprightSource {
    fn of(layer: &Layer) -> Self {
        let turn = OutputTransform::from(layer.buffer_transform);
        let shown: Rectangle<i32, BufferCoords> = source(layer).to_i32_up();
        let shown = turn.inverse().rect(shown, layer.buffer_size);
        UprightSource { turn, shown, whole: turn.inverse().size(layer.buffer_size), target: layer.target }
    }

    /// Pixels of the buffer for each pixel of the output, across and down.
    fn steps(&self) -> (f64, f64) {
        let step = |shown: i32, seen: i32| f64::from(shown) / f64::from(seen.max(1));
        (step(self.shown.size.w, self.target.size.w), step(self.shown.size.h, self.target.size.h))
    }
}

/// Disjoint parts of a layer (relative to the output) where filtering reads beyond its buffer.
pub(super) fn bands(layer: &Layer) -> Vec<Rectangle<i32, Physical>> {
    let upright = UprightSource::of(layer);
    let UprightSource { shown, whole, target, .. } = upright;
    let (across, down) = upright.steps();
    let width = |step: f64, ends_there: bool, most: i32| {
        let pixels = if step < 1.0 && ends_there { ((0.5 + NO_WEIGHT) / step - 0.5).floor() as i32 + 1 } else { 0 };
        pixels.clamp(0, most)
    };
    let left = width(across, shown.loc.x <= 0, target.size.w);
    let right = width(across, shown.loc.x + shown.size.w >= whole.w, target.size.w - left);
    let top = width(down, shown.loc.y <= 0, target.size.h);
    let bottom = width(down, shown.loc.y + shown.size.h >= whole.h, target.size.h - top);
    let rect = |x: i32, y: i32, width: i32, height: i32| {
        Rectangle::new(target.loc + Point::from((x, y)), Size::from((width, height)))
    };
    let Size { w, h, .. } = target.size;
    let bands = [
        rect(0, 0, left, h),
        rect(w - right, 0, right, h),
        rect(left, 0, w - left - right, top),
        rect(left, h - bottom, w - left - right, bottom),
    ];
    bands.into_iter().filter(|band| !band.is_empty()).collect()
}

/// A texture for drawing the part `seen` (relative to the output) of a layer, and the layer's source rectangle in it.
pub(super) fn texture_for(
    renderer: &mut PixmanRenderer,
    layer: &Layer,
    texture: &PixmanTexture,
    seen: Rectangle<i32, Physical>,
) -> Result<(PixmanTexture, Rectangle<f64, BufferCoords>), PixmanError> {
    let (upright, src) = (UprightSource::of(layer), source(layer));
    let (across, down) = upright.steps();
    if across >= 1.0 && down >= 1.0 {
        return Ok((texture.clone(), src));
    }
    let at = seen.loc - upright.target.loc;
    // Filtering reads one more pixel on each side.
    let range = |shown: i32, at: i32, length: i32, step: f64, whole: i32| {
        let start = f64::from(shown) + f64::from(at) * step;
        let end = start + f64::from(length) * step;
        ((start.floor() as i32 - 1).clamp(-1, whole), (end.ceil() as i32 + 1).clamp(0, whole + 1))
    };
    let (left, right) = range(upright.shown.loc.x, at.x, seen.size.w, across, upright.whole.w);
    let (top, bottom) = range(upright.shown.loc.y, at.y, seen.size.h, down, upright.whole.h);
    let read = Rectangle::new(Point::from((left, top)), Size::from((right - left, bottom - top)));
    let read = upright.turn.rect(read, upright.whole);
    if Rectangle::from_size(layer.buffer_size).contains_rect(read) {
        return Ok((texture.clone(), src));
    }
    let copied = copy(renderer, texture, read, layer.buffer_size)?;
    Ok((copied, Rectangle::new(src.loc - read.loc.to_f64(), src.size)))
}

/// A copy of `part` of a texture of this size. `part` may reach one pixel beyond the texture: that pixel repeats the
/// outermost.
fn copy(
    renderer: &mut PixmanRenderer,
    texture: &PixmanTexture,
    part: Rectangle<i32, BufferCoords>,
    size: Size<i32, BufferCoords>,
) -> Result<PixmanTexture, PixmanError> {
    let is_opaque = texture.format().is_some_and(|format| !has_alpha(format));
    let format = if is_opaque { Fourcc::Xrgb8888 } else { Fourcc::Argb8888 };
    let mut image: Image<'static, 'static> = renderer.create_buffer(format, part.size)?;
    {
        let whole = Size::from((part.size.w, part.size.h));
        let mut target = renderer.bind(&mut image)?;
        let mut frame = renderer.render(&mut target, whole, Transform::Normal)?;
        frame.clear(Color32F::TRANSPARENT, &[Rectangle::from_size(whole)])?;
        for (from_y, to_y, height) in pieces(part.loc.y, part.size.h, size.h) {
            for (from_x, to_x, width) in pieces(part.loc.x, part.size.w, size.w) {
                let from =
                    Rectangle::<i32, BufferCoords>::new((from_x, from_y).into(), (width, height).into()).to_f64();
                let to = Rectangle::<i32, Physical>::new((to_x, to_y).into(), (width, height).into());
                let damage = [Rectangle::from_size(to.size)];
                frame.render_texture_from_to(texture, from, to, &damage, &[], Transform::Normal, 1.0)?;
            }
        }
        frame.finish()?.wait().ok();
    }
    Ok(PixmanTexture::from(image))
}

/// The sources of `length` pixels from `start` on in a row of `whole` pixels: from, to and length of each piece.
fn pieces(start: i32, length: i32, whole: i32) -> impl Iterator<Item = (i32, i32, i32)> {
    let (first, end) = (start.max(0), (start + length).min(whole));
    let before = (start < 0).then_some((0, 0, -start));
    let inside = (first < end).then_some((first, first - start, end - first));
    let after = (start + length > whole).then_some((whole - 1, whole - start, start + length - whole));
    before.into_iter().chain(inside).chain(after)
}
