//! Damage of a scene since an observer last looked at it, found without reading pixels.

use smithay::utils::{Physical, Size};

use super::canvas::Memory;
use super::damage::{self, Parts, SceneDamage};
use super::to_rects;
use crate::backend::PixelRect;
use crate::scene::Scene;
use crate::turn::Turn;

/// The last scene that an observer has seen.
#[derive(Debug)]
pub struct Changes {
    known: SceneDamage,
    size: Size<i32, Physical>,
    turn: Turn,
    with_cursor: bool,
}

impl Changes {
    /// Before the first scene. `with_cursor`: whether the cursor counts.
    pub fn new(with_cursor: bool) -> Self {
        let size = Size::default();
        Changes { known: SceneDamage::of(size, Turn::NORMAL), size, turn: Turn::NORMAL, with_cursor }
    }

    /// Damage in panel coordinates, including layers on planes. The whole panel for the first scene, and after a
    /// change of size or transform.
    pub fn look(&mut self, scene: &Scene) -> Vec<PixelRect> {
        if (self.size, self.turn) != (scene.size, scene.turn) {
            (self.size, self.turn) = (scene.size, scene.turn);
            self.known = SceneDamage::of(scene.size, scene.turn);
        }
        let changed = self.known.observe(scene, Parts { cursor: self.with_cursor, planes: true }, 1);
        to_rects(&damage::on_panel(scene, &changed))
    }

    /// Forgets the last scene: the next has full damage.
    pub fn forget(&mut self) {
        self.known.forget();
    }
}
