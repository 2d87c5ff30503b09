//! What is drawn between surfaces and is none: panels, pictures, shadows, blurs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use smithay::backend::renderer::element::Id;
use smithay::utils::{Physical, Point, Rectangle};

use crate::backend::PixelBuffer;

/// A rectangle with rounded corners, relative to the output, in physical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rounded {
    /// The rectangle.
    pub rect: Rectangle<i32, Physical>,
    /// The radius of its corners.
    pub radius: i32,
}

impl Rounded {
    /// How far the centre of pixel (x, y) is outside of it, in pixels; negative inside.
    pub fn distance(&self, x: i32, y: i32) -> f32 {
        // From the middle of the rectangle to the pixel's, folded into one quarter.
        let half = |start: i32, length: i32, at: i32| {
            let middle = start as f32 + length as f32 / 2.0;
            (at as f32 + 0.5 - middle).abs() - length as f32 / 2.0
        };
        let radius = self.radius as f32;
        let (across, down) = (half(self.rect.loc.x, self.rect.size.w, x), half(self.rect.loc.y, self.rect.size.h, y));
        let (across, down) = (across + radius, down + radius);
        across.max(0.0).hypot(down.max(0.0)) + across.max(down).min(0.0) - radius
    }

    /// Which share of pixel (x, y) lies inside: 0 to 1.
    pub fn coverage(&self, x: i32, y: i32) -> f32 {
        (0.5 - self.distance(x, y)).clamp(0.0, 1.0)
    }

    /// The four squares in which it differs from its rectangle.
    pub fn corners(&self) -> [Rectangle<i32, Physical>; 4] {
        let (rect, side) = (self.rect, self.radius.min(self.rect.size.w).min(self.rect.size.h).max(0));
        let (right, bottom) = (rect.loc.x + rect.size.w - side, rect.loc.y + rect.size.h - side);
        [(rect.loc.x, rect.loc.y), (right, rect.loc.y), (rect.loc.x, bottom), (right, bottom)]
            .map(|corner| Rectangle::new(corner.into(), (side, side).into()))
    }
}

/// Something that is drawn between surfaces and is none.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Its name for damage tracking.
    pub id: Id,
    /// How many layers lie above it.
    pub depth: usize,
    /// How much of it is seen: 0 to 1.
    pub opacity: f32,
    /// What it is.
    pub kind: EffectKind,
}

/// A picture that the compositor made, premultiplied `ARGB8888`.
#[derive(Clone, Debug)]
pub struct Picture {
    image: Arc<PixelBuffer>,
    /// Every picture has another.
    number: usize,
}

impl Picture {
    /// Takes these pixels.
    pub fn new(image: PixelBuffer) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        Picture { image: Arc::new(image), number: LAST.fetch_add(1, Ordering::Relaxed) }
    }

    /// Its pixels.
    pub fn image(&self) -> &Arc<PixelBuffer> {
        &self.image
    }

    /// What no other picture is called.
    pub const fn number(&self) -> usize {
        self.number
    }
}

impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// What is drawn below or above windows.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectKind {
    /// A plain panel.
    Colour {
        /// Where.
        area: Rounded,
        /// What of it stays free, relative to it; nothing if this is empty. Where it has round corners they are those of the
        /// area, nearer to the same middle.
        hole: Rounded,
        /// Red, green, blue, alpha, 0 to 1, not premultiplied.
        colour: [f32; 4],
    },
    /// A picture, as large as it is.
    Picture {
        /// Where.
        rect: Rectangle<i32, Physical>,
        /// Its pixels.
        picture: Picture,
    },
    /// A shadow around it, and nothing within it.
    Shadow {
        /// What casts it.
        window: Rounded,
        /// How far it reaches, in physical pixels.
        reach: i32,
    },
    /// What lies below it, blurred.
    Blur {
        /// Where.
        area: Rounded,
        /// How often it is halved and doubled in size again.
        passes: u8,
    },
}

impl Effect {
    /// What it covers, relative to the output.
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

    /// Whether both look the same, however many layers lie above them.
    pub fn is_like(&self, other: &Effect) -> bool {
        self.id == other.id && self.opacity == other.opacity && self.kind == other.kind
    }

    /// Whether both look the same.
    pub(super) fn looks_like(&self, other: &Effect) -> bool {
        self.depth == other.depth && self.is_like(other)
    }
}
