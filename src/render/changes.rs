//! What looks different in a scene since somebody looked at it last, found without a pixel being read.

use smithay::utils::{Physical, Size};

use super::canvas::Memory;
use super::damage::{Parts, SceneDamage};
use super::to_rects;
use crate::backend::PixelRect;
use crate::scene::Scene;

/// What somebody has seen of a picture that changes.
#[derive(Debug)]
pub struct Changes {
    known: SceneDamage,
    size: Size<i32, Physical>,
    with_cursor: bool,
}

impl Changes {
    /// Nothing was seen yet; the cursor counts, or not.
    pub fn new(with_cursor: bool) -> Self {
        let size = Size::default();
        Changes { known: SceneDamage::of(size), size, with_cursor }
    }

    /// What looks different in `scene`, whatever shows it: all of it where nothing was seen, or it had another size.
    pub fn look(&mut self, scene: &Scene) -> Vec<PixelRect> {
        if self.size != scene.size {
            (self.known, self.size) = (SceneDamage::of(scene.size), scene.size);
        }
        to_rects(&self.known.observe(scene, Parts { cursor: self.with_cursor, planes: true }, 1))
    }

    /// What was seen counts for nothing.
    pub fn forget(&mut self) {
        self.known.forget();
    }
}
