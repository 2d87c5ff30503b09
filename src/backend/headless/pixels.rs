//! The pixels on screen: the panel's own, until somebody takes a picture of them.

use std::sync::Arc;

use crate::backend::{Buffer, BufferStorage, PixelBuffer};

/// Pixels that others may read.
#[derive(Debug)]
pub enum Pixels {
    /// Nobody does.
    Own(PixelBuffer),
    /// Somebody may still.
    Shared(Arc<PixelBuffer>),
}

/// A buffer that the panel has, or does without again.
#[derive(Debug)]
pub struct Scanned {
    /// Which one of the pool.
    pub slot: usize,
    /// What is in it.
    pub pixels: Pixels,
}

impl Pixels {
    /// To be looked at.
    pub fn get(&self) -> &PixelBuffer {
        match self {
            Pixels::Own(pixels) => pixels,
            Pixels::Shared(pixels) => pixels,
        }
    }

    /// To be changed. Who took a picture before does not see it: that costs a copy.
    pub fn get_mut(&mut self) -> &mut PixelBuffer {
        match self {
            Pixels::Own(pixels) => pixels,
            Pixels::Shared(pixels) => Arc::make_mut(pixels),
        }
    }

    /// For a picture.
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
        // A panel is given nothing but what its pool recognises, which is memory.
        let pixels = match buffer.storage {
            BufferStorage::Memory(pixels) => pixels,
            BufferStorage::Device(_) | BufferStorage::Mapped(_) => PixelBuffer::default(),
        };
        Scanned { slot: buffer.slot, pixels: Pixels::Own(pixels) }
    }
}
