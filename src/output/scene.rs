//! What a latch chose to show: owned and immutable from then on.
//!
//! A scene holds references to buffers and no textures, so that whoever draws it (this thread, or the render
//! thread) needs nothing else. Once it is drawn into memory its buffers are let go; what stays, for as long as it is on
//! screen, says what lies where.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use smithay::backend::renderer::element::Id;
use smithay::backend::renderer::utils::{Buffer, CommitCounter, DamageSnapshot, OpaqueRegions};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Logical, Physical, Point, Rectangle, Size, Transform};

use super::planes::OnPlane;
use crate::backend::{CursorPlane, PixelBuffer};

/// One surface of a scene. Physical coordinates are relative to the output.
#[derive(Debug)]
pub struct Layer {
    /// Its name for damage tracking.
    pub id: Id,
    /// Whose content.
    pub surface: WlSurface,
    /// The content; `None` after the scene was drawn.
    pub buffer: Option<Buffer>,
    /// The buffer's size in its own pixels.
    pub buffer_size: Size<i32, BufferCoords>,
    /// `wl_surface.set_buffer_scale`.
    pub buffer_scale: i32,
    /// `wl_surface.set_buffer_transform`.
    pub buffer_transform: Transform,
    /// What of the content is shown, in surface coordinates before scaling.
    pub source: Rectangle<f64, Logical>,
    /// Where.
    pub target: Rectangle<i32, Physical>,
    /// What of it is opaque, relative to `target`.
    pub opaque: OpaqueRegions<i32, Physical>,
    /// What changed with which commit.
    pub damage: DamageSnapshot<i32, BufferCoords>,
    /// Where the surface's origin is (global logical coordinates).
    pub origin: Point<f64, Logical>,
    /// How much larger it is shown than its client drew it: an interactive resize that is ahead of it, or an animation.
    pub stretch: (f64, f64),
    /// How much of it is seen of what it is: 0 to 1.
    pub opacity: f32,
    /// The rectangle with rounded corners that it is cut to where it lies in one of them.
    pub clip: Option<Rounded>,
    /// Set where it is the last that is seen of a window that is gone; it takes no input.
    pub snapshot: Option<Snapshot>,
    /// Nothing of it can be seen.
    pub covered: bool,
    /// The plane that shows it; it is not composed then.
    pub plane: Option<OnPlane>,
}

impl Layer {
    /// Which commit it shows.
    pub fn commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }

    fn looks_like(&self, other: &Layer) -> bool {
        self.id == other.id
            && self.commit() == other.commit()
            && self.target == other.target
            && self.source == other.source
            && self.opacity == other.opacity
            && self.clip == other.clip
    }

    /// `point` (global logical coordinates) in surface coordinates.
    pub fn to_surface(&self, point: Point<f64, Logical>) -> Point<f64, Logical> {
        let relative = point - self.origin;
        Point::from((relative.x / self.stretch.0, relative.y / self.stretch.1))
    }
}

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
        /// What of it stays free, relative to it; nothing if this is empty.
        hole: Rectangle<i32, Physical>,
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

    fn looks_like(&self, other: &Effect) -> bool {
        self.id == other.id && self.depth == other.depth && self.opacity == other.opacity && self.kind == other.kind
    }
}

/// Names the content of a window that is gone, for as long as somebody shows it.
#[derive(Clone, Debug, Default)]
pub struct Snapshot(pub Arc<()>);

/// The cursor of a scene.
#[derive(Clone, Debug)]
pub struct CursorLayer {
    /// Its pixels, premultiplied `ARGB8888`.
    pub image: Arc<PixelBuffer>,
    /// Where its top left corner is, relative to the output.
    pub position: Point<i32, Physical>,
}

impl CursorLayer {
    /// The same as a plane of its own.
    pub(super) fn plane(&self) -> CursorPlane {
        CursorPlane { x: self.position.x, y: self.position.y, image: self.image.clone() }
    }
}

impl PartialEq for CursorLayer {
    fn eq(&self, other: &Self) -> bool {
        self.position == other.position && Arc::ptr_eq(&self.image, &other.image)
    }
}

/// What one output shows.
#[derive(Debug, Default)]
pub struct Scene {
    /// The output's size in physical pixels.
    pub size: Size<i32, Physical>,
    /// What lies behind everything: red, green, blue.
    pub background: [f32; 3],
    /// Surfaces, topmost first.
    pub layers: Vec<Layer>,
    /// What is drawn between them, topmost first.
    pub effects: Vec<Effect>,
    /// The cursor, if it is on this output.
    pub cursor: Option<CursorLayer>,
}

impl Scene {
    /// Lets the clients' buffers go.
    pub fn release_buffers(&mut self) {
        for layer in &mut self.layers {
            layer.buffer = None;
        }
    }

    /// Whether one client's buffer is all that the primary plane shows.
    pub fn is_direct(&self) -> bool {
        self.layers.iter().any(|layer| layer.plane == Some(OnPlane::Primary))
    }

    /// Whether the composed picture is the same as that of `other`: what planes show, and the cursor, left aside.
    pub fn composes_like(&self, other: &Scene) -> bool {
        let composed = |scene: &Scene| scene.layers.iter().filter(|layer| layer.plane.is_none()).count();
        let layers = |scene| Scene::composed_layers(scene);
        self.size == other.size
            && self.background == other.background
            && composed(self) == composed(other)
            && self.effects.len() == other.effects.len()
            && self.effects.iter().zip(&other.effects).all(|(a, b)| a.looks_like(b))
            && layers(self).zip(layers(other)).all(|(a, b)| a.looks_like(b))
    }

    /// Layers that no plane shows, topmost first.
    pub fn composed_layers(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.plane.is_none())
    }

    /// Whether drawing this instead of `other` would give the same picture, the cursor left aside.
    pub fn looks_like(&self, other: &Scene) -> bool {
        self.size == other.size
            && self.background == other.background
            && self.layers.len() == other.layers.len()
            && self.effects.len() == other.effects.len()
            && self.effects.iter().zip(&other.effects).all(|(a, b)| a.looks_like(b))
            && self.layers.iter().zip(&other.layers).all(|(a, b)| a.looks_like(b))
    }
}
