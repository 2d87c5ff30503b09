//! What looks different in a scene since somebody looked at it last, found without a pixel being read.

use smithay::utils::{Physical, Size};

use super::canvas::Memory;
use super::damage::{self, Parts, SceneDamage};
use super::to_rects;
use crate::backend::PixelRect;
use crate::scene::Scene;
use crate::turn::Turn;

/// What somebody has seen of a picture that changes.
#[derive(Debug)]
pub struct Changes {
    known: SceneDamage,
    size: Size<i32, Physical>,
    turn: Turn,
    with_cursor: bool,
}

impl Changes {
    /// Nothing was seen yet; the cursor counts, or not.
    pub fn new(with_cursor: bool) -> Self {
        let size = Size::default();
        Changes { known: SceneDamage::of(size, Turn::NORMAL), size, turn: Turn::NORMAL, with_cursor }
    }

    /// What looks different on the panel of `scene`, whatever shows it: all of it where nothing was seen, or it had another
    /// size or was turned otherwise.
    pub fn look(&mut self, scene: &Scene) -> Vec<PixelRect> {
        if (self.size, self.turn) != (scene.size, scene.turn) {
            (self.size, self.turn) = (scene.size, scene.turn);
            self.known = SceneDamage::of(scene.size, scene.turn);
        }
        let changed = self.known.observe(scene, Parts { cursor: self.with_cursor, planes: true }, 1);
        to_rects(&damage::on_panel(scene, &changed))
    }

    /// What was seen counts for nothing.
    pub fn forget(&mut self) {
        self.known.forget();
    }
}
