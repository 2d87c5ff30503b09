//! Textures of client shared memory that are uploaded in parts (OpenGL ES): the visible part with its frame, the rest
//! before it becomes visible. Smithay would upload a new buffer as a whole.
//!
//! Only for [announced](UpcomingContent) surfaces: other surfaces are either wholly visible or hidden.

use smithay::backend::allocator::Fourcc;
use smithay::backend::renderer::Offscreen;
use smithay::backend::renderer::gles::{GlesRenderer, GlesTexture, ffi};
use smithay::backend::renderer::utils::{CommitCounter, DamageSnapshot};
use smithay::reexports::wayland_server::Resource as _;
use smithay::reexports::wayland_server::protocol::{wl_buffer::WlBuffer, wl_shm::Format, wl_surface::WlSurface};
use smithay::utils::{Buffer as BufferCoords, Point, Rectangle, Size};
use smithay::wayland::shm::{BufferData, with_buffer_contents};

use super::element::source;
use super::upload_ahead::{MissingParts, UpcomingContent, UploadQueue, UploadedBytes};
use crate::scene::{Layer, Scene};
use upbeat_timing::time::Instant;

const BYTES_A_PIXEL: i32 = super::upload_ahead::BYTES_A_PIXEL as i32;

#[derive(Debug, Default)]
pub(super) struct PartialTextures {
    known: Vec<PartialTexture>,
    copied: UploadedBytes,
}

#[derive(Debug)]
struct PartialTexture {
    surface: WlSurface,
    texture: GlesTexture,
    layout: TextureLayout,
    commit: CommitCounter,
    missing: MissingParts,
}

/// Format and size of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextureLayout {
    format: Fourcc,
    size: Size<i32, BufferCoords>,
}

impl PartialTextures {
    /// The textures of a scene's layers, with their visible parts uploaded.
    pub fn of(
        &mut self,
        renderer: &mut GlesRenderer,
        scene: &Scene,
        uploads: &[UpcomingContent],
    ) -> Vec<(WlSurface, GlesTexture)> {
        if uploads.is_empty() && self.known.is_empty() {
            return Vec::new();
        }
        self.known.retain(|known| known.surface.is_alive());
        let is_ours = |layer: &&Layer| layer.plane.is_none() && layer.snapshot.is_none();
        scene
            .layers
            .iter()
            .filter(is_ours)
            .filter_map(|layer| Some((layer.surface.clone(), self.seen(renderer, layer, uploads)?)))
            .collect()
    }

    fn seen(&mut self, renderer: &mut GlesRenderer, layer: &Layer, uploads: &[UpcomingContent]) -> Option<GlesTexture> {
        let is_known = self.known.iter().any(|known| known.surface == layer.surface);
        if !is_known && !uploads.iter().any(|ahead| ahead.surface == layer.surface) {
            return None;
        }
        let buffer = layer.buffer.as_ref()?;
        let known = self.renew(renderer, &layer.surface, buffer, &layer.damage)?;
        // Filtering reads a pixel beyond the edge.
        let seen = source(layer).to_i32_up::<i32>();
        let around = Size::from((4, 4));
        let seen = Rectangle::new(seen.loc - Point::from((2, 2)), seen.size + around);
        let whole = Rectangle::from_size(known.layout.size);
        let parts = seen.intersection(whole).map(|seen| known.missing.take(seen)).unwrap_or_default();
        let texture = known.texture.clone();
        match copy(renderer, &texture, buffer, &parts) {
            Some(bytes) => self.copied.seen += bytes as u64,
            None => {
                self.forget(&layer.surface);
                return None;
            }
        }
        Some(texture)
    }

    /// Uploads a piece of the queued content. Returns the items that are complete.
    pub fn copy_ahead(
        &mut self,
        renderer: &mut GlesRenderer,
        uploads: &mut UploadQueue,
        now: Instant,
    ) -> Vec<UpcomingContent> {
        let bytes = uploads.next_piece(now);
        let mut done = 0;
        while let Some(ahead) = uploads.items.get(done).filter(|_| bytes > 0) {
            match self.copy_of(renderer, ahead, bytes) {
                Some(copied) => {
                    let with_frame = uploads.count_uploaded(copied);
                    self.copied.ahead += copied as u64;
                    self.copied.most_ahead = self.copied.most_ahead.max(with_frame as u64);
                    break;
                }
                None => done += 1,
            }
        }
        uploads.items.drain(..done).collect()
    }

    /// Uploads a piece. Returns its bytes; `None`: the item is complete or outdated.
    fn copy_of(&mut self, renderer: &mut GlesRenderer, ahead: &UpcomingContent, bytes: usize) -> Option<usize> {
        let is_newer = |known: &PartialTexture| known.surface == ahead.surface && known.commit > ahead.commit();
        if !ahead.surface.is_alive() || self.known.iter().any(is_newer) {
            return None;
        }
        let known = self.renew(renderer, &ahead.surface, &ahead.buffer, &ahead.damage)?;
        let (piece, texture) = (known.missing.piece(ahead.near, bytes)?, known.texture.clone());
        let copied = copy(renderer, &texture, &ahead.buffer, &[piece]);
        if copied.is_none() {
            self.forget(&ahead.surface);
        }
        copied
    }

    pub const fn copied(&self) -> UploadedBytes {
        self.copied
    }

    fn forget(&mut self, surface: &WlSurface) {
        self.known.retain(|known| known.surface != *surface);
    }

    /// The texture of a surface for this content, with its missing parts. `None`: the buffer cannot be uploaded in
    /// parts.
    fn renew(
        &mut self,
        renderer: &mut GlesRenderer,
        surface: &WlSurface,
        buffer: &WlBuffer,
        damage: &DamageSnapshot<i32, BufferCoords>,
    ) -> Option<&mut PartialTexture> {
        let (commit, place) = (damage.current_commit(), self.known.iter().position(|known| known.surface == *surface));
        if let Some(known) = place.filter(|place| self.known[*place].commit == commit) {
            return self.known.get_mut(known);
        }
        let Some(layout) = layout(buffer) else {
            self.forget(surface);
            return None;
        };
        let whole = Rectangle::from_size(layout.size);
        let Some(place) = place.filter(|place| self.known[*place].layout == layout) else {
            self.forget(surface);
            let texture = texture(renderer, layout)?;
            let surface = surface.clone();
            self.known.push(PartialTexture { surface, texture, layout, commit, missing: MissingParts::of(whole) });
            return self.known.last_mut();
        };
        let known = self.known.get_mut(place)?;
        match damage.damage_since(Some(known.commit)) {
            Some(changed) => {
                changed
                    .iter()
                    .filter_map(|changed| changed.intersection(whole))
                    .for_each(|part| known.missing.add(part));
            }
            None => known.missing = MissingParts::of(whole),
        }
        known.commit = commit;
        Some(known)
    }
}

/// Layout of a texture for this buffer; `None`: it is not shared memory, or its format is not among the two that
/// `wl_shm` requires.
fn layout(buffer: &WlBuffer) -> Option<TextureLayout> {
    let layout = with_buffer_contents(buffer, |_, _, data| {
        let format = match data.format {
            Format::Argb8888 => Fourcc::Argb8888,
            Format::Xrgb8888 => Fourcc::Xrgb8888,
            _ => return None,
        };
        Some(TextureLayout { format, size: Size::from((data.width, data.height)) })
    });
    layout.ok().flatten()
}

/// A texture with undefined content.
fn texture(renderer: &mut GlesRenderer, layout: TextureLayout) -> Option<GlesTexture> {
    let texture: GlesTexture = renderer.create_buffer(layout.format, layout.size).ok()?;
    let id = texture.tex_id();
    #[expect(unsafe_code, reason = "OpenGL is a C interface")]
    // SAFETY: the context is current in the closure, and the texture lives.
    let made = renderer.with_context(|gl| unsafe {
        gl.BindTexture(ffi::TEXTURE_2D, id);
        gl.TexParameteri(ffi::TEXTURE_2D, ffi::TEXTURE_WRAP_S, ffi::CLAMP_TO_EDGE as i32);
        gl.TexParameteri(ffi::TEXTURE_2D, ffi::TEXTURE_WRAP_T, ffi::CLAMP_TO_EDGE as i32);
        gl.BindTexture(ffi::TEXTURE_2D, 0);
    });
    made.ok().map(|()| texture)
}

/// Uploads parts of a client's memory. Returns the number of bytes; `None`: it cannot be read.
fn copy(
    renderer: &mut GlesRenderer,
    texture: &GlesTexture,
    buffer: &WlBuffer,
    parts: &[Rectangle<i32, BufferCoords>],
) -> Option<usize> {
    if parts.is_empty() {
        return Some(0);
    }
    let id = texture.tex_id();
    let copied = with_buffer_contents(buffer, |start, length, data| {
        if !parts.iter().all(|part| lies_within(part, &data, length)) {
            return None;
        }
        #[expect(unsafe_code, reason = "OpenGL is a C interface")]
        // SAFETY: the context is current in the closure, and the texture lives and has the buffer's size; the
        // rows to read lie within the client's memory, as was just checked, and Rust holds no reference into
        // it.
        let copied = renderer.with_context(|gl| unsafe {
            gl.BindTexture(ffi::TEXTURE_2D, id);
            gl.PixelStorei(ffi::UNPACK_ROW_LENGTH, data.stride / BYTES_A_PIXEL);
            for part in parts {
                gl.PixelStorei(ffi::UNPACK_SKIP_PIXELS, part.loc.x);
                gl.PixelStorei(ffi::UNPACK_SKIP_ROWS, part.loc.y);
                gl.TexSubImage2D(
                    ffi::TEXTURE_2D,
                    0,
                    part.loc.x,
                    part.loc.y,
                    part.size.w,
                    part.size.h,
                    ffi::BGRA_EXT,
                    ffi::UNSIGNED_BYTE,
                    start.offset(data.offset as isize).cast(),
                );
            }
            gl.PixelStorei(ffi::UNPACK_ROW_LENGTH, 0);
            gl.PixelStorei(ffi::UNPACK_SKIP_PIXELS, 0);
            gl.PixelStorei(ffi::UNPACK_SKIP_ROWS, 0);
            gl.BindTexture(ffi::TEXTURE_2D, 0);
        });
        copied.ok()
    });
    copied.ok().flatten()?;
    Some(parts.iter().map(|part| (part.size.w * part.size.h * BYTES_A_PIXEL) as usize).sum())
}

/// Whether a part of a buffer lies within its memory of `length` bytes.
fn lies_within(part: &Rectangle<i32, BufferCoords>, data: &BufferData, length: usize) -> bool {
    let whole = Rectangle::from_size(Size::from((data.width, data.height)));
    let end = i64::from(data.offset)
        + i64::from(data.height - 1) * i64::from(data.stride)
        + i64::from(data.width) * i64::from(BYTES_A_PIXEL);
    whole.contains_rect(*part)
        && data.offset >= 0
        && data.stride >= data.width * BYTES_A_PIXEL
        && data.stride % BYTES_A_PIXEL == 0
        && usize::try_from(end).is_ok_and(|end| end <= length)
}
