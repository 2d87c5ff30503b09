//! Where a scene, which is as it is seen, lies on its panel, and what that makes of the parts of it.

use smithay::utils::{Physical, Rectangle, Size, Transform};

use crate::scene::{Rounded, Scene};
use crate::turn::Turn;

/// How a scene lies on its panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lie {
    turn: Turn,
    size: Size<i32, Physical>,
}

impl Lie {
    pub fn of(scene: &Scene) -> Self {
        Lie { turn: scene.turn, size: scene.size }
    }

    /// `rect` of the scene on the panel.
    pub fn rect(self, rect: Rectangle<i32, Physical>) -> Rectangle<i32, Physical> {
        self.turn.rect(rect, self.size)
    }

    /// `part` of something of size `of`, on the panel relative to that.
    pub fn part(self, part: Rectangle<i32, Physical>, of: Size<i32, Physical>) -> Rectangle<i32, Physical> {
        self.turn.rect(part, of)
    }

    /// How far from the panel's corner `rect` begins: along what is its width in the scene, and along its height.
    pub fn along(self, rect: Rectangle<i32, Physical>) -> (i32, i32) {
        let at = self.rect(rect).loc;
        if self.turn.swaps_sides() { (at.y, at.x) } else { (at.x, at.y) }
    }

    pub fn rounded(self, area: Rounded) -> Rounded {
        Rounded { rect: self.rect(area.rect), ..area }
    }

    /// How the pixels of something that was `turned` itself lie on the panel, as renderers are told of a texture.
    pub fn texture(self, turned: Turn) -> Transform {
        self.turn.inverse().then(turned).into()
    }
}
