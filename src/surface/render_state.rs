//! The applied state of a surface as it is drawn: its buffer, crop and scale, opaque region and damage.
//!
//! Smithay 0.7 keeps the same, but walks the whole tree below a surface for each of its commits: with a thousand
//! subsurfaces all of them would be visited a hundred times in one turn. Here a surface is visited when an update of
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
use crate::output_transform::OutputTransform;
use crate::state::State;

/// The crop and scale of a surface (`wp_viewport`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AppliedViewport {
    /// The visible part of the buffer, in surface coordinates before scaling.
    pub source: Rectangle<f64, Logical>,
    /// The size on screen, in surface coordinates.
    pub size: Size<i32, Logical>,
}

impl AppliedViewport {
    fn of(states: &SurfaceData, whole: Size<i32, Logical>) -> Self {
        let viewport = *states.cached_state.get::<ViewportCachedState>().current();
        // Smithay 0.7 marks each surface on which this was called. If a viewport is created for a marked surface, its
        // commits are not validated any more; so this is called only where there already is a viewport.
        if viewport.src.is_some() {
            ensure_viewport_valid(states, whole);
        }
        let source = viewport.src.unwrap_or_else(|| Rectangle::from_size(whole.to_f64()));
        AppliedViewport { source, size: viewport.size().unwrap_or(whole) }
    }

    /// Converts a rectangle of the surface to the coordinates that the surface would have without a viewport.
    fn to_whole(self, rect: Rectangle<i32, Logical>) -> Rectangle<f64, Logical> {
        let (shown, source) = (self.size.to_f64(), self.source.size);
        let mut rect = rect.to_f64().downscale(Scale::from((shown.w / source.w, shown.h / source.h)));
        rect.loc += self.source.loc;
        rect
    }
}

/// How the buffer is shown, apart from its pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferMapping {
    pub scale: i32,
    pub transform: Transform,
    pub cut: AppliedViewport,
}

/// The state of a surface that has a buffer.
#[derive(Debug)]
struct CurrentBuffer {
    buffer: Buffer,
    /// In the buffer's own pixels.
    pixels: Size<i32, BufferCoords>,
    has_alpha: bool,
    look: BufferMapping,
}

impl CurrentBuffer {
    fn size(&self) -> Size<i32, Logical> {
        self.pixels.to_logical(self.look.scale, self.look.transform)
    }

    /// Converts damage to the buffer's pixels; `None` outside the buffer.
    fn damaged(&self, damage: &Damage) -> Option<Rectangle<i32, BufferCoords>> {
        let rect = match damage {
            Damage::Buffer(rect) => *rect,
            Damage::Surface(rect) => {
                let (BufferMapping { scale, transform, cut }, size) = (self.look, self.size());
                let within = cut.to_whole(*rect).intersection(Rectangle::from_size(size.to_f64()))?;
                let rect: Rectangle<i32, Logical> = OutputTransform::from(transform).rect(within.to_i32_up(), size);
                let corner = Point::from((rect.loc.x * scale, rect.loc.y * scale));
                Rectangle::new(corner, Size::from((rect.size.w * scale, rect.size.h * scale)))
            }
        };
        rect.intersection(Rectangle::from_size(self.pixels))
    }
}

/// The applied state of a surface as it is drawn.
#[derive(Debug, Default)]
pub struct SurfaceRenderState {
    content: Option<CurrentBuffer>,
    damage: DamageBag<i32, BufferCoords>,
    opaque: Vec<Rectangle<i32, Logical>>,
    /// Counts changes of the opaque region.
    opaque_changes: u64,
}

impl SurfaceRenderState {
    pub fn buffer(&self) -> Option<&Buffer> {
        self.content.as_ref().map(|content| &content.buffer)
    }

    /// In the buffer's own pixels.
    pub fn buffer_pixels(&self) -> Option<Size<i32, BufferCoords>> {
        self.content.as_ref().map(|content| content.pixels)
    }

    /// In surface coordinates before cropping and scaling.
    pub fn buffer_size(&self) -> Option<Size<i32, Logical>> {
        self.content.as_ref().map(CurrentBuffer::size)
    }

    /// `wl_surface.set_buffer_scale`; 1 without a buffer.
    pub fn buffer_scale(&self) -> i32 {
        self.content.as_ref().map_or(1, |content| content.look.scale)
    }

    /// `wl_surface.set_buffer_transform`; normal without a buffer.
    pub fn buffer_transform(&self) -> Transform {
        self.content.as_ref().map_or(Transform::Normal, |content| content.look.transform)
    }

    pub fn cut(&self) -> Option<AppliedViewport> {
        self.content.as_ref().map(|content| content.look.cut)
    }

    /// How the buffer is shown, and a number for its opaque region; compared to find out whether either changed.
    pub fn with_state(&self) -> (Option<BufferMapping>, u64) {
        (self.content.as_ref().map(|content| content.look), self.opaque_changes)
    }

    /// The opaque region, in surface coordinates; the rectangles do not overlap.
    pub fn opaque(&self) -> &[Rectangle<i32, Logical>] {
        &self.opaque
    }

    /// The number of the newest content, for damage tracking.
    pub fn current_commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }

    /// The damage of each of the last commits.
    pub fn damage(&self) -> DamageSnapshot<i32, BufferCoords> {
        self.damage.snapshot()
    }

    /// The damage since `commit`; the whole buffer if that commit is too old.
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

    /// Takes over the applied state.
    fn update(&mut self, states: &SurfaceData) {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        let attributes = attributes.current();
        let is_new = match attributes.buffer.take() {
            Some(BufferAssignment::NewBuffer(buffer)) => {
                // A buffer of unknown size is not shown.
                let Some(pixels) = buffer_dimensions(&buffer) else { return self.clear() };
                let has_alpha = buffer_has_alpha(&buffer).unwrap_or(true);
                let before = self.content.take().map(|content| content.buffer).filter(|before| *before == buffer);
                let buffer = before.unwrap_or_else(|| with_points(states, buffer));
                let look = BufferMapping::of(states, attributes, pixels);
                self.content = Some(CurrentBuffer { buffer, pixels, has_alpha, look });
                true
            }
            Some(BufferAssignment::Removed) => return self.clear(),
            None => false,
        };
        let Some(content) = &mut self.content else { return };
        if is_new {
            self.damage.add(attributes.damage.drain(..).filter_map(|damage| content.damaged(&damage)));
        } else {
            content.look = BufferMapping::of(states, attributes, content.pixels);
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

impl BufferMapping {
    /// Made from the applied state; `pixels`: the size of the buffer.
    fn of(states: &SurfaceData, attributes: &SurfaceAttributes, pixels: Size<i32, BufferCoords>) -> Self {
        let (scale, transform) = (attributes.buffer_scale, attributes.buffer_transform.into());
        BufferMapping { scale, transform, cut: AppliedViewport::of(states, pixels.to_logical(scale, transform)) }
    }
}

/// Wraps a buffer together with the timeline points of its commit.
fn with_points(states: &SurfaceData, buffer: WlBuffer) -> Buffer {
    let mut points = states.cached_state.get::<DrmSyncobjCachedState>();
    let points = points.current();
    match (points.acquire_point.take(), points.release_point.take()) {
        (Some(acquire), Some(release)) => Buffer::with_explicit(buffer, acquire, release),
        _ => Buffer::with_implicit(buffer),
    }
}

/// A region as rectangles that do not overlap, clipped to `size`.
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

/// The state of a surface; `None` before its first update.
pub fn of(states: &SurfaceData) -> Option<MutexGuard<'_, SurfaceRenderState>> {
    let showing = states.data_map.get::<Mutex<SurfaceRenderState>>()?;
    Some(showing.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Calls `look` with the state of `surface`; `None` before its first update.
pub fn look<T>(surface: &WlSurface, look: impl FnOnce(&SurfaceRenderState) -> T) -> Option<T> {
    guard::with_states(surface, |states| of(states).map(|showing| look(&showing)))
}

/// Takes over an update of `surface` that was just applied.
pub(super) fn update(surface: &WlSurface) {
    let is_first = guard::with_states(surface, |states| {
        let is_first = states.data_map.insert_if_missing_threadsafe(|| Mutex::new(SurfaceRenderState::default()));
        if let Some(mut showing) = of(states) {
            showing.update(states);
        }
        is_first
    });
    if is_first {
        // Drop the buffer here: once the surface's data is dropped, its release cannot be sent any more.
        compositor::add_destruction_hook(surface, |_: &mut State, surface: &WlSurface| {
            let showing =
                guard::with_states(surface, |states| of(states).map(|mut showing| std::mem::take(&mut *showing)));
            drop(showing);
        });
    }
}
