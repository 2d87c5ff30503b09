//! Whoever looks at the panel: recorders and probes.

use super::grid::Refresh;
use super::image::PanelImage;
use crate::backend::FrameId;
use crate::time::Instant;

/// From when to when an image was on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The first refresh that showed it.
    pub first: Refresh,
    /// The start of the refresh that showed something else, or when the panel went dark or watching ended.
    pub until: Instant,
    /// The frame that made it look like this.
    pub frame: FrameId,
}

/// Something that looks at the panel. It is called on the display's thread and must not wait for anything.
pub trait Watch {
    /// From `image.refresh` on the panel shows this. If the front buffer is written to, it may be called again for the
    /// same refresh, and what it is given replaces what it was given before.
    fn image_changed(&mut self, image: &PanelImage<'_>) {
        let _ = image;
    }

    /// What was changed last is as it will be until something else is shown: who wants to keep it does well to do so now. While it is
    /// rewritten, every moment counts.
    fn image_stays(&mut self, image: &PanelImage<'_>) {
        let _ = image;
    }

    /// A refresh went by of which nobody knows what it showed.
    fn image_unproven(&mut self) {}

    /// This was on screen, in all its refreshes exactly like this, and is not any more.
    fn image_done(&mut self, image: &PanelImage<'_>, shown: Shown) {
        let _ = (image, shown);
    }
}

/// Which watch; to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchId(pub(super) u64);
