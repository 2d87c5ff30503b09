//! The cursor as an image, from a client's surface or a cursor theme, so that a cursor plane can show it.

use std::sync::Arc;

use smithay::backend::renderer::utils::CommitCounter;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer, Physical, Point, Size};
use smithay::wayland::shm::with_buffer_contents;

use crate::backend::PixelBuffer;
use crate::guard;
use crate::output::geometry;
use crate::output::panel::turn_of;
use crate::output_transform::OutputTransform;
use crate::scene::{CursorLayer, CursorView, Scene};
use crate::shell::ShellSeat;
use crate::state::State;
use crate::surface::render_state::{self, BufferMapping};
use upbeat_timing::id::OutputId;

/// Larger cursors are cropped, because no client means them. Cursors larger than their plane are cropped, too.
const LARGEST: i32 = 512;
/// Number of cached transformed images: enough for the shapes of a pointer that crosses a window or two.
const MOST_CHANGED: usize = 8;
/// Bytes of a pixel.
const BYTES: usize = 4;

/// Pixels of the last client cursor, cached so that moving it copies nothing.
#[derive(Debug, Default)]
pub(in crate::output) struct CursorImages {
    client: Option<ClientImage>,
    /// Original images with their versions cropped for planes or transformed for rotated panels, the newest last.
    changed: Vec<(Arc<PixelBuffer>, CursorImageChange, Arc<PixelBuffer>)>,
}

/// A change of an image before a plane can show it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CursorImageChange {
    /// Crops it to this size, from its top left corner.
    Cut(i32, i32),
    Turned(OutputTransform),
}

impl CursorImageChange {
    fn of(self, image: &PixelBuffer) -> PixelBuffer {
        match self {
            CursorImageChange::Cut(width, height) => cut_image(image, width, height),
            CursorImageChange::Turned(turn) => turn_image(image, turn),
        }
    }
}

impl CursorImages {
    /// `image` transformed for a panel.
    fn turned(&mut self, image: &Arc<PixelBuffer>, turn: OutputTransform) -> Arc<PixelBuffer> {
        if turn == OutputTransform::NORMAL {
            image.clone()
        } else {
            self.changed(image, CursorImageChange::Turned(turn))
        }
    }

    /// `image` cropped to a plane of this size.
    fn fitted(&mut self, image: Arc<PixelBuffer>, plane: (u32, u32)) -> Arc<PixelBuffer> {
        let [width, height] = [plane.0, plane.1].map(|length| i32::try_from(length).unwrap_or(i32::MAX));
        if image.width <= width && image.height <= height {
            return image;
        }
        self.changed(&image, CursorImageChange::Cut(image.width.min(width), image.height.min(height)))
    }

    /// The changed `image`: the same `Arc` each time, so that it is uploaded to the device once.
    fn changed(&mut self, image: &Arc<PixelBuffer>, change: CursorImageChange) -> Arc<PixelBuffer> {
        let known = self.changed.iter().find(|(known, done, _)| Arc::ptr_eq(known, image) && *done == change);
        if let Some((_, _, changed)) = known {
            return changed.clone();
        }
        let changed = Arc::new(change.of(image));
        if self.changed.len() == MOST_CHANGED {
            self.changed.remove(0);
        }
        self.changed.push((image.clone(), change, changed.clone()));
        changed
    }
}

fn cut_image(image: &PixelBuffer, width: i32, height: i32) -> PixelBuffer {
    let rows = image.pixels.chunks_exact(image.width.max(1) as usize).take(height as usize);
    PixelBuffer { width, height, pixels: rows.flat_map(|row| &row[..width as usize]).copied().collect() }
}

fn turn_image(image: &PixelBuffer, turn: OutputTransform) -> PixelBuffer {
    let (width, height) = (image.width, image.height);
    let pixels = turn.pixels(&image.pixels, (width, height));
    let (width, height) = if turn.swaps_sides() { (height, width) } else { (width, height) };
    PixelBuffer { width, height, pixels }
}

#[derive(Debug)]
struct ClientImage {
    surface: WlSurface,
    view: ClientCursorView,
    pixels: Arc<PixelBuffer>,
}

/// Everything that determines the image of a client's cursor.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ClientCursorView {
    commit: CommitCounter,
    look: BufferMapping,
    /// That of the output.
    scale: f64,
}

/// The cursor on an output, unless it is elsewhere or hidden.
pub(in crate::output) fn layer(state: &mut State, id: OutputId) -> Option<CursorLayer> {
    let output = state.outputs.by_id(id)?;
    let (area, scale) = (geometry(&output.output), output.output.current_scale().fractional_scale());
    let (turn, plane) = (turn_of(&output.output), output.display.capabilities().cursor_plane);
    let screen = state.shell.workspaces().screen(&output.output.name());
    let picked = state.shell.overlays().region().picked();
    if plane.is_none() && picked.is_some_and(|picked| Some(picked.screen) == screen) {
        // Without a cursor plane it would be composed into the screenshot.
        return None;
    }
    let position = state.pointer_position();
    if !area.to_f64().contains(position) {
        return None;
    }
    let PointerImage { mut image, hotspot } = pointer_image(state, scale)?;
    if let Some((width, height)) = plane {
        let seen = if turn.swaps_sides() { (height, width) } else { (width, height) };
        image = state.outputs.cursor.fitted(image, seen);
    }
    let at = (position - area.loc.to_f64()).to_physical(scale).to_i32_round();
    let turned = state.outputs.cursor.turned(&image, turn);
    Some(CursorLayer { image, position: at - hotspot, turned })
}

/// The image drawn at the pointer.
pub(in crate::output) struct PointerImage {
    pub image: Arc<PixelBuffer>,
    /// The hotspot, in pixels of the image.
    pub hotspot: Point<i32, Physical>,
}

/// The image drawn at the pointer on an output with this scale, if there is one.
pub(in crate::output) fn pointer_image(state: &mut State, scale: f64) -> Option<PointerImage> {
    let (image, hotspot) = match state.cursor_view(scale) {
        CursorView::Hidden => return None,
        CursorView::Image(image) => (image.pixels, Point::from(image.hotspot)),
        CursorView::Surface(surface, hotspot) => {
            let image = client_image(&mut state.outputs.cursor, &surface, scale)?;
            (image, hotspot.to_f64().to_physical(scale).to_i32_round())
        }
    };
    Some(PointerImage { image, hotspot })
}

/// The client surface that is the cursor of `scene`, if it has one.
pub(in crate::output) fn cursor_surface(state: &State, scene: &Scene) -> Option<WlSurface> {
    scene.cursor.as_ref()?;
    match state.cursor_view(1.0) {
        CursorView::Surface(surface, _) => Some(surface),
        CursorView::Hidden | CursorView::Image(_) => None,
    }
}

fn client_image(images: &mut CursorImages, surface: &WlSurface, scale: f64) -> Option<Arc<PixelBuffer>> {
    let (buffer, view) = guard::with_states(surface, |states| {
        let data = render_state::of(states)?;
        let (commit, (look, _)) = (data.current_commit(), data.with_state());
        Some((data.buffer()?.clone(), ClientCursorView { commit, look: look?, scale }))
    })?;
    if let Some(known) = &images.client
        && (&known.surface, known.view) == (surface, view)
    {
        return Some(known.pixels.clone());
    }
    let pixels = Arc::new(copy(&buffer, view)?);
    images.client = Some(ClientImage { surface: surface.clone(), view, pixels: pixels.clone() });
    Some(pixels)
}

/// The visible part of a cursor's buffer, scaled to the surface's size on the output. Uses the nearest pixel, since
/// cursors are small and drawn sharp. Cursors come in shared memory.
fn copy(buffer: &WlBuffer, view: ClientCursorView) -> Option<PixelBuffer> {
    let BufferMapping { scale: buffer_scale, transform, cut } = view.look;
    let turn = OutputTransform::from(transform);
    with_buffer_contents(buffer, |start, length, data| {
        let opaque = match data.format {
            Format::Argb8888 => 0,
            Format::Xrgb8888 => 0xff00_0000,
            _ => return None,
        };
        let (pixels, buffer_scale) = (Size::<i32, Buffer>::from((data.width, data.height)), f64::from(buffer_scale));
        let whole = turn.inverse().size(pixels.to_f64());
        let (size, source) = (cut.size.to_f64(), cut.source);
        let shown = |length: f64| ((length * view.scale).round() as i32).clamp(1, LARGEST);
        let mut image = PixelBuffer::new(shown(size.w), shown(size.h));
        // Buffer pixels, after the buffer transform, for each pixel of the image.
        let step = |source: f64, size: f64| source * buffer_scale / (size * view.scale).round().max(1.0);
        let (across, down) = (step(source.size.w, size.w), step(source.size.h, size.h));
        for y in 0..image.height {
            for x in 0..image.width {
                let upright = Point::from((
                    source.loc.x * buffer_scale + (f64::from(x) + 0.5) * across,
                    source.loc.y * buffer_scale + (f64::from(y) + 0.5) * down,
                ));
                let from = turn.point(upright, whole).to_i32_floor::<i32>();
                let (from_x, from_y) = (from.x.clamp(0, pixels.w - 1), from.y.clamp(0, pixels.h - 1));
                let at = data.offset as usize + from_y as usize * data.stride as usize + from_x as usize * BYTES;
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
    // SAFETY: `at + 4` lies within the `length` bytes at `start`, which stay mapped while the pool is accessed; if
    // a client truncates the file behind them, Smithay's guard around this access catches the fault.
    Some(unsafe { start.add(at).cast::<u32>().read_unaligned() })
}
