//! Reads a rectangle of a client's buffer in shared memory, without conversion.

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::wayland::shm::{BufferData, with_buffer_contents};

use super::fingerprint::{read_bytes, read_words};
use crate::backend::PixelRect;
use crate::backend::front::FrontMemory;

/// Bytes of a pixel.
const PIXEL: usize = 4;

/// A rectangle of a client's buffer, for displays that read it themselves.
#[derive(Debug)]
pub struct ClientRows {
    pub buffer: WlBuffer,
    /// In pixels of the buffer.
    pub from: PixelRect,
}

impl FrontMemory for ClientRows {
    fn read(&self, first: i32, height: i32, into: &mut [u32]) -> bool {
        read_into(&self.buffer, PixelRect { y: self.from.y + first, height, ..self.from }, into)
    }
}

/// The pixels of `rect` of `buffer`, rows from the top, `XRGB8888`. `None` if they cannot be read: another kind of
/// memory or format, or a rectangle outside the buffer.
pub fn read(buffer: &WlBuffer, rect: PixelRect) -> Option<Vec<u32>> {
    with_buffer_contents(buffer, |start, length, data| {
        let PoolRect { offset, stride } = within(&data, length, rect)?;
        let (width, height) = (rect.width as usize, rect.height as usize);
        let mut pixels = Vec::with_capacity(width * height);
        let mut row = vec![0; width * PIXEL];
        for line in 0..height {
            read_bytes(start, length, offset + line * stride, &mut row);
            pixels.extend(row.chunks_exact(PIXEL).map(|pixel| {
                let mut bytes = [0; PIXEL];
                bytes.copy_from_slice(pixel);
                u32::from_le_bytes(bytes)
            }));
        }
        Some(pixels)
    })
    .ok()?
}

/// Like [`read`], into memory of the same size; on any thread. Returns whether it was read.
pub fn read_into(buffer: &WlBuffer, rect: PixelRect, into: &mut [u32]) -> bool {
    let read = with_buffer_contents(buffer, |start, length, data| {
        let PoolRect { offset, stride } = within(&data, length, rect)?;
        let (width, height) = (rect.width as usize, rect.height as usize);
        if into.len() != width * height {
            return None;
        }
        if stride == width * PIXEL {
            read_words(start, length, offset, into);
            return Some(());
        }
        for (line, row) in into.chunks_exact_mut(width).enumerate() {
            read_words(start, length, offset + line * stride, row);
        }
        Some(())
    });
    matches!(read, Ok(Some(())))
}

pub fn can_read(buffer: &WlBuffer, rect: PixelRect) -> bool {
    matches!(with_buffer_contents(buffer, |_, length, data| within(&data, length, rect).is_some()), Ok(true))
}

/// A rectangle's place in a pool, bytes.
struct PoolRect {
    offset: usize,
    /// From one row to the next.
    stride: usize,
}

fn within(data: &BufferData, length: usize, rect: PixelRect) -> Option<PoolRect> {
    if !matches!(data.format, Format::Xrgb8888 | Format::Argb8888) {
        return None;
    }
    let is_inside = rect.x >= 0
        && rect.y >= 0
        && rect.width > 0
        && rect.height > 0
        && rect.x.checked_add(rect.width)? <= data.width
        && rect.y.checked_add(rect.height)? <= data.height;
    if !is_inside {
        return None;
    }
    let (offset, stride) = (usize::try_from(data.offset).ok()?, usize::try_from(data.stride).ok()?);
    let (x, y, width, height) = (rect.x as usize, rect.y as usize, rect.width as usize, rect.height as usize);
    let last = offset.checked_add((y + height - 1).checked_mul(stride)?)?.checked_add((x + width) * PIXEL)?;
    (last <= length).then_some(PoolRect { offset: offset + y * stride + x * PIXEL, stride })
}
