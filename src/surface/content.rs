//! What a surface shows, apart from where: its applied buffer and how that is cut and scaled.

use smithay::backend::renderer::utils::{Buffer, DamageSnapshot, OpaqueRegions};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Logical, Rectangle, Size, Transform};
use smithay::wayland::compositor::SurfaceData;

use super::background::{Background, Blurred};
use super::opacity::Opacity;
use super::showing;
use super::tree::{Place, find_downward};

/// The content of one surface. It holds on to the client's buffer.
#[derive(Debug)]
pub struct SurfaceContent {
    /// Whose.
    pub surface: WlSurface,
    /// The buffer.
    pub buffer: Buffer,
    /// Its size in its own pixels.
    pub buffer_size: Size<i32, BufferCoords>,
    /// `wl_surface.set_buffer_scale`.
    pub buffer_scale: i32,
    /// `wl_surface.set_buffer_transform`.
    pub buffer_transform: Transform,
    /// What of the buffer is shown, in surface coordinates before scaling.
    pub source: Rectangle<f64, Logical>,
    /// How large it is shown.
    pub size: Size<i32, Logical>,
    /// What of it is opaque, in surface coordinates.
    pub opaque: OpaqueRegions<i32, Logical>,
    /// How much of it its client lets be seen, 0 to 1.
    pub opacity: f32,
    /// Where its client wants the background behind it blurred, in surface coordinates.
    pub blurred: Option<Blurred>,
    /// What changed with which commit.
    pub damage: DamageSnapshot<i32, BufferCoords>,
}

impl SurfaceContent {
    /// What `surface` shows by its applied state; `None` where it has no content.
    pub fn of(surface: &WlSurface, states: &SurfaceData) -> Option<Self> {
        let data = showing::of(states)?;
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
            blurred: states.cached_state.get::<Background>().current().blurred.clone(),
            opacity: states.cached_state.get::<Opacity>().current().factor(),
            damage: data.damage(),
        })
    }

    /// All that the tree below `root` shows, topmost first, with where each surface lies in the root's coordinates.
    pub fn of_tree(root: &WlSurface) -> Vec<(Self, Place)> {
        let mut found = Vec::new();
        find_downward(root, &mut |surface, states, place| {
            found.extend(Self::of(surface, states).map(|content| (content, place)));
            None::<()>
        });
        found
    }
}
