//! The scene of an output: the content chosen by a latch, owned and immutable from then on.
//!
//! A scene holds references to buffers but no textures, so that any renderer, on this thread or the render thread,
//! needs nothing else. Once it is drawn, its client buffers are released. The geometry stays as long as the scene is on
//! screen.

mod effect;
mod pointer;

use std::sync::Arc;

use smithay::backend::renderer::element::Id;
use smithay::backend::renderer::utils::{Buffer, CommitCounter, DamageSnapshot};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Logical, Physical, Point, Rectangle, Size, Transform};

use crate::backend::{CursorPlane, PixelBuffer};
use crate::output_transform::OutputTransform;
pub use effect::{Effect, EffectKind, EffectPicture, RoundedRect};
pub use pointer::{CursorImage, CursorView};

/// The plane that shows a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnPlane {
    /// The primary plane, which then shows nothing else.
    Primary,
    Overlay,
}

/// A surface in a scene: its geometry, which many scenes share, and its content.
#[derive(Clone, Debug)]
pub struct Layer {
    pub shape: Arc<LayerShape>,
    /// The content; `None` after the scene was drawn.
    pub buffer: Option<Buffer>,
    /// Damage of the surface, by commit.
    pub damage: DamageSnapshot<i32, BufferCoords>,
    /// The plane that shows it; if set, the layer is not composed.
    pub plane: Option<OnPlane>,
}

/// Blurred rectangles in surface coordinates, each with its id for damage tracking.
pub type BlurredRects = Arc<[(Id, Rectangle<i32, Logical>)]>;

/// Geometry and look of a surface. Physical coordinates are relative to the output.
#[derive(Clone, Debug)]
pub struct LayerShape {
    /// Id for damage tracking.
    pub id: Id,
    pub surface: WlSurface,
    /// The buffer's size in its own pixels.
    pub buffer_size: Size<i32, BufferCoords>,
    /// From `wl_surface.set_buffer_scale`.
    pub buffer_scale: i32,
    /// From `wl_surface.set_buffer_transform`.
    pub buffer_transform: Transform,
    /// The visible part of the content, in surface coordinates before scaling.
    pub source: Rectangle<f64, Logical>,
    /// The same without `crop`.
    pub whole: Rectangle<f64, Logical>,
    /// The visible part within a scroll view (global logical coordinates).
    pub crop: Option<Rectangle<f64, Logical>>,
    /// Size of the surface (logical coordinates).
    pub size: Size<i32, Logical>,
    /// Opaque region of the content, in surface coordinates.
    pub solid: Vec<Rectangle<i32, Logical>>,
    /// The visible rectangle on the output.
    pub target: Rectangle<i32, Physical>,
    /// Opaque part of `target`, relative to it.
    pub opaque: Vec<Rectangle<i32, Physical>>,
    /// The surface's origin (global logical coordinates).
    pub origin: Point<f64, Logical>,
    /// Scale relative to the client's drawing, during an animation or while an interactive resize is ahead of the
    /// client.
    pub stretch: (f64, f64),
    /// Total opacity: 0 to 1.
    pub opacity: f32,
    /// The client's share of the opacity.
    pub own_opacity: f32,
    /// Rectangles in which the client requests a blurred background, in surface coordinates, each with its id.
    pub blurred: Option<BlurredRects>,
    /// The rounded rectangle that it is clipped to; `None` if no corner of the rectangle overlaps the layer.
    pub clip: Option<RoundedRect>,
    /// Set for the last content of a closed window; such a layer takes no input.
    pub snapshot: Option<Snapshot>,
    /// It appears black in captures.
    pub kept_out: bool,
}

impl LayerShape {
    /// Crops the target to `crop`, and the source accordingly. `None`: no part is left.
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

    /// Whether the same content would look the same in both.
    pub fn looks_like(&self, other: &LayerShape) -> bool {
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
    type Target = LayerShape;

    fn deref(&self) -> &LayerShape {
        &self.shape
    }
}

impl Layer {
    /// The commit of its content.
    pub fn commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }

    fn looks_like(&self, other: &Layer) -> bool {
        self.commit() == other.commit()
            && (Arc::ptr_eq(&self.shape, &other.shape) || self.shape.looks_like(&other.shape))
    }

    /// Converts `point` from global logical to surface coordinates.
    pub fn to_surface(&self, point: Point<f64, Logical>) -> Point<f64, Logical> {
        let relative = point - self.origin;
        Point::from((relative.x / self.stretch.0, relative.y / self.stretch.1))
    }
}

/// Identifies the last content of a closed window, as long as any scene shows it.
#[derive(Clone, Debug, Default)]
pub struct Snapshot(pub Arc<()>);

/// The cursor of a scene.
#[derive(Clone, Debug)]
pub struct CursorLayer {
    /// Its pixels, premultiplied `ARGB8888`.
    pub image: Arc<PixelBuffer>,
    /// Its top left corner, relative to the output.
    pub position: Point<i32, Physical>,
    /// The image transformed for the panel.
    pub turned: Arc<PixelBuffer>,
}

impl CursorLayer {
    /// The cursor for a cursor plane, on a panel onto which a scene of `size` is transformed by `turn`.
    pub fn plane(&self, turn: OutputTransform, size: Size<i32, Physical>) -> CursorPlane {
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

/// The content of one output.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The output's size in physical pixels, as the user sees it.
    pub size: Size<i32, Physical>,
    /// The transform onto the panel. All coordinates of the scene are before it; the renderer applies it.
    pub turn: OutputTransform,
    /// Background colour: red, green, blue.
    pub background: [f32; 3],
    /// Topmost first.
    pub layers: Vec<Layer>,
    /// Topmost first.
    pub effects: Vec<Effect>,
    /// The cursor, if it is on this output.
    pub cursor: Option<CursorLayer>,
    /// The user is selecting a region for a screenshot: the rest is dimmed.
    pub picks_region: bool,
    /// It shows only the session lock.
    pub locked: bool,
}

impl Scene {
    /// The panel's size in physical pixels.
    pub fn panel_size(&self) -> Size<i32, Physical> {
        self.turn.size(self.size)
    }

    /// The cursor for a cursor plane.
    pub fn cursor_plane(&self) -> Option<CursorPlane> {
        Some(self.cursor.as_ref()?.plane(self.turn, self.size))
    }

    /// Releases the client buffers.
    pub fn release_buffers(&mut self) {
        for layer in &mut self.layers {
            layer.buffer = None;
        }
    }

    /// Whether the primary plane scans out a client's buffer directly.
    pub fn is_direct(&self) -> bool {
        self.layers.iter().any(|layer| layer.plane == Some(OnPlane::Primary))
    }

    /// Whether the composed picture equals that of `other`, regardless of the cursor and of layers on planes.
    pub fn composes_like(&self, other: &Scene) -> bool {
        let mut others = other.composed_layers();
        self.size == other.size
            && self.turn == other.turn
            && self.background == other.background
            && self.effects.len() == other.effects.len()
            && self.effects.iter().zip(&other.effects).all(|(a, b)| a.looks_like(b))
            && self.composed_layers().all(|layer| others.next().is_some_and(|other| layer.looks_like(other)))
            && others.next().is_none()
    }

    /// Layers that are on no plane, topmost first.
    pub fn composed_layers(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.plane.is_none())
    }

    /// Whether this scene would draw the same picture as `other`, regardless of the cursor. A locked scene never
    /// equals an unlocked scene, because the lock client waits for its presentation.
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
