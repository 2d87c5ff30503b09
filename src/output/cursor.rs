//! The cursor as pixels, whatever it comes from, so that a plane can take it.

use std::sync::Arc;

use smithay::backend::renderer::utils::{CommitCounter, RendererSurfaceStateUserData};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Physical, Point, Rectangle};
use smithay::wayland::shm::with_buffer_contents;

use crate::backend::PixelBuffer;
use crate::guard;
use crate::scene::{CursorLayer, CursorView, Scene};
use crate::shell::Hand;
use crate::state::State;

/// Larger cursors are shown cut off: no plane takes them, and no client means them.
const LARGEST: i32 = 512;
/// Bytes of a pixel.
const BYTES: usize = 4;

/// Pixels of the last client cursor, so that moving it copies nothing.
#[derive(Debug, Default)]
pub(super) struct CursorImages {
    client: Option<ClientImage>,
}

#[derive(Debug)]
struct ClientImage {
    surface: WlSurface,
    commit: CommitCounter,
    /// The output scale that it was made for.
    scale: f64,
    pixels: Arc<PixelBuffer>,
}

/// The cursor on an output that covers `area`, if it is there and not hidden.
pub(super) fn layer(state: &mut State, area: Rectangle<i32, Logical>, scale: f64) -> Option<CursorLayer> {
    let position = state.pointer_position();
    if !area.to_f64().contains(position) {
        return None;
    }
    let Pointed { image, hotspot } = pointed(state, scale)?;
    let at = (position - area.loc.to_f64()).to_physical(scale).to_i32_round();
    Some(CursorLayer { image, position: at - hotspot })
}

/// What is drawn at the pointer.
pub(super) struct Pointed {
    pub image: Arc<PixelBuffer>,
    /// The pixel that points.
    pub hotspot: Point<i32, Physical>,
}

/// What is drawn at the pointer on an output of this scale, if anything is.
pub(super) fn pointed(state: &mut State, scale: f64) -> Option<Pointed> {
    let (image, hotspot) = match state.input.cursor.view(scale) {
        CursorView::Hidden => return None,
        CursorView::Image(image) => (image.pixels, Point::from(image.hotspot)),
        CursorView::Surface(surface, hotspot) => {
            let image = client_image(&mut state.outputs.cursor, &surface, scale)?;
            (image, hotspot.to_f64().to_physical(scale).to_i32_round())
        }
    };
    Some(Pointed { image, hotspot })
}

/// The client's surface that is the cursor of `scene`, if it has one.
pub(super) fn shown_surface(state: &State, scene: &Scene) -> Option<WlSurface> {
    scene.cursor.as_ref()?;
    match state.input.cursor.view(1.0) {
        CursorView::Surface(surface, _) => Some(surface),
        CursorView::Hidden | CursorView::Image(_) => None,
    }
}

fn client_image(images: &mut CursorImages, surface: &WlSurface, scale: f64) -> Option<Arc<PixelBuffer>> {
    let (buffer, commit, buffer_scale) = guard::with_states(surface, |states| {
        let data = states.data_map.get::<RendererSurfaceStateUserData>()?;
        let data = data.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Some((data.buffer()?.clone(), data.current_commit(), data.buffer_scale()))
    })?;
    if let Some(known) = &images.client
        && (&known.surface, known.commit, known.scale) == (surface, commit, scale)
    {
        return Some(known.pixels.clone());
    }
    let pixels = Arc::new(copy(&buffer, scale / f64::from(buffer_scale))?);
    images.client = Some(ClientImage { surface: surface.clone(), commit, scale, pixels: pixels.clone() });
    Some(pixels)
}

/// A buffer's content, `zoom` times as large: the nearest pixel, since cursors are small and drawn sharp. Cursors come
/// in shared memory.
fn copy(buffer: &WlBuffer, zoom: f64) -> Option<PixelBuffer> {
    with_buffer_contents(buffer, |start, length, data| {
        let opaque = match data.format {
            Format::Argb8888 => 0,
            Format::Xrgb8888 => 0xff00_0000,
            _ => return None,
        };
        let size = |pixels: i32| ((f64::from(pixels) * zoom).round() as i32).clamp(1, LARGEST);
        let nearest = |at: i32, pixels: i32| (((f64::from(at) + 0.5) / zoom) as i32).min(pixels - 1) as usize;
        let mut image = PixelBuffer::new(size(data.width), size(data.height));
        for y in 0..image.height {
            for x in 0..image.width {
                let (from_x, from_y) = (nearest(x, data.width), nearest(y, data.height));
                let at = data.offset as usize + from_y * data.stride as usize + from_x * BYTES;
                let pixel = read_pixel(start, length, at)?;
                image.pixels[(y * image.width + x) as usize] = pixel | opaque;
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
