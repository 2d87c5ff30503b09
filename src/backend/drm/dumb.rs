//! Dumb buffers that a plane can show: memory, handle and framebuffer, freed together. One buffer may hold several
//! pictures, one below the other.

use std::os::fd::AsFd;
use std::sync::Arc;

use drm_fourcc::DrmFourcc;
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::buffer::Buffer as _;
use smithay::reexports::drm::control::dumbbuffer::DumbBuffer;
use smithay::reexports::drm::control::{Device, framebuffer};

use super::DrmError;
use super::mapping::Mapping;
use crate::backend::PixelRect;

const BITS_PER_PIXEL: u32 = 32;

/// The pixel format of a dumb buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `XRGB8888`: a whole screen.
    Opaque,
    /// Premultiplied `ARGB8888`: a cursor.
    Translucent,
}

/// Memory that a plane can scan out.
struct DumbMemory {
    device: DrmDeviceFd,
    buffer: DumbBuffer,
    framebuffer: framebuffer::Handle,
}

impl DumbMemory {
    fn new(device: &DrmDeviceFd, (width, height): (i32, i32), format: Format) -> Result<Self, DrmError> {
        let failed = |what, error| DrmError::Memory { what, width, height, error };
        let (code, depth) = match format {
            Format::Opaque => (DrmFourcc::Xrgb8888, 24),
            Format::Translucent => (DrmFourcc::Argb8888, 32),
        };
        let size = (width.unsigned_abs(), height.unsigned_abs());
        let buffer = device.create_dumb_buffer(size, code, BITS_PER_PIXEL).map_err(|error| failed("memory", error))?;
        match device.add_framebuffer(&buffer, depth, BITS_PER_PIXEL) {
            Ok(framebuffer) => Ok(DumbMemory { device: device.clone(), buffer, framebuffer }),
            Err(error) => {
                let _ = device.destroy_dumb_buffer(buffer);
                Err(failed("framebuffer", error))
            }
        }
    }
}

/// A picture in a dumb buffer.
pub(super) struct DumbFrame {
    memory: Arc<DumbMemory>,
    /// Maps the whole buffer for each picture in it, but exposes only this picture's pixels.
    mapping: Mapping,
    /// Pixels from one row to the next.
    stride: usize,
    /// The picture's first row within the buffer.
    top: i32,
    width: i32,
    height: i32,
}

impl DumbFrame {
    /// A buffer of black (or transparent) pixels.
    pub fn new(device: &DrmDeviceFd, size: (i32, i32), format: Format) -> Result<Self, DrmError> {
        let memory = Arc::new(DumbMemory::new(device, size, format)?);
        Self::within(&memory, 0, size)
    }

    /// A buffer of `count` pictures, one below the other.
    pub fn stack(
        device: &DrmDeviceFd,
        (width, height): (i32, i32),
        count: i32,
        format: Format,
    ) -> Result<Vec<Self>, DrmError> {
        let memory = Arc::new(DumbMemory::new(device, (width, height * count), format)?);
        (0..count).map(|index| Self::within(&memory, index * height, (width, height))).collect()
    }

    /// The picture of this size that begins at row `top`.
    fn within(memory: &Arc<DumbMemory>, top: i32, (width, height): (i32, i32)) -> Result<Self, DrmError> {
        let (buffer, rows) = (&memory.buffer, |rows: i32| rows.unsigned_abs() as usize);
        let stride = buffer.pitch() as usize / size_of::<u32>();
        let bytes = buffer.pitch() as usize * buffer.size().1 as usize;
        let own = stride * rows(top)..stride * rows(top + height);
        let mapping = Mapping::new(memory.device.as_fd(), buffer.handle().into(), bytes, own);
        let mapping = mapping.map_err(|error| DrmError::Memory { what: "mapping", width, height, error })?;
        mapping.touch();
        Ok(DumbFrame { memory: memory.clone(), mapping, stride, top, width, height })
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (i32, i32) {
        (self.width, self.height)
    }

    pub fn framebuffer(&self) -> framebuffer::Handle {
        self.memory.framebuffer
    }

    /// The picture's first row within the framebuffer.
    pub fn top(&self) -> i32 {
        self.top
    }

    /// Pixels from one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All rows, with their padding.
    pub fn pixels_mut(&mut self) -> &mut [u32] {
        self.mapping.pixels_mut()
    }

    /// Whether the CPU reads it about as fast as ordinary memory. The test takes time: call it where no frame is due.
    pub fn is_quick_to_read(&self) -> bool {
        self.mapping.is_quick()
    }

    /// Copies a rectangle from the same picture with rows of `width` pixels. Pixels outside either picture are skipped.
    pub fn copy(&mut self, from: &[u32], width: i32, rect: PixelRect) {
        let (left, right) = (rect.x.max(0), (rect.x + rect.width).min(self.width).min(width));
        if left >= right {
            return;
        }
        let stride = self.stride;
        let to = self.mapping.pixels_mut();
        for row in rect.y.max(0)..(rect.y + rect.height).min(self.height) {
            let (from_row, to_row) = (row as usize * width as usize, row as usize * stride);
            let columns = left as usize..right as usize;
            let source = from.get(from_row + columns.start..from_row + columns.end);
            let target = to.get_mut(to_row + columns.start..to_row + columns.end);
            if let (Some(source), Some(target)) = (source, target) {
                target.copy_from_slice(source);
            }
        }
    }

    /// Makes every pixel transparent.
    pub fn clear(&mut self) {
        self.mapping.pixels_mut().fill(0);
    }

    /// Writes a rectangle from its own pixels. Rows and columns outside the picture are skipped.
    pub fn write(&mut self, rect: PixelRect, pixels: &[u32]) {
        let (stride, size) = (self.stride, self.size());
        let rows = pixels.chunks_exact(rect.width.max(1) as usize);
        for (y, row) in (rect.y..rect.y + rect.height).zip(rows) {
            let (left, right) = (rect.x.max(0), (rect.x + rect.width).min(size.0));
            if y < 0 || y >= size.1 || left >= right {
                continue;
            }
            let (from, to) = ((left - rect.x) as usize, y as usize * stride + left as usize);
            let length = (right - left) as usize;
            let target = self.mapping.pixels_mut().get_mut(to..to + length);
            if let (Some(source), Some(target)) = (row.get(from..from + length), target) {
                target.copy_from_slice(source);
            }
        }
    }

    /// Appends these rows, without padding.
    pub fn read(&self, rows: std::ops::Range<i32>, into: &mut Vec<u32>) {
        let (first, count) = (rows.start.max(0) as usize, rows.len());
        let rows = self.mapping.pixels().chunks_exact(self.stride).skip(first).take(count);
        rows.for_each(|row| into.extend_from_slice(&row[..(self.width as usize).min(row.len())]));
    }
}

impl Drop for DumbMemory {
    fn drop(&mut self) {
        // The kernel switches off a plane that still shows it.
        if let Err(error) = self.device.destroy_framebuffer(self.framebuffer) {
            tracing::debug!(%error, "a framebuffer was gone already");
        }
        if let Err(error) = self.device.destroy_dumb_buffer(self.buffer) {
            tracing::debug!(%error, "a dumb buffer was gone already");
        }
    }
}
