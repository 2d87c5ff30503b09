//! Damage of a scene since an observer last looked at it, found without reading pixels.

use smithay::utils::{Physical, Size};

use super::canvas::FrameTracker;
use super::damage::{self, ComparedParts, SceneDamage};
use super::to_rects;
use crate::backend::PixelRect;
use crate::output_transform::OutputTransform;
use crate::scene::Scene;

/// The last scene that an observer has seen.
#[derive(Debug)]
pub struct SceneChanges {
    known: SceneDamage,
    size: Size<i32, Physical>,
    turn: OutputTransform,
    with_cursor: bool,
}

impl SceneChanges {
    /// Before the first scene. `with_cursor`: whether the cursor counts.
    pub fn new(with_cursor: bool) -> Self {
        let size = Size::default();
        SceneChanges {
            known: SceneDamage::of(size, OutputTransform::NORMAL),
            size,
            turn: OutputTransform::NORMAL,
            with_cursor,
        }
    }

    /// Damage in panel coordinates, including layers on planes. The whole panel for the first scene, and after a
    /// change of size or transform.
    pub fn damage_of(&mut self, scene: &Scene) -> Vec<PixelRect> {
        if (self.size, self.turn) != (scene.size, scene.turn) {
            (self.size, self.turn) = (scene.size, scene.turn);
            self.known = SceneDamage::of(scene.size, scene.turn);
        }
        let changed = self.known.observe(scene, ComparedParts { cursor: self.with_cursor, planes: true }, 1);
        to_rects(&damage::on_panel(scene, &changed))
    }

    /// Forgets the last scene: the next has full damage.
    pub fn forget(&mut self) {
        self.known.forget();
    }
}
