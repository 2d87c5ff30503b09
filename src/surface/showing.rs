//! What a surface shows by its applied state: its buffer, how that is cut and scaled, what of it is opaque and what changed.
//!
//! Smithay 0.7 keeps the same, but walks all that hangs on a surface for each of its commits: a client with a thousand
//! subsurfaces would have all of them looked at a hundred times in one turn. Here each surface is looked at when an update of
//! its own is applied.

use std::sync::{Mutex, MutexGuard, PoisonError};

use smithay::backend::renderer::utils::{Buffer, CommitCounter, DamageBag, DamageSet, DamageSnapshot};
use smithay::backend::renderer::{buffer_dimensions, buffer_has_alpha};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Logical, Point, Rectangle, Scale, Size, Transform};
use smithay::wayland::compositor::{
    self, BufferAssignment, Damage, RectangleKind, RegionAttributes, SurfaceAttributes, SurfaceData,
};
use smithay::wayland::drm_syncobj::DrmSyncobjCachedState;
use smithay::wayland::viewporter::{ViewportCachedState, ensure_viewport_valid};

use crate::guard;
use crate::state::State;
use crate::turn::Turn;

/// What of a buffer is shown, and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// In surface coordinates before scaling.
    pub source: Rectangle<f64, Logical>,
    /// How large that is shown.
    pub size: Size<i32, Logical>,
}

impl Cut {
    fn of(states: &SurfaceData, whole: Size<i32, Logical>) -> Self {
        let viewport = *states.cached_state.get::<ViewportCachedState>().current();
        // Smithay 0.7 leaves its mark on each surface that it looks at here, and checks no viewport that is made for one with
        // a mark when it is committed.
        if viewport.src.is_some() {
            ensure_viewport_valid(states, whole);
        }
        let source = viewport.src.unwrap_or_else(|| Rectangle::from_size(whole.to_f64()));
        Cut { source, size: viewport.size().unwrap_or(whole) }
    }

    /// What is said of the surface, in what would be its coordinates without a viewport.
    fn to_whole(self, rect: Rectangle<i32, Logical>) -> Rectangle<f64, Logical> {
        let (shown, source) = (self.size.to_f64(), self.source.size);
        let mut rect = rect.to_f64().downscale(Scale::from((shown.w / source.w, shown.h / source.h)));
        rect.loc += self.source.loc;
        rect
    }
}

/// How the buffer is shown, apart from its pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// `wl_surface.set_buffer_scale`.
    pub scale: i32,
    /// `wl_surface.set_buffer_transform`.
    pub transform: Transform,
    /// `wp_viewport`.
    pub cut: Cut,
}

/// What is there while a surface has content.
#[derive(Debug)]
struct Content {
    buffer: Buffer,
    /// In its own pixels.
    pixels: Size<i32, BufferCoords>,
    has_alpha: bool,
    look: Look,
}

impl Content {
    fn size(&self) -> Size<i32, Logical> {
        self.pixels.to_logical(self.look.scale, self.look.transform)
    }

    /// The pixels that damage covers, in the buffer.
    fn damaged(&self, damage: &Damage) -> Option<Rectangle<i32, BufferCoords>> {
        let rect = match damage {
            Damage::Buffer(rect) => *rect,
            Damage::Surface(rect) => {
                let (Look { scale, transform, cut }, size) = (self.look, self.size());
                let within = cut.to_whole(*rect).intersection(Rectangle::from_size(size.to_f64()))?;
                let rect: Rectangle<i32, Logical> = Turn::from(transform).rect(within.to_i32_up(), size);
                let corner = Point::from((rect.loc.x * scale, rect.loc.y * scale));
                Rectangle::new(corner, Size::from((rect.size.w * scale, rect.size.h * scale)))
            }
        };
        rect.intersection(Rectangle::from_size(self.pixels))
    }
}

/// What a surface shows.
#[derive(Debug, Default)]
pub struct Showing {
    content: Option<Content>,
    damage: DamageBag<i32, BufferCoords>,
    opaque: Vec<Rectangle<i32, Logical>>,
    /// Counts the regions that were opaque.
    opaque_changes: u64,
}

impl Showing {
    /// Its buffer, if it has content.
    pub fn buffer(&self) -> Option<&Buffer> {
        self.content.as_ref().map(|content| &content.buffer)
    }

    /// How large its buffer is, in its own pixels.
    pub fn buffer_pixels(&self) -> Option<Size<i32, BufferCoords>> {
        self.content.as_ref().map(|content| content.pixels)
    }

    /// How large its buffer is, in surface coordinates before it is cut and scaled.
    pub fn buffer_size(&self) -> Option<Size<i32, Logical>> {
        self.content.as_ref().map(Content::size)
    }

    /// `wl_surface.set_buffer_scale`; 1 without content.
    pub fn buffer_scale(&self) -> i32 {
        self.content.as_ref().map_or(1, |content| content.look.scale)
    }

    /// `wl_surface.set_buffer_transform`.
    pub fn buffer_transform(&self) -> Transform {
        self.content.as_ref().map_or(Transform::Normal, |content| content.look.transform)
    }

    /// What of its buffer is shown, if it has content.
    pub fn cut(&self) -> Option<Cut> {
        self.content.as_ref().map(|content| content.look.cut)
    }

    /// How its buffer is shown, if it has content, and which region of it is opaque.
    pub fn look(&self) -> (Option<Look>, u64) {
        (self.content.as_ref().map(|content| content.look), self.opaque_changes)
    }

    /// What of it is opaque, in surface coordinates.
    pub fn opaque(&self) -> &[Rectangle<i32, Logical>] {
        &self.opaque
    }

    /// Which content it is.
    pub fn current_commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }

    /// What changed with which content.
    pub fn damage(&self) -> DamageSnapshot<i32, BufferCoords> {
        self.damage.snapshot()
    }

    /// What changed since then; all of it where nobody knows.
    pub fn damage_since(&self, commit: Option<CommitCounter>) -> DamageSet<i32, BufferCoords> {
        let all =
            || self.content.as_ref().map(|content| DamageSet::from_slice(&[Rectangle::from_size(content.pixels)]));
        self.damage.damage_since(commit).or_else(all).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.content = None;
        self.damage.reset();
        self.opaque.clear();
    }

    /// Takes over what was applied.
    fn update(&mut self, states: &SurfaceData) {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        let attributes = attributes.current();
        let is_new = match attributes.buffer.take() {
            Some(BufferAssignment::NewBuffer(buffer)) => {
                // One of which nobody knows how large it is shows nothing.
                let Some(pixels) = buffer_dimensions(&buffer) else { return self.clear() };
                let has_alpha = buffer_has_alpha(&buffer).unwrap_or(true);
                let before = self.content.take().map(|content| content.buffer).filter(|before| *before == buffer);
                let buffer = before.unwrap_or_else(|| with_points(states, buffer));
                let look = Look::of(states, attributes, pixels);
                self.content = Some(Content { buffer, pixels, has_alpha, look });
                true
            }
            Some(BufferAssignment::Removed) => return self.clear(),
            None => false,
        };
        let Some(content) = &mut self.content else { return };
        if is_new {
            self.damage.add(attributes.damage.drain(..).filter_map(|damage| content.damaged(&damage)));
        } else {
            content.look = Look::of(states, attributes, content.pixels);
        }
        let size = content.look.cut.size;
        let opaque = match &attributes.opaque_region {
            _ if !content.has_alpha => vec![Rectangle::from_size(size)],
            Some(region) => rects_of(region, size),
            None => Vec::new(),
        };
        if opaque != self.opaque {
            self.opaque = opaque;
            self.opaque_changes += 1;
        }
    }
}

impl Look {
    /// The look of a buffer of `pixels` by the applied state.
    fn of(states: &SurfaceData, attributes: &SurfaceAttributes, pixels: Size<i32, BufferCoords>) -> Self {
        let (scale, transform) = (attributes.buffer_scale, attributes.buffer_transform.into());
        Look { scale, transform, cut: Cut::of(states, pixels.to_logical(scale, transform)) }
    }
}

/// A buffer with the points on timelines that came with it.
fn with_points(states: &SurfaceData, buffer: WlBuffer) -> Buffer {
    let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
    let points = points.current();
    match (points.acquire_point.take(), points.release_point.take()) {
        (Some(acquire), Some(release)) => Buffer::with_explicit(buffer, acquire, release),
        _ => Buffer::with_implicit(buffer),
    }
}

/// A region as rectangles apart from each other, cut to a surface of this size.
fn rects_of(region: &RegionAttributes, size: Size<i32, Logical>) -> Vec<Rectangle<i32, Logical>> {
    let whole = Rectangle::from_size(size);
    region.rects.iter().fold(Vec::new(), |mut rects, (kind, rect)| {
        let loc = rect.loc.constrain(whole);
        let rect = Rectangle::new(loc, rect.size.clamp((0, 0), (size.to_point() - loc).to_size()));
        match kind {
            RectangleKind::Add => {
                let near = rects.iter().filter(|known: &&Rectangle<_, _>| known.overlaps_or_touches(rect)).copied();
                let added = rect.subtract_rects(near);
                rects.extend(added);
                rects
            }
            RectangleKind::Subtract => Rectangle::subtract_rects_many_in_place(rects, [rect]),
        }
    })
}

/// What a surface with these states shows; `None` before its first update.
pub fn of(states: &SurfaceData) -> Option<MutexGuard<'_, Showing>> {
    let showing = states.data_map.get::<Mutex<Showing>>()?;
    Some(showing.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Looks at what `surface` shows; `None` before its first update.
pub fn look<T>(surface: &WlSurface, look: impl FnOnce(&Showing) -> T) -> Option<T> {
    guard::with_states(surface, |states| of(states).map(|showing| look(&showing)))
}

/// An update of `surface` was applied.
pub(super) fn update(surface: &WlSurface) {
    let is_first = guard::with_states(surface, |states| {
        let is_first = states.data_map.insert_if_missing_threadsafe(|| Mutex::new(Showing::default()));
        if let Some(mut showing) = of(states) {
            showing.update(states);
        }
        is_first
    });
    if is_first {
        // A buffer cannot be given back any more when the states of its surface go.
        compositor::add_destruction_hook(surface, |_: &mut State, surface: &WlSurface| {
            let showing =
                guard::with_states(surface, |states| of(states).map(|mut showing| std::mem::take(&mut *showing)));
            drop(showing);
        });
    }
}
