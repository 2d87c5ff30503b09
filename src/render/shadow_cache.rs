//! Window shadows: drawn by the CPU and cached as textures, the same for both renderers.
//!
//! A box blurred with a Gaussian is the product of two blurred edges, so a pixel costs one multiplication. Only the
//! frame around the window is drawn, as four strips that reach inwards as far as the corner radius:
//!
//! ```text
//!   ┌───────────────┐
//!   │      top      │  reach + radius
//!   ├──┬─────────┬──┤
//!   │l │ window  │ r│
//!   ├──┴─────────┴──┤
//!   │    bottom     │
//!   └───────────────┘
//! ```

use smithay::backend::allocator::Fourcc;
use smithay::backend::renderer::element::Id;
use smithay::backend::renderer::{ImportMem, Renderer};
use smithay::utils::{Physical, Rectangle, Size};

use crate::scene::RoundedRect;

/// Standard deviations within `reach`: beyond it a blurred edge is below one of 256 levels.
const DEVIATIONS: f32 = 2.7;

/// A strip of a shadow: its texture, and its rectangle relative to the shadow.
pub(super) type ShadowStrip<T> = (T, Rectangle<i32, Physical>);

/// The strips of drawn shadows, by effect id.
#[derive(Debug)]
pub(super) struct ShadowCache<T>(Vec<CachedShadow<T>>);

#[derive(Debug)]
struct CachedShadow<T> {
    id: Id,
    look: (Size<i32, Physical>, i32, i32),
    strips: Vec<ShadowStrip<T>>,
    used: bool,
}

impl<T> Default for ShadowCache<T> {
    fn default() -> Self {
        ShadowCache(Vec::new())
    }
}

impl<T: Clone> ShadowCache<T> {
    /// Drops shadows that were not used since the last call.
    pub(super) fn forget_unused(&mut self) {
        self.0.retain_mut(|known| std::mem::take(&mut known.used));
    }

    /// The strips of the shadow of `window`, without strips that cannot be imported.
    pub(super) fn strips<R>(
        &mut self,
        renderer: &mut R,
        id: &Id,
        window: RoundedRect,
        reach: i32,
    ) -> Vec<ShadowStrip<T>>
    where
        R: Renderer<TextureId = T> + ImportMem,
    {
        let look = (window.rect.size, window.radius, reach);
        if let Some(known) = self.0.iter_mut().find(|known| known.id == *id && known.look == look) {
            known.used = true;
            return known.strips.clone();
        }
        self.0.retain(|known| known.id != *id);
        let import = |area: Rectangle<i32, Physical>| {
            let size = Size::from((area.size.w, area.size.h));
            let texture = renderer.import_memory(&pixels(window, reach, area), Fourcc::Argb8888, size, false);
            texture.inspect_err(|error| tracing::warn!(?error, "a shadow cannot be drawn")).ok().map(|it| (it, area))
        };
        let strips: Vec<_> = areas(window, reach).into_iter().filter_map(import).collect();
        self.0.push(CachedShadow { id: id.clone(), look, strips: strips.clone(), used: true });
        strips
    }
}

/// The rectangles of the strips, relative to the shadow.
fn areas(window: RoundedRect, reach: i32) -> Vec<Rectangle<i32, Physical>> {
    let (width, height) = (window.rect.size.w + 2 * reach, window.rect.size.h + 2 * reach);
    let depth = (reach + window.radius).min(width / 2).min(height / 2);
    let strip = |x: i32, y: i32, w: i32, h: i32| Rectangle::new((x, y).into(), (w, h).into());
    let strips = [
        strip(0, 0, width, depth),
        strip(0, height - depth, width, depth),
        strip(0, depth, reach, height - 2 * depth),
        strip(width - reach, depth, reach, height - 2 * depth),
    ];
    strips.into_iter().filter(|area| area.size.w > 0 && area.size.h > 0).collect()
}

/// The pixels of one strip: black, premultiplied, in memory order.
fn pixels(window: RoundedRect, reach: i32, area: Rectangle<i32, Physical>) -> Vec<u8> {
    let deviation = (reach as f32 / DEVIATIONS).max(0.01);
    let window = RoundedRect { rect: Rectangle::new((reach, reach).into(), window.rect.size), ..window };
    let profile = |start: i32, count: i32, length: i32| -> Vec<f32> {
        let edge = |at: f32, edge: i32| normal((at - edge as f32) / deviation);
        let level = |at: f32| edge(at, reach) - edge(at, reach + length);
        (start..start + count).map(|at| level(at as f32 + 0.5)).collect()
    };
    let across = profile(area.loc.x, area.size.w, window.rect.size.w);
    let down = profile(area.loc.y, area.size.h, window.rect.size.h);
    let mut bytes = Vec::with_capacity((area.size.w * area.size.h * 4).max(0) as usize);
    for (y, vertical) in (area.loc.y..).zip(&down) {
        for (x, horizontal) in (area.loc.x..).zip(&across) {
            // No shadow within the window, because it would be visible through a translucent window.
            let outside = 1.0 - window.coverage(x, y);
            bytes.extend([0, 0, 0, (horizontal * vertical * outside * 255.0).round() as u8]);
        }
    }
    bytes
}

/// The normal distribution up to `x` standard deviations (Abramowitz and Stegun 26.2.17; error below 1e-7).
fn normal(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = [0.319_381_54, -0.356_563_78, 1.781_477_9, -1.821_256, 1.330_274_5];
    let sum = series.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = (-x * x / 2.0).exp() / std::f32::consts::TAU.sqrt() * sum;
    if x < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH: i32 = 20;

    fn window(radius: i32) -> RoundedRect {
        RoundedRect { rect: Rectangle::new((50, 60).into(), (100, 80).into()), radius }
    }

    /// The whole shadow in one picture.
    fn picture(radius: i32) -> (i32, Vec<u8>) {
        let size = (100 + 2 * REACH, 80 + 2 * REACH);
        let bytes = pixels(window(radius), REACH, Rectangle::new((0, 0).into(), size.into()));
        (size.0, bytes.chunks(4).map(|pixel| pixel[3]).collect())
    }

    #[test]
    fn a_shadow_fades_outwards_is_symmetrical_and_leaves_its_window_alone() {
        let (width, levels) = picture(0);
        let height = levels.len() as i32 / width;
        let level = |x: i32, y: i32| levels[(y * width + x) as usize];
        for x in 1..REACH {
            assert!(level(x, height / 2) >= level(x - 1, height / 2));
        }
        assert!(level(0, height / 2) <= 2 && (110..=128).contains(&level(REACH - 1, height / 2)));
        for (x, y) in [(3, 40), (15, 15), (10, 70)] {
            assert_eq!(level(x, y), level(width - 1 - x, y));
            assert_eq!(level(x, y), level(x, height - 1 - y));
        }
        assert_eq!(level(REACH, REACH), 0, "nothing within the window");
    }

    #[test]
    fn it_is_seen_where_the_corners_are_cut() {
        let (width, levels) = picture(10);
        assert!(levels[(REACH * width + REACH) as usize] > 30);
        assert_eq!(levels[((REACH + 10) * width + REACH + 10) as usize], 0);
    }

    #[test]
    fn the_strips_cover_all_of_it_that_is_not_empty_once() {
        let (width, levels) = picture(10);
        let strips = areas(window(10), REACH);
        for (at, level) in levels.iter().enumerate() {
            let pixel = smithay::utils::Point::from((at as i32 % width, at as i32 / width));
            let covering = strips.iter().filter(|strip| strip.contains(pixel)).count();
            assert!(covering == 1 || (covering == 0 && *level == 0), "{pixel:?}");
        }
    }
}
