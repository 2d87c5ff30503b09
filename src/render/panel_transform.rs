//! Transforms scene coordinates (as the user sees them) to panel coordinates.

use smithay::utils::{Physical, Rectangle, Size, Transform};

use crate::output_transform::OutputTransform;
use crate::scene::{RoundedRect, Scene};

/// The transform of a scene onto its panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelTransform {
    turn: OutputTransform,
    size: Size<i32, Physical>,
}

impl PanelTransform {
    pub fn of(scene: &Scene) -> Self {
        PanelTransform { turn: scene.turn, size: scene.size }
    }

    /// Converts a rectangle of the scene to panel coordinates.
    pub fn rect(self, rect: Rectangle<i32, Physical>) -> Rectangle<i32, Physical> {
        self.turn.rect(rect, self.size)
    }

    /// Converts `part`, relative to an element of size `of`, to panel orientation, relative to the element.
    pub fn part(self, part: Rectangle<i32, Physical>, of: Size<i32, Physical>) -> Rectangle<i32, Physical> {
        self.turn.rect(part, of)
    }

    /// Distance of `rect` from the panel's corner, along the scene's width and along its height.
    pub fn along(self, rect: Rectangle<i32, Physical>) -> (i32, i32) {
        let at = self.rect(rect).loc;
        if self.turn.swaps_sides() { (at.y, at.x) } else { (at.x, at.y) }
    }

    pub fn rounded(self, area: RoundedRect) -> RoundedRect {
        RoundedRect { rect: self.rect(area.rect), ..area }
    }

    /// The transform that a renderer needs for a texture which is itself `turned`.
    pub fn texture(self, turned: OutputTransform) -> Transform {
        self.turn.inverse().then(turned).into()
    }
}
