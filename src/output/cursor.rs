//! The cursor as pixels, whatever it comes from, so that a plane can take it.

use std::sync::Arc;

use smithay::backend::renderer::utils::RendererSurfaceStateUserData;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};
use smithay::wayland::compositor;
use smithay::wayland::shm::with_buffer_contents;

use super::scene::{CursorLayer, Scene};
use crate::backend::PixelBuffer;
use crate::input::cursor::CursorView;
use crate::state::State;

/// Larger cursors are shown cut off: no plane takes them, and no client means them.
const LARGEST: i32 = 512;
/// Bytes of a pixel.
const BYTES: usize = 4;

/// Pixels of the last client cursor, so that moving it copies nothing.
#[derive(Debug, Default)]
pub(super) struct CursorImages {
    client: Option<(WlSurface, Arc<PixelBuffer>)>,
}

impl CursorImages {
    /// The cursor's surface has new content, or it is another one.
    pub fn invalidate(&mut self) {
        self.client = None;
    }
}

/// The cursor on an output that covers `area`, if it is there and not hidden.
pub(super) fn layer(state: &mut State, area: Rectangle<i32, Logical>, scale: f64) -> Option<CursorLayer> {
    let position = crate::input::pointer_position(state);
    if !area.to_f64().contains(position) {
        return None;
    }
    let (image, hotspot) = match state.input.cursor.view(scale) {
        CursorView::Hidden => return None,
        CursorView::Image(image) => (image.pixels, Point::from(image.hotspot)),
        CursorView::Surface(surface, hotspot) => {
            let image = client_image(&mut state.outputs.cursor, &surface)?;
            (image, hotspot.to_f64().to_physical(scale).to_i32_round())
        }
    };
    let at = (position - area.loc.to_f64()).to_physical(scale).to_i32_round();
    Some(CursorLayer { image, position: at - hotspot })
}

/// The client's surface that is the cursor of `scene`, if it has one.
pub(super) fn shown_surface(state: &State, scene: &Scene) -> Option<WlSurface> {
    scene.cursor.as_ref()?;
    match state.input.cursor.view(1.0) {
        CursorView::Surface(surface, _) => Some(surface),
        CursorView::Hidden | CursorView::Image(_) => None,
    }
}

fn client_image(images: &mut CursorImages, surface: &WlSurface) -> Option<Arc<PixelBuffer>> {
    if let Some((known, image)) = &images.client
        && known == surface
    {
        return Some(image.clone());
    }
    let image = Arc::new(copy(surface)?);
    images.client = Some((surface.clone(), image.clone()));
    Some(image)
}

/// The surface's applied content. Cursors are small, and come in shared memory.
fn copy(surface: &WlSurface) -> Option<PixelBuffer> {
    let buffer = compositor::with_states(surface, |states| {
        let data = states.data_map.get::<RendererSurfaceStateUserData>()?;
        data.lock().unwrap_or_else(std::sync::PoisonError::into_inner).buffer().cloned()
    })?;
    with_buffer_contents(&buffer, |start, length, data| {
        let opaque = match data.format {
            Format::Argb8888 => 0,
            Format::Xrgb8888 => 0xff00_0000,
            _ => return None,
        };
        let mut image = PixelBuffer::new(data.width.min(LARGEST), data.height.min(LARGEST));
        for y in 0..image.height as usize {
            for x in 0..image.width as usize {
                let at = data.offset as usize + y * data.stride as usize + x * BYTES;
                let pixel = read_pixel(start, length, at)?;
                image.pixels[y * image.width as usize + x] = pixel | opaque;
            }
        }
        Some(image)
    })
    .ok()?
}

#[expect(unsafe_code, reason = "shared memory is read through a pointer: its client may write at the same time")]
fn read_pixel(start: *const u8, length: usize, at: usize) -> Option<u32> {
    if at.checked_add(BYTES)? > length {
        return None;
    }
    // SAFETY: `at + 4` lies within the `length` bytes at `start`, which stay mapped while the pool is accessed; a
    // client that truncates the file behind them is caught by Smithay's guard around this access.
    Some(unsafe { start.add(at).cast::<u32>().read_unaligned() })
}
