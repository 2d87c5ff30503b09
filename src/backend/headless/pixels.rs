//! The pixels on screen, copied on write while a snapshot refers to them.

use std::sync::Arc;

use crate::backend::{Buffer, BufferStorage, PixelBuffer};

/// Pixels that snapshots may share.
#[derive(Debug)]
pub enum Pixels {
    /// No snapshot has been taken of them.
    Own(PixelBuffer),
    /// A snapshot may still refer to them.
    Shared(Arc<PixelBuffer>),
}

/// A buffer that is, or was, on screen.
#[derive(Debug)]
pub struct Scanned {
    /// Index of the buffer in its pool.
    pub slot: usize,
    pub pixels: Pixels,
}

impl Pixels {
    pub fn get(&self) -> &PixelBuffer {
        match self {
            Pixels::Own(pixels) => pixels,
            Pixels::Shared(pixels) => pixels,
        }
    }

    /// Writable pixels. If a snapshot refers to them they are copied first, so that it does not change.
    pub fn get_mut(&mut self) -> &mut PixelBuffer {
        match self {
            Pixels::Own(pixels) => pixels,
            Pixels::Shared(pixels) => Arc::make_mut(pixels),
        }
    }

    /// Pixels for a snapshot, shared from now on.
    pub fn share(&mut self) -> Arc<PixelBuffer> {
        if let Pixels::Own(pixels) = self {
            *self = Pixels::Shared(Arc::new(std::mem::take(pixels)));
        }
        match self {
            Pixels::Shared(pixels) => pixels.clone(),
            Pixels::Own(_) => Arc::default(),
        }
    }
}

impl From<Buffer> for Scanned {
    fn from(buffer: Buffer) -> Self {
        // The panel gets only buffers that its pool recognises, and these are all in memory.
        let pixels = match buffer.storage {
            BufferStorage::Memory(pixels) => pixels,
            BufferStorage::Device(_) | BufferStorage::Mapped(_) => PixelBuffer::default(),
        };
        Scanned { slot: buffer.slot, pixels: Pixels::Own(pixels) }
    }
}
