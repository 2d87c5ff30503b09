//! Reads clients' buffers on planes back as pixels, for screenshots.
//!
//! Only linear buffers can be read, in the `wl_shm` formats that every compositor has or their red-blue twins. A buffer
//! that cannot be read makes the screenshot fail, since a screenshot without that window would be wrong.

use drm_fourcc::{DrmFourcc, DrmModifier};

use super::mapping::ReadMapping;
use crate::backend::overlay::OverlayPixels;
use crate::backend::plane::{DeviceMemory, PlaneContent};
use crate::backend::{PixelBuffer, PixelRect};

/// The plane's content, at its size on the output.
pub(super) fn whole(content: &PlaneContent) -> Option<PixelBuffer> {
    let (width, height) = (content.target.width, content.target.height);
    let shown = &content.source;
    // A plane's scaling cannot be reproduced to the pixel.
    let unscaled = shown.width == f64::from(width) && shown.height == f64::from(height);
    let aligned = shown.x.fract() == 0.0 && shown.y.fract() == 0.0;
    if !unscaled || !aligned {
        return None;
    }
    let mut picture = PixelBuffer::new(width, height);
    copy(content.memory.device()?, (shown.x as usize, shown.y as usize), &mut picture)?;
    Some(picture)
}

/// Copies the plane's content to its position in a picture of the output.
pub(super) fn put(content: &PlaneContent, picture: &mut PixelBuffer) -> Option<()> {
    let shown = whole(content)?;
    let screen = PixelRect { x: 0, y: 0, width: picture.width, height: picture.height };
    OverlayPixels { rect: content.target, pixels: &shown.pixels }.put(screen, &mut picture.pixels, |_, above| above);
    Some(())
}

/// Fills `picture` from the part of `memory` that begins at (x, y).
fn copy(memory: &DeviceMemory, (x, y): (usize, usize), picture: &mut PixelBuffer) -> Option<()> {
    let linear = DrmModifier::from(memory.modifier) == DrmModifier::Linear;
    let swapped = match DrmFourcc::try_from(memory.format).ok()? {
        DrmFourcc::Xrgb8888 | DrmFourcc::Argb8888 => false,
        DrmFourcc::Xbgr8888 | DrmFourcc::Abgr8888 => true,
        _ => return None,
    };
    let [part] = memory.parts.as_slice() else { return None };
    let pixel = size_of::<u32>();
    let (offset, stride) = (part.offset as usize, part.stride as usize);
    if !linear || !offset.is_multiple_of(pixel) || !stride.is_multiple_of(pixel) {
        return None;
    }
    let mapping = ReadMapping::new(&part.descriptor)
        .inspect_err(|error| tracing::debug!(%error, "a client's buffer cannot be read"))
        .ok()?;
    let (pixels, width) = (mapping.pixels(), picture.width as usize);
    for (row, target) in picture.pixels.chunks_exact_mut(width.max(1)).enumerate() {
        let start = (offset + (y + row) * stride) / pixel + x;
        let source = pixels.get(start..start + width)?;
        for (target, &source) in target.iter_mut().zip(source) {
            *target = if swapped { source.swap_bytes() >> 8 } else { source & 0x00ff_ffff };
        }
    }
    Some(())
}
