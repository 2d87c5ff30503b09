//! The overlay planes of the panel: clients' buffers above the composed picture.
//!
//! A real plane reads its buffer in each refresh. The client may not draw into the buffer while the plane shows it, so
//! one copy at the flip gives the same picture.

use std::sync::Arc;

use crate::backend::overlay::{self, OverlayPixels};
use crate::backend::plane::{PlaneContent, PlaneContents, PlaneMemory};
use crate::backend::{PixelRect, SubmitError, VideoMode};

/// A pixel of a buffer that can no longer be read.
const BLACK: u32 = 0xff00_0000;
/// The bits of a pixel that a plane for opaque pixels ignores.
const ALPHA: u32 = 0xff00_0000;

/// A client's buffer on the panel. Snapshots share the pixels.
#[derive(Clone, Debug, Default)]
pub struct PanelOverlay {
    rect: Option<PixelRect>,
    /// Its pixels are blended with the picture below.
    is_translucent: bool,
    pixels: Arc<Vec<u32>>,
}

/// All overlay planes of a panel.
#[derive(Debug, Default)]
pub struct PanelOverlays {
    list: Vec<PanelOverlay>,
    /// Keeps the buffers from their clients while they are shown.
    planes: PlaneContents,
}

impl PanelOverlay {
    /// Blends it into `pixels`, which cover `rect` of the panel.
    pub fn put(&self, rect: PixelRect, pixels: &mut [u32]) {
        let Some(own) = self.rect else { return };
        let overlay = OverlayPixels { rect: own, pixels: &self.pixels };
        match self.is_translucent {
            true => overlay.put(rect, pixels, overlay::over),
            false => overlay.put(rect, pixels, |_, above| above | ALPHA),
        }
    }

    /// Copies `content`. Its memory is reused unless a snapshot refers to it.
    fn read(&mut self, content: &PlaneContent) {
        let PixelRect { width, height, .. } = content.target;
        let count = (width.max(0) as usize) * (height.max(0) as usize);
        if Arc::get_mut(&mut self.pixels).is_none() {
            self.pixels = Arc::default();
        }
        let Some(pixels) = Arc::get_mut(&mut self.pixels) else { return };
        pixels.resize(count, BLACK);
        let is_read = match &content.memory {
            PlaneMemory::Shared(memory) => memory.read(0, height, pixels),
            PlaneMemory::Device(_) => false,
        };
        if !is_read {
            pixels.fill(BLACK);
        }
        (self.rect, self.is_translucent) = (Some(content.target), !content.is_opaque);
    }
}

impl PanelOverlays {
    /// The overlays, topmost first.
    pub fn list(&self) -> &[PanelOverlay] {
        &self.list
    }

    /// Shows these buffers instead of the present ones, which go back to their clients.
    pub fn show(&mut self, planes: PlaneContents) {
        self.list.resize_with(planes.overlays.len(), PanelOverlay::default);
        self.list.iter_mut().zip(&planes.overlays).for_each(|(overlay, content)| overlay.read(content));
        self.planes = planes;
    }

    pub fn clear(&mut self) {
        *self = PanelOverlays::default();
    }
}

/// Whether a panel with this mode and this number of overlay planes can show `planes`.
pub(super) fn test(planes: &PlaneContents, mode: VideoMode, overlays: u32) -> Result<(), SubmitError> {
    let fits = |content: &PlaneContent| {
        let (source, target) = (content.source, content.target);
        (1..=mode.width).contains(&target.width)
            && (1..=mode.height).contains(&target.height)
            && (source.width, source.height) == (f64::from(target.width), f64::from(target.height))
    };
    let is_shared = |content: &PlaneContent| content.memory.device().is_none();
    let problem = if planes.direct.is_some() {
        "the primary plane shows composed pictures only"
    } else if planes.overlays.len() > overlays as usize {
        "there are not enough overlay planes"
    } else if !planes.overlays.iter().all(is_shared) {
        "the overlay planes show shared memory only"
    } else if !planes.overlays.iter().all(fits) {
        "an overlay plane shows a buffer unscaled, and no larger than the output"
    } else {
        return Ok(());
    };
    Err(SubmitError::Unsupported(problem))
}
