//! Observers of the panel: recorders and light probes.

use super::image::PanelImage;

pub use upbeat_record::recording::ScreenTime;

/// An observer of the panel. It is called on the display's thread and must not block.
pub trait PanelWatch {
    /// The panel shows this image from `image.refresh` on. If the front buffer is written to, a further call for
    /// the same refresh replaces this image.
    fn image_changed(&mut self, image: &PanelImage<'_>) {
        let _ = image;
    }

    /// The last changed image stays as it is until another is shown. This is the right time to copy it: during a
    /// rewrite there is no time to lose.
    fn image_stays(&mut self, image: &PanelImage<'_>) {
        let _ = image;
    }

    /// A refresh has passed whose image is unknown.
    fn image_unproven(&mut self) {}

    /// This image was on screen, unchanged in all its refreshes, and is not any more.
    fn image_done(&mut self, image: &PanelImage<'_>, shown: ScreenTime) {
        let _ = (image, shown);
    }
}

/// Identifies a watch, to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchId(pub(super) u64);
