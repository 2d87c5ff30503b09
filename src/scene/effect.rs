//! Effects: panels, pictures, shadows and blurs that are drawn between the surfaces of a scene.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use smithay::backend::renderer::element::Id;
use smithay::utils::{Physical, Point, Rectangle};

use crate::backend::PixelBuffer;

/// A rectangle with rounded corners, relative to the output, in physical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundedRect {
    pub rect: Rectangle<i32, Physical>,
    /// The radius of its corners.
    pub radius: i32,
}

impl RoundedRect {
    /// Signed distance of the centre of pixel (x, y) from its edge, in pixels; negative inside.
    pub fn distance(&self, x: i32, y: i32) -> f32 {
        // Distance from the middle of the rectangle to the pixel's centre, folded into one quadrant.
        let half = |start: i32, length: i32, at: i32| {
            let middle = start as f32 + length as f32 / 2.0;
            (at as f32 + 0.5 - middle).abs() - length as f32 / 2.0
        };
        let radius = self.radius as f32;
        let (across, down) = (half(self.rect.loc.x, self.rect.size.w, x), half(self.rect.loc.y, self.rect.size.h, y));
        let (across, down) = (across + radius, down + radius);
        across.max(0.0).hypot(down.max(0.0)) + across.max(down).min(0.0) - radius
    }

    /// Share of pixel (x, y) that lies inside: 0 to 1.
    pub fn coverage(&self, x: i32, y: i32) -> f32 {
        (0.5 - self.distance(x, y)).clamp(0.0, 1.0)
    }

    /// The four squares that contain its rounded corners.
    pub fn corners(&self) -> [Rectangle<i32, Physical>; 4] {
        let (rect, side) = (self.rect, self.radius.min(self.rect.size.w).min(self.rect.size.h).max(0));
        let (right, bottom) = (rect.loc.x + rect.size.w - side, rect.loc.y + rect.size.h - side);
        [(rect.loc.x, rect.loc.y), (right, rect.loc.y), (rect.loc.x, bottom), (right, bottom)]
            .map(|corner| Rectangle::new(corner.into(), (side, side).into()))
    }
}

/// A graphical element that is not a surface.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Id for damage tracking.
    pub id: Id,
    /// Number of layers above it.
    pub depth: usize,
    /// Opacity: 0 to 1.
    pub opacity: f32,
    pub kind: EffectKind,
}

/// A picture that the compositor drew, premultiplied `ARGB8888`.
#[derive(Clone, Debug)]
pub struct EffectPicture {
    image: Arc<PixelBuffer>,
    /// Unique number, for caches of textures.
    number: usize,
}

impl EffectPicture {
    pub fn new(image: PixelBuffer) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        EffectPicture { image: Arc::new(image), number: LAST.fetch_add(1, Ordering::Relaxed) }
    }

    pub fn image(&self) -> &Arc<PixelBuffer> {
        &self.image
    }

    /// Unique number of the picture.
    pub const fn number(&self) -> usize {
        self.number
    }
}

impl PartialEq for EffectPicture {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// The kind of an effect, with its geometry.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectKind {
    /// A panel of one colour.
    Colour {
        area: RoundedRect,
        /// The part that is left free, relative to the area; may be empty. Its rounded corners must be
        /// concentric with those of the area.
        hole: RoundedRect,
        /// Red, green, blue, alpha, 0 to 1, not premultiplied.
        colour: [f32; 4],
    },
    /// A picture at its own size.
    Picture { rect: Rectangle<i32, Physical>, picture: EffectPicture },
    /// A shadow around a window; nothing is drawn within the window.
    Shadow {
        /// The rectangle that casts the shadow.
        window: RoundedRect,
        /// How far it reaches, in physical pixels.
        reach: i32,
    },
    /// The layers below, blurred.
    Blur {
        area: RoundedRect,
        /// How often the picture is halved in size and doubled again.
        passes: u8,
    },
}

impl Effect {
    /// The rectangle that it covers, relative to the output.
    pub fn target(&self) -> Rectangle<i32, Physical> {
        match self.kind {
            EffectKind::Blur { area, .. } | EffectKind::Colour { area, .. } => area.rect,
            EffectKind::Picture { rect, .. } => rect,
            EffectKind::Shadow { window, reach } => {
                let size = (window.rect.size.w + 2 * reach, window.rect.size.h + 2 * reach);
                Rectangle::new(window.rect.loc - Point::from((reach, reach)), size.into())
            }
        }
    }

    /// Whether both look the same, whatever their depth.
    pub fn is_like(&self, other: &Effect) -> bool {
        self.id == other.id && self.opacity == other.opacity && self.kind == other.kind
    }

    /// Whether both look the same at the same depth.
    pub(super) fn looks_like(&self, other: &Effect) -> bool {
        self.depth == other.depth && self.is_like(other)
    }
}
