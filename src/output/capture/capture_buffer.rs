//! Destination buffers of captures: clients' shared memory or dmabufs.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};
use smithay::backend::allocator::dmabuf::{Dmabuf, DmabufMappingMode, DmabufSyncFlags};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::shm::with_buffer_contents_mut;

/// Channel order of a pixel, and the meaning of its fourth byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturePixelFormat {
    /// Red and blue are exchanged.
    pub swapped: bool,
    /// The fourth byte is alpha.
    pub alpha: bool,
}

/// The destination buffer of a picture. Its size was checked when the request was made; shared memory is checked again,
/// because the client may shrink it.
#[derive(Debug)]
pub struct CaptureTarget {
    pub buffer: WlBuffer,
    pub layout: CapturePixelFormat,
    /// The device's memory; `None` for shared memory.
    pub dmabuf: Option<Dmabuf>,
}

impl CaptureTarget {
    /// Converts pixels from `XRGB8888`, or from `ARGB8888` if the picture `is_translucent`, into this layout.
    pub(super) fn convert(&self, pixels: &mut [u32], is_translucent: bool) {
        let CapturePixelFormat { swapped, alpha } = self.layout;
        let opaque = if alpha && !is_translucent { 0xff00_0000 } else { 0 };
        if opaque == 0 && !swapped {
            return;
        }
        for pixel in pixels {
            *pixel |= opaque;
            if swapped {
                *pixel = *pixel & 0xff00_ff00 | *pixel >> 16 & 0xff | (*pixel & 0xff) << 16;
            }
        }
    }
}

/// Our own staging memory (a memfd) from which the kernel copies.
pub(super) struct StagingMemory(File);

impl StagingMemory {
    pub fn new() -> io::Result<Self> {
        Ok(StagingMemory(File::from(memfd_create("picture", MemfdFlags::CLOEXEC)?)))
    }

    /// Writes whole rows of a picture of `size`, starting at row `first`. Returns whether the buffer could be written.
    pub fn write(&self, target: &CaptureTarget, pixels: &[u32], first: usize, size: (i32, i32)) -> bool {
        match &target.dmabuf {
            Some(dmabuf) => write_to_device(dmabuf, pixels, first, size),
            None => self.copy(pixels, &target.buffer, first, size),
        }
    }

    #[expect(unsafe_code, reason = "the kernel writes where the client's memory is mapped")]
    fn copy(&self, pixels: &[u32], buffer: &WlBuffer, first: usize, size: (i32, i32)) -> bool {
        let bytes: &[u8] = bytemuck::cast_slice(pixels);
        let row = size.0.unsigned_abs() as usize * size_of::<u32>();
        if row == 0 || self.0.write_all_at(bytes, 0).is_err() {
            return false;
        }
        let copied = with_buffer_contents_mut(buffer, |start, length, data| {
            let stride = usize::try_from(data.stride).unwrap_or(0);
            let begin = usize::try_from(data.offset).ok().and_then(|offset| offset.checked_add(first * stride));
            let rows = bytes.len() / row;
            let end = begin.and_then(|begin| begin.checked_add((rows.max(1) - 1) * stride + row));
            let fits = (data.width, data.height) == size && stride >= row && end.is_some_and(|end| end <= length);
            let Some(begin) = begin.filter(|_| fits) else { return false };
            // Contiguous rows are written as one piece.
            let (piece, pieces) = if stride == row { (bytes.len(), 1) } else { (row, rows) };
            (0..pieces).all(|number| {
                let (to, from) = (begin + number * stride, number * row);
                // SAFETY: all bytes written from `to` on lie before `end`, and so within the `length` bytes mapped at
                // `start`; the mapping stays during this closure. If the client has shrunk the memory, the call fails.
                let read = unsafe { libc::pread(self.0.as_raw_fd(), start.add(to).cast(), piece, from as libc::off_t) };
                usize::try_from(read) == Ok(piece)
            })
        });
        copied.unwrap_or(false)
    }
}

/// Writes rows into a dmabuf, which a client cannot shrink.
#[expect(unsafe_code, reason = "the memory is mapped")]
fn write_to_device(dmabuf: &Dmabuf, pixels: &[u32], first: usize, (width, height): (i32, i32)) -> bool {
    use smithay::backend::allocator::Buffer as _;
    let (row, height) = (width.unsigned_abs() as usize, height.unsigned_abs() as usize);
    let Some(stride) = dmabuf.strides().next().map(|stride| stride as usize) else { return false };
    let Ok(mapping) = dmabuf.map_plane(0, DmabufMappingMode::READ | DmabufMappingMode::WRITE) else { return false };
    // The mapping starts at the buffer's first pixel.
    let ends = height.max(1).saturating_sub(1) * stride + row * size_of::<u32>();
    let fits = (dmabuf.width() as usize, dmabuf.height() as usize) == (row, height)
        && row > 0
        && first + pixels.len() / row <= height
        && ends <= mapping.length();
    if !fits || dmabuf.sync_plane(0, DmabufSyncFlags::START | DmabufSyncFlags::WRITE).is_err() {
        return false;
    }
    for (number, source) in pixels.chunks_exact(row).enumerate() {
        let at = (first + number) * stride;
        // SAFETY: the row lies before `ends`, and so within the mapping, for as long as `mapping` lives; other
        // mappings of this memory have other addresses.
        unsafe {
            let target = mapping.ptr().cast::<u8>().add(at);
            std::ptr::copy_nonoverlapping(source.as_ptr().cast::<u8>(), target, row * size_of::<u32>());
        }
    }
    dmabuf.sync_plane(0, DmabufSyncFlags::END | DmabufSyncFlags::WRITE).is_ok()
}
