//! A dumb buffer that a plane can show: memory, handle and framebuffer in one, given back together.

use std::os::fd::AsFd;

use drm_fourcc::DrmFourcc;
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::buffer::Buffer as _;
use smithay::reexports::drm::control::dumbbuffer::DumbBuffer;
use smithay::reexports::drm::control::{Device, framebuffer};

use super::DrmError;
use super::mapping::Mapping;
use crate::backend::PixelRect;

const BITS_PER_PIXEL: u32 = 32;

/// What a dumb buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `XRGB8888`: a whole screen.
    Opaque,
    /// Premultiplied `ARGB8888`: a cursor.
    Translucent,
}

/// Memory that a plane can scan out.
pub(super) struct DumbFrame {
    device: DrmDeviceFd,
    buffer: DumbBuffer,
    framebuffer: framebuffer::Handle,
    mapping: Mapping,
    /// Pixels from one row to the next.
    stride: usize,
    width: i32,
    height: i32,
}

impl DumbFrame {
    /// A buffer of black (or clear) pixels.
    pub fn new(device: &DrmDeviceFd, (width, height): (i32, i32), format: Format) -> Result<Self, DrmError> {
        let failed = |what, error| DrmError::Memory { what, width, height, error };
        let (code, depth) = match format {
            Format::Opaque => (DrmFourcc::Xrgb8888, 24),
            Format::Translucent => (DrmFourcc::Argb8888, 32),
        };
        let size = (width.unsigned_abs(), height.unsigned_abs());
        let buffer = device.create_dumb_buffer(size, code, BITS_PER_PIXEL).map_err(|error| failed("memory", error))?;
        let bytes = buffer.pitch() as usize * size.1 as usize;
        let mapping = Mapping::new(device.as_fd(), buffer.handle().into(), bytes).inspect(Mapping::touch);
        let framebuffer = device.add_framebuffer(&buffer, depth, BITS_PER_PIXEL);
        match (mapping, framebuffer) {
            (Ok(mapping), Ok(framebuffer)) => {
                let stride = buffer.pitch() as usize / size_of::<u32>();
                Ok(DumbFrame { device: device.clone(), buffer, framebuffer, mapping, stride, width, height })
            }
            (mapping, framebuffer) => {
                let error = mapping.err().or(framebuffer.as_ref().err().map(|error| error.kind().into()));
                if let Ok(framebuffer) = framebuffer {
                    let _ = device.destroy_framebuffer(framebuffer);
                }
                let _ = device.destroy_dumb_buffer(buffer);
                Err(failed("a framebuffer", error.unwrap_or_else(|| std::io::ErrorKind::Other.into())))
            }
        }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (i32, i32) {
        (self.width, self.height)
    }

    /// What a plane is told to show.
    pub fn framebuffer(&self) -> framebuffer::Handle {
        self.framebuffer
    }

    /// Pixels from one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All rows, with their padding.
    pub fn pixels_mut(&mut self) -> &mut [u32] {
        self.mapping.pixels_mut()
    }

    /// Whether the CPU reads it about as fast as ordinary memory; to be called where nobody waits.
    pub fn is_quick_to_read(&self) -> bool {
        self.mapping.is_quick()
    }

    /// Copies a rectangle from rows of `width` pixels that hold the same picture. What lies outside is left out.
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

    /// Makes every pixel clear.
    pub fn clear(&mut self) {
        self.mapping.pixels_mut().fill(0);
    }

    /// The rows, without padding.
    pub fn read(&self, into: &mut Vec<u32>) {
        into.clear();
        let rows = self.mapping.pixels().chunks_exact(self.stride).take(self.height as usize);
        rows.for_each(|row| into.extend_from_slice(&row[..(self.width as usize).min(row.len())]));
    }
}

impl Drop for DumbFrame {
    fn drop(&mut self) {
        // A plane that still shows it is switched off by the kernel.
        if let Err(error) = self.device.destroy_framebuffer(self.framebuffer) {
            tracing::debug!(%error, "a framebuffer was gone already");
        }
        if let Err(error) = self.device.destroy_dumb_buffer(self.buffer) {
            tracing::debug!(%error, "a dumb buffer was gone already");
        }
    }
}
