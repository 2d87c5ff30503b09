//! What a latch chose to show: owned and immutable from then on.
//!
//! A scene holds references to buffers and no textures, so that whoever draws it (this thread now, a render thread
//! later) needs nothing else. Once it is drawn into memory its buffers are let go; what stays, for as long as it is on
//! screen, says what lies where.

use std::sync::Arc;

use smithay::backend::renderer::element::Id;
use smithay::backend::renderer::utils::{Buffer, CommitCounter, DamageSnapshot, OpaqueRegions};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Logical, Physical, Point, Rectangle, Size, Transform};

use crate::backend::PixelBuffer;

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
    /// How much larger it is shown than its client drew it: an interactive resize that is ahead of it.
    pub stretch: (f64, f64),
    /// Nothing of it can be seen.
    pub covered: bool,
}

impl Layer {
    /// Which commit it shows.
    pub fn commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }

    /// `point` (global logical coordinates) in surface coordinates.
    pub fn to_surface(&self, point: Point<f64, Logical>) -> Point<f64, Logical> {
        let relative = point - self.origin;
        Point::from((relative.x / self.stretch.0, relative.y / self.stretch.1))
    }
}

/// The cursor of a scene.
#[derive(Clone, Debug)]
pub struct CursorLayer {
    /// Its pixels, premultiplied `ARGB8888`.
    pub image: Arc<PixelBuffer>,
    /// Where its top left corner is, relative to the output.
    pub position: Point<i32, Physical>,
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

    /// Whether drawing this instead of `other` would give the same picture, the cursor left aside.
    pub fn looks_like(&self, other: &Scene) -> bool {
        self.size == other.size
            && self.background == other.background
            && self.layers.len() == other.layers.len()
            && self
                .layers
                .iter()
                .zip(&other.layers)
                .all(|(a, b)| a.id == b.id && a.commit() == b.commit() && a.target == b.target && a.source == b.source)
    }
}
