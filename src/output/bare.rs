//! What of an output is not covered yet while its scene is chosen from above: what lies wholly below something opaque is
//! left out, and where nothing is bare any more nobody looks further down.

use std::sync::Arc;

use smithay::utils::{Physical, Rectangle};

use crate::scene::Scene;

/// What of an output nothing opaque covers yet.
#[derive(Debug)]
pub(super) struct Bare {
    /// Apart from each other.
    rects: Vec<Rectangle<i32, Physical>>,
    screen: Rectangle<i32, Physical>,
    /// Layers and effects of the scene that were looked at.
    layers: usize,
    effects: usize,
}

impl Bare {
    /// All of it is.
    pub fn all(scene: &Scene) -> Self {
        let screen = Rectangle::from_size(scene.size);
        Bare { rects: vec![screen], screen, layers: scene.layers.len(), effects: scene.effects.len() }
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.rects.is_empty()
    }

    /// Whether anything of `rect` would be seen.
    pub fn overlaps(&self, rect: Rectangle<i32, Physical>) -> bool {
        self.rects.iter().any(|bare| bare.overlaps(rect))
    }

    /// Leaves out what of the layers and effects that were added nothing can be seen, and takes account of the others.
    pub fn cover(&mut self, scene: &mut Scene) {
        let mut kept = self.layers;
        for index in self.layers..scene.layers.len() {
            let layer = &mut scene.layers[index];
            if layer.opacity < 1.0 && !layer.opaque.is_empty() {
                Arc::make_mut(&mut layer.shape).opaque.clear();
            }
            if layer.target.is_empty() || !self.overlaps(layer.target) {
                continue;
            }
            let opaque = layer.opaque.iter().map(|rect| Rectangle::new(rect.loc + layer.target.loc, rect.size));
            let rects = std::mem::take(&mut self.rects);
            self.rects = Rectangle::subtract_rects_many_in_place(rects, opaque.filter(|rect| !rect.is_empty()));
            scene.layers.swap(kept, index);
            kept += 1;
        }
        let gone = scene.layers.len() - kept;
        scene.layers.truncate(kept);
        // Effects of a window lie below all of its layers. Those of which nothing is on the output are left out.
        for mut effect in scene.effects.split_off(self.effects) {
            effect.depth -= gone.min(effect.depth);
            if effect.target().overlaps(self.screen) {
                scene.effects.push(effect);
            }
        }
        self.layers = kept;
        self.effects = scene.effects.len();
    }

    /// Takes what was added as it is, but for effects of which nothing is on the output: nothing of it is opaque.
    pub fn keep(&mut self, scene: &mut Scene) {
        let screen = self.screen;
        let after = scene.effects.split_off(self.effects);
        scene.effects.extend(after.into_iter().filter(|effect| effect.target().overlaps(screen)));
        (self.layers, self.effects) = (scene.layers.len(), scene.effects.len());
    }
}
