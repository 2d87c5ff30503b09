//! The content of a surface: its applied buffer, and how that is cropped, scaled and turned.

use smithay::backend::renderer::utils::{Buffer, DamageSnapshot, OpaqueRegions};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Logical, Rectangle, Size, Transform};
use smithay::wayland::compositor::SurfaceData;

use super::background::{BackgroundEffects, BlurRects};
use super::opacity::Opacity;
use super::render_state;
use super::tree::{SurfacePlace, find_downward};

/// The content of one surface. It keeps the client's buffer from being released.
#[derive(Debug)]
pub struct SurfaceContent {
    pub surface: WlSurface,
    pub buffer: Buffer,
    /// In the buffer's own pixels.
    pub buffer_size: Size<i32, BufferCoords>,
    pub buffer_scale: i32,
    pub buffer_transform: Transform,
    /// The part of the buffer that is shown, in surface coordinates before scaling.
    pub source: Rectangle<f64, Logical>,
    /// The size on screen, in surface coordinates.
    pub size: Size<i32, Logical>,
    /// The opaque region, in surface coordinates.
    pub opaque: OpaqueRegions<i32, Logical>,
    /// The client's opacity factor (`wp_alpha_modifier_v1`), 0 to 1.
    pub opacity: f32,
    /// The region behind the surface that is blurred, in surface coordinates.
    pub blurred: Option<BlurRects>,
    /// The damage of each of the last commits.
    pub damage: DamageSnapshot<i32, BufferCoords>,
}

impl SurfaceContent {
    /// The content in the applied state of `surface`; `None` without a buffer.
    pub fn of(surface: &WlSurface, states: &SurfaceData) -> Option<Self> {
        let data = render_state::of(states)?;
        let cut = data.cut()?;
        Some(SurfaceContent {
            surface: surface.clone(),
            buffer: data.buffer()?.clone(),
            buffer_size: data.buffer_pixels()?,
            buffer_scale: data.buffer_scale(),
            buffer_transform: data.buffer_transform(),
            source: cut.source,
            size: cut.size,
            opaque: OpaqueRegions::from_slice(data.opaque()),
            blurred: states.cached_state.get::<BackgroundEffects>().current().blurred.clone(),
            opacity: states.cached_state.get::<Opacity>().current().factor(),
            damage: data.damage(),
        })
    }

    /// The contents of the tree below `root`, topmost first, each with its place in the root's coordinates.
    pub fn of_tree(root: &WlSurface) -> Vec<(Self, SurfacePlace)> {
        let mut found = Vec::new();
        find_downward(root, &mut |surface, states, place| {
            found.extend(Self::of(surface, states).map(|content| (content, place)));
            None::<()>
        });
        found
    }
}
