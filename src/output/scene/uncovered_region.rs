//! The region of an output not yet covered by opaque layers, while its scene is chosen from top to bottom. Occluded
//! layers are left out, and once the region is empty the walk stops.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::utils::{Physical, Rectangle};

use crate::guard;
use crate::output_transform::OutputTransform;
use crate::scene::{Effect, EffectKind, LayerShape, Scene};

/// Overdraw limit: the translucent pixels of one process may fill the screen this many times; layers further down are
/// left out. Each such layer is blended again in every frame in which any of them changes: a CPU takes 5 ms for 1280 by
/// 720 pixels. Real desktops stack only a few translucent fullscreen windows, and through eight hardly anything is
/// visible.
const MOST_BLENDED: i64 = 8;
/// Cost factor of a transformed or scaled layer, because its pixels are gathered from all over its buffer.
const GATHERED: i64 = 2;
/// Blur limit: the surfaces of one process may blur the screen this many times. Each blur costs at least one
/// [`LEAST_BLUR`]th of the screen, since it has intermediate buffers of its own.
const MOST_BLURRED: i64 = 4;
const LEAST_BLUR: i64 = 64;

/// Pixels that are drawn more than once for one process.
#[derive(Clone, Copy, Debug, Default)]
struct OverdrawCost {
    blended: i64,
    blurred: i64,
}

/// The region of an output not yet covered by opaque layers.
#[derive(Debug)]
pub(in crate::output) struct UncoveredRegion {
    /// Rectangles that do not overlap.
    rects: Vec<Rectangle<i32, Physical>>,
    screen: Rectangle<i32, Physical>,
    /// Number of layers and effects of the scene already processed.
    layers: usize,
    effects: usize,
    /// Translucent and blurred pixels so far, by process.
    spent: Vec<(u32, OverdrawCost)>,
}

impl UncoveredRegion {
    /// The whole output is uncovered.
    pub fn whole(scene: &Scene) -> Self {
        let screen = Rectangle::from_size(scene.size);
        let (layers, effects) = (scene.layers.len(), scene.effects.len());
        UncoveredRegion { rects: vec![screen], screen, layers, effects, spent: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.rects.is_empty()
    }

    /// Whether any part of `rect` would be visible.
    pub fn overlaps(&self, rect: Rectangle<i32, Physical>) -> bool {
        self.rects.iter().any(|bare| bare.overlaps(rect))
    }

    /// Removes occluded layers and effects among those added since the last call, and subtracts the rest from the
    /// region.
    pub fn cull(&mut self, scene: &mut Scene) {
        let mut kept = self.layers;
        let mut dropped = Vec::new();
        let screen = area(self.screen);
        // Most layers are opaque and cost nothing, so their process need not be looked up.
        let mut account = None;
        for index in self.layers..scene.layers.len() {
            let layer = &mut scene.layers[index];
            if layer.opacity < 1.0 && !layer.opaque.is_empty() {
                Arc::make_mut(&mut layer.shape).opaque.clear();
            }
            if layer.target.is_empty() || !self.overlaps(layer.target) {
                dropped.push(index);
                continue;
            }
            let weight = if is_resampled(layer, scene.turn) { GATHERED } else { 1 };
            let translucent = weight * translucent(layer.target, &layer.opaque, self.screen);
            if translucent > 0 {
                let account = *account.get_or_insert_with(|| self.cost_index(Some(&layer.surface)));
                let blended = &mut self.spent[account].1.blended;
                if *blended + translucent > MOST_BLENDED * screen {
                    dropped.push(index);
                    continue;
                }
                *blended += translucent;
            }
            let opaque = layer.opaque.iter().map(|rect| Rectangle::new(rect.loc + layer.target.loc, rect.size));
            let rects = std::mem::take(&mut self.rects);
            self.rects = Rectangle::subtract_rects_many_in_place(rects, opaque.filter(|rect| !rect.is_empty()));
            scene.layers.swap(kept, index);
            kept += 1;
        }
        let is_blur = |effect: &Effect| matches!(effect.kind, EffectKind::Blur { .. });
        if scene.effects[self.effects..].iter().any(is_blur) {
            let surface = scene.layers.get(self.layers).map(|layer| &layer.surface);
            account.get_or_insert_with(|| self.cost_index(surface));
        }
        scene.layers.truncate(kept);
        // Effects stay below the same layers. Effects outside the output are left out.
        for mut effect in scene.effects.split_off(self.effects) {
            effect.depth -= dropped.partition_point(|index| *index < effect.depth);
            if !effect.target().overlaps(self.screen) {
                continue;
            }
            if let Some(account) = account.filter(|_| is_blur(&effect)) {
                let seen = effect.target().intersection(self.screen).map_or(0, area);
                let blurred = &mut self.spent[account].1.blurred;
                *blurred += seen.max(screen / LEAST_BLUR);
                if *blurred > MOST_BLURRED * screen {
                    continue;
                }
            }
            scene.effects.push(effect);
        }
        self.layers = kept;
        self.effects = scene.effects.len();
    }

    /// Index of the entry in `spent` for the process of `surface`.
    fn cost_index(&mut self, surface: Option<&WlSurface>) -> usize {
        let process = surface.and_then(process_of).unwrap_or_default();
        self.spent.iter().position(|(known, _)| *known == process).unwrap_or_else(|| {
            self.spent.push((process, OverdrawCost::default()));
            self.spent.len() - 1
        })
    }

    /// Accepts added layers as they are, because none is opaque. Only effects outside the output are left out.
    pub fn keep(&mut self, scene: &mut Scene) {
        let screen = self.screen;
        let after = scene.effects.split_off(self.effects);
        scene.effects.extend(after.into_iter().filter(|effect| effect.target().overlaps(screen)));
        (self.layers, self.effects) = (scene.layers.len(), scene.effects.len());
    }
}

fn area(rect: Rectangle<i32, Physical>) -> i64 {
    i64::from(rect.size.w) * i64::from(rect.size.h)
}

/// Number of a layer's visible pixels outside its `opaque` rectangles. Overlapping rectangles count several times, but
/// the result is never negative, so a client gains nothing by repeating them.
fn translucent(
    target: Rectangle<i32, Physical>,
    opaque: &[Rectangle<i32, Physical>],
    screen: Rectangle<i32, Physical>,
) -> i64 {
    let seen = target.intersection(screen).map_or(0, area);
    let opaque = opaque.iter().map(|rect| Rectangle::new(rect.loc + target.loc, rect.size));
    (seen - opaque.filter_map(|rect| rect.intersection(screen)).map(area).sum::<i64>()).max(0)
}

/// Whether the layer is scaled, or transformed differently from a panel with this `turn`.
fn is_resampled(shape: &LayerShape, turn: OutputTransform) -> bool {
    let shown = shape.target.size.to_f64();
    let pixels =
        (shape.source.size.w * f64::from(shape.buffer_scale), shape.source.size.h * f64::from(shape.buffer_scale));
    let differs = |a: f64, b: f64| (a - b).abs() > 1.0;
    OutputTransform::from(shape.buffer_transform) != turn || differs(pixels.0, shown.w) || differs(pixels.1, shown.h)
}

/// The process of the client of `surface`, if known.
fn process_of(surface: &WlSurface) -> Option<u32> {
    let display = DisplayHandle::from(surface.handle().upgrade()?);
    guard::process_of(&display, &surface.client()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_opaque_rectangles_gain_nothing() {
        let rect = |x, y, width, height| Rectangle::new((x, y).into(), (width, height).into());
        let (screen, target) = (rect(0, 0, 100, 100), rect(50, 0, 100, 100));
        assert_eq!(translucent(target, &[], screen), 5_000, "the visible part");
        assert_eq!(translucent(target, &[rect(0, 0, 25, 100)], screen), 2_500);
        let whole = rect(0, 0, 100, 100);
        assert_eq!(translucent(target, &[whole], screen), 0);
        assert_eq!(translucent(target, &[whole; 8], screen), 0, "and not less than nothing");
    }
}
