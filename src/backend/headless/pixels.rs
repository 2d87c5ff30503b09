//! The pixels on screen, copied on write while a snapshot refers to them.

use std::sync::Arc;

use crate::backend::{Buffer, BufferStorage, PixelBuffer};

/// Pixels that snapshots may share.
#[derive(Debug)]
pub enum SharedPixels {
    /// No snapshot has been taken of them.
    Own(PixelBuffer),
    /// A snapshot may still refer to them.
    Shared(Arc<PixelBuffer>),
}

/// A buffer that is, or was, on screen.
#[derive(Debug)]
pub struct PanelBuffer {
    /// Index of the buffer in its pool.
    pub slot: usize,
    pub pixels: SharedPixels,
}

impl SharedPixels {
    pub fn get(&self) -> &PixelBuffer {
        match self {
            SharedPixels::Own(pixels) => pixels,
            SharedPixels::Shared(pixels) => pixels,
        }
    }

    /// Writable pixels. If a snapshot refers to them they are copied first, so that it does not change.
    pub fn get_mut(&mut self) -> &mut PixelBuffer {
        match self {
            SharedPixels::Own(pixels) => pixels,
            SharedPixels::Shared(pixels) => Arc::make_mut(pixels),
        }
    }

    /// Pixels for a snapshot, shared from now on.
    pub fn share(&mut self) -> Arc<PixelBuffer> {
        if let SharedPixels::Own(pixels) = self {
            *self = SharedPixels::Shared(Arc::new(std::mem::take(pixels)));
        }
        match self {
            SharedPixels::Shared(pixels) => pixels.clone(),
            SharedPixels::Own(_) => Arc::default(),
        }
    }
}

impl From<Buffer> for PanelBuffer {
    fn from(buffer: Buffer) -> Self {
        // The panel gets only buffers that its pool recognises, and these are all in memory.
        let pixels = match buffer.storage {
            BufferStorage::Memory(pixels) => pixels,
            BufferStorage::Device(_) | BufferStorage::Mapped(_) => PixelBuffer::default(),
        };
        PanelBuffer { slot: buffer.slot, pixels: SharedPixels::Own(pixels) }
    }
}
