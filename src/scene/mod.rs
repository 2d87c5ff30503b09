//! What a latch chose to show: owned and immutable from then on.
//!
//! A scene holds references to buffers and no textures, so that whoever draws it (this thread, or the render
//! thread) needs nothing else. Once it is drawn into memory its buffers are let go; what stays, for as long as it is on
//! screen, says what lies where.

mod effect;
mod pointer;

use std::sync::Arc;

use smithay::backend::renderer::element::Id;
use smithay::backend::renderer::utils::{Buffer, CommitCounter, DamageSnapshot};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Logical, Physical, Point, Rectangle, Size, Transform};

use crate::backend::{CursorPlane, PixelBuffer};
use crate::turn::Turn;
pub use effect::{Effect, EffectKind, Picture, Rounded};
pub use pointer::{CursorImage, CursorView};

/// Which plane shows a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnPlane {
    /// The primary one, all of it.
    Primary,
    /// An overlay.
    Overlay,
}

/// One surface of a scene: where and how it is shown, which many scenes share, and what it shows.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Where and how.
    pub shape: Arc<Shape>,
    /// The content; `None` after the scene was drawn.
    pub buffer: Option<Buffer>,
    /// What changed with which commit.
    pub damage: DamageSnapshot<i32, BufferCoords>,
    /// The plane that shows it; it is not composed then.
    pub plane: Option<OnPlane>,
}

/// Rectangles in surface coordinates, each with its name.
pub type Blurred = Arc<[(Id, Rectangle<i32, Logical>)]>;

/// Where and how a surface is shown. Physical coordinates are relative to the output.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its name for damage tracking.
    pub id: Id,
    /// Whose content.
    pub surface: WlSurface,
    /// The buffer's size in its own pixels.
    pub buffer_size: Size<i32, BufferCoords>,
    /// `wl_surface.set_buffer_scale`.
    pub buffer_scale: i32,
    /// `wl_surface.set_buffer_transform`.
    pub buffer_transform: Transform,
    /// What of the content is shown, in surface coordinates before scaling.
    pub source: Rectangle<f64, Logical>,
    /// The same, if nothing were cut away.
    pub whole: Rectangle<f64, Logical>,
    /// What a view leaves of it (global logical coordinates).
    pub crop: Option<Rectangle<f64, Logical>>,
    /// How large the surface is (logical coordinates).
    pub size: Size<i32, Logical>,
    /// What of the content is opaque, in surface coordinates.
    pub solid: Vec<Rectangle<i32, Logical>>,
    /// Where.
    pub target: Rectangle<i32, Physical>,
    /// What of it is opaque, relative to `target`.
    pub opaque: Vec<Rectangle<i32, Physical>>,
    /// Where the surface's origin is (global logical coordinates).
    pub origin: Point<f64, Logical>,
    /// How much larger it is shown than its client drew it: an interactive resize that is ahead of it, or an animation.
    pub stretch: (f64, f64),
    /// How much of it is seen of what it is: 0 to 1.
    pub opacity: f32,
    /// What of that its client says.
    pub own_opacity: f32,
    /// Where its client wants the background behind it blurred, in surface coordinates, each with its name.
    pub blurred: Option<Blurred>,
    /// The rectangle with rounded corners that it is cut to where it lies in one of them.
    pub clip: Option<Rounded>,
    /// Set where it is the last that is seen of a window that is gone; it takes no input.
    pub snapshot: Option<Snapshot>,
    /// It is black in pictures of the screen.
    pub kept_out: bool,
}

impl Shape {
    /// Cuts away what lies outside of `crop`, and of the source what it showed. `None`: nothing is left.
    pub fn cut(&mut self, crop: Rectangle<i32, Physical>) -> Option<()> {
        let left = self.target.intersection(crop).filter(|left| !left.is_empty())?;
        if left == self.target {
            return Some(());
        }
        let (target, moved) = (self.target, left.loc - self.target.loc);
        let scale = |length: i32, source: f64, target: i32| f64::from(length) * source / f64::from(target);
        self.source = Rectangle::new(
            self.source.loc
                + Point::from((
                    scale(moved.x, self.source.size.w, target.size.w),
                    scale(moved.y, self.source.size.h, target.size.h),
                )),
            Size::from((
                scale(left.size.w, self.source.size.w, target.size.w),
                scale(left.size.h, self.source.size.h, target.size.h),
            )),
        );
        let inside = Rectangle::from_size(left.size);
        self.opaque = self
            .opaque
            .iter()
            .filter_map(|rect| Rectangle::new(rect.loc - moved, rect.size).intersection(inside))
            .collect();
        self.target = left;
        Some(())
    }

    /// Whether the same content looks the same in both.
    pub fn looks_like(&self, other: &Shape) -> bool {
        self.id == other.id
            && self.target == other.target
            && self.source == other.source
            && self.opaque == other.opaque
            && self.buffer_transform == other.buffer_transform
            && self.buffer_scale == other.buffer_scale
            && self.opacity == other.opacity
            && self.clip == other.clip
            && self.kept_out == other.kept_out
    }
}

impl std::ops::Deref for Layer {
    type Target = Shape;

    fn deref(&self) -> &Shape {
        &self.shape
    }
}

impl Layer {
    /// Which commit it shows.
    pub fn commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }

    fn looks_like(&self, other: &Layer) -> bool {
        self.commit() == other.commit()
            && (Arc::ptr_eq(&self.shape, &other.shape) || self.shape.looks_like(&other.shape))
    }

    /// `point` (global logical coordinates) in surface coordinates.
    pub fn to_surface(&self, point: Point<f64, Logical>) -> Point<f64, Logical> {
        let relative = point - self.origin;
        Point::from((relative.x / self.stretch.0, relative.y / self.stretch.1))
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
    /// The same pixels, turned as the output is.
    pub turned: Arc<PixelBuffer>,
}

impl CursorLayer {
    /// The same as a plane of its own, on a panel onto which a scene of `size` is turned.
    pub fn plane(&self, turn: Turn, size: Size<i32, Physical>) -> CursorPlane {
        let image = Size::from((self.image.width, self.image.height));
        let Point { x, y, .. } = turn.rect(Rectangle::new(self.position, image), size).loc;
        CursorPlane { x, y, image: self.turned.clone() }
    }
}

impl PartialEq for CursorLayer {
    fn eq(&self, other: &Self) -> bool {
        self.position == other.position && Arc::ptr_eq(&self.image, &other.image)
    }
}

/// What one output shows.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The output's size in physical pixels, as it is seen.
    pub size: Size<i32, Physical>,
    /// How it lies on the panel. Everything in the scene is as it is seen; who draws it turns it.
    pub turn: Turn,
    /// What lies behind everything: red, green, blue.
    pub background: [f32; 3],
    /// Surfaces, topmost first.
    pub layers: Vec<Layer>,
    /// What is drawn between them, topmost first.
    pub effects: Vec<Effect>,
    /// The cursor, if it is on this output.
    pub cursor: Option<CursorLayer>,
    /// A part of it is being picked for a screenshot: the rest is dimmed.
    pub picks_region: bool,
    /// It shows the session's lock, and nothing of anybody else.
    pub locked: bool,
}

impl Scene {
    /// The panel's size in physical pixels.
    pub fn panel_size(&self) -> Size<i32, Physical> {
        self.turn.size(self.size)
    }

    /// The cursor as a plane of its own.
    pub fn cursor_plane(&self) -> Option<CursorPlane> {
        Some(self.cursor.as_ref()?.plane(self.turn, self.size))
    }

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
            && self.turn == other.turn
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

    /// Whether drawing this instead of `other` would give the same picture, the cursor left aside. A picture of the lock is
    /// another one, whatever it looks like: somebody waits for it to be seen.
    pub fn looks_like(&self, other: &Scene) -> bool {
        self.locked == other.locked
            && self.size == other.size
            && self.turn == other.turn
            && self.background == other.background
            && self.layers.len() == other.layers.len()
            && self.effects.len() == other.effects.len()
            && self.effects.iter().zip(&other.effects).all(|(a, b)| a.looks_like(b))
            && self.layers.iter().zip(&other.layers).all(|(a, b)| a.looks_like(b))
    }
}
