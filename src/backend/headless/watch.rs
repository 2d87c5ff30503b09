//! Whoever looks at the panel: recorders and probes.

use super::image::PanelImage;

pub use upbeat_record::recording::Shown;

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
