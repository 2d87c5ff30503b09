//! The pixels on screen, copied on write while a snapshot refers to them, or kept by the renderer.

use std::sync::Arc;

use crate::backend::kept::KeptPixels;
use crate::backend::{Buffer, BufferStorage, PixelBuffer, ScreenSnapshot};

/// Pixels that snapshots may share.
#[derive(Debug)]
pub enum SharedPixels {
    /// No snapshot has been taken of them.
    Own(PixelBuffer),
    /// A snapshot may still refer to them.
    Shared(Arc<PixelBuffer>),
    /// The renderer keeps them.
    Kept(KeptPixels),
}

/// A buffer that is, or was, on screen.
#[derive(Debug)]
pub struct PanelBuffer {
    /// Index of the buffer in its pool.
    pub slot: usize,
    pub pixels: SharedPixels,
}

impl SharedPixels {
    /// The pixels; those of an earlier frame if the renderer keeps them, so they must be [fetched](Self::fetch) before.
    pub fn get(&self) -> &PixelBuffer {
        match self {
            SharedPixels::Own(pixels) => pixels,
            SharedPixels::Shared(pixels) => pixels,
            SharedPixels::Kept(kept) => &kept.memory,
        }
    }

    /// The picture that the renderer keeps.
    pub const fn kept(&self) -> Option<&ScreenSnapshot> {
        match self {
            SharedPixels::Kept(kept) => Some(&kept.picture),
            SharedPixels::Own(_) | SharedPixels::Shared(_) => None,
        }
    }

    /// Copies pixels that the renderer keeps. Blocks until it has answered.
    pub fn fetch(&mut self) {
        if matches!(self, SharedPixels::Kept(_))
            && let SharedPixels::Kept(kept) = std::mem::replace(self, SharedPixels::Own(PixelBuffer::default()))
        {
            *self = SharedPixels::Own(kept.fetch());
        }
    }

    /// Writable pixels. If a snapshot refers to them they are copied first, so that it does not change.
    pub fn get_mut(&mut self) -> &mut PixelBuffer {
        self.fetch();
        match self {
            SharedPixels::Own(pixels) => pixels,
            SharedPixels::Shared(pixels) => Arc::make_mut(pixels),
            SharedPixels::Kept(kept) => &mut kept.memory,
        }
    }

    /// Pixels for a snapshot, shared from now on.
    pub fn share(&mut self) -> Arc<PixelBuffer> {
        self.fetch();
        if let SharedPixels::Own(pixels) = self {
            *self = SharedPixels::Shared(Arc::new(std::mem::take(pixels)));
        }
        match self {
            SharedPixels::Shared(pixels) => pixels.clone(),
            SharedPixels::Own(_) | SharedPixels::Kept(_) => Arc::default(),
        }
    }
}

impl From<Buffer> for PanelBuffer {
    fn from(buffer: Buffer) -> Self {
        // The panel gets only buffers that its pool recognises: in memory, or kept by the renderer.
        let pixels = match buffer.storage {
            BufferStorage::Memory(pixels) => SharedPixels::Own(pixels),
            BufferStorage::Kept(kept) => SharedPixels::Kept(kept),
            BufferStorage::Device(_) | BufferStorage::Mapped(_) => SharedPixels::Own(PixelBuffer::default()),
        };
        PanelBuffer { slot: buffer.slot, pixels }
    }
}
