//! Windows that a rule excludes from captures: they appear black.

use smithay::utils::{Physical, Point, Rectangle};

use crate::backend::PixelRect;
use crate::scene::{EffectKind, Scene};
use crate::shell::{Shell, Window};

/// Upper bound for how far a blur spreads pixels, for each halving of its picture.
const BLUR_REACH: u32 = 4;

/// The parts of the panel to blacken: excluded windows in `scene`, and layers above them that blur their content.
pub(super) fn areas(scene: &Scene, shell: &Shell) -> Vec<PixelRect> {
    let screen = Rectangle::from_size(scene.size);
    let mut above: Vec<Rectangle<i32, Physical>> = Vec::new();
    let mut black = Vec::new();
    for (depth, layer) in scene.layers.iter().enumerate() {
        // A new rule applies at once, even to a scene composed before.
        let of_window = || shell.window_of(&layer.surface).is_some_and(Window::is_hidden_from_capture);
        let of_layer = || shell.pinned_of(&layer.surface).is_some_and(|pinned| pinned.look().is_kept_out);
        let is_kept_out = || of_window() || of_layer();
        if layer.kept_out || layer.snapshot.is_none() && is_kept_out() {
            let seen =
                layer.target.intersection(screen).into_iter().flat_map(|rect| rect.subtract_rects(above.clone()));
            black.extend(seen);
            black.extend(blurred(scene, depth, layer.target).filter_map(|rect| rect.intersection(screen)));
        }
        above.extend(layer.opaque.iter().map(|rect| Rectangle::new(rect.loc + layer.target.loc, rect.size)));
    }
    let rect = |rect: Rectangle<i32, Physical>| {
        let Rectangle { loc, size } = scene.turn.rect(rect, scene.size);
        PixelRect { x: loc.x, y: loc.y, width: size.w, height: size.h }
    };
    black.into_iter().filter(|rect| !rect.is_empty()).map(rect).collect()
}

/// The areas of blurs above the layer at `depth` that sample pixels of `target`.
fn blurred(
    scene: &Scene,
    depth: usize,
    target: Rectangle<i32, Physical>,
) -> impl Iterator<Item = Rectangle<i32, Physical>> {
    let above = scene.effects.iter().filter(move |effect| effect.depth <= depth);
    above.filter_map(move |effect| {
        let EffectKind::Blur { area, passes } = effect.kind else { return None };
        let reach = (BLUR_REACH << passes.min(16)) as i32;
        let mut reached = target;
        reached.loc -= Point::from((reach, reach));
        reached.size.w += 2 * reach;
        reached.size.h += 2 * reach;
        area.rect.intersection(reached)
    })
}
