//! Who is to be told what became of content: travels with it from the commit through queue, latch and flight.

use std::time::Duration;

use smithay::output::Output;
use smithay::reexports::wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::Kind;
use smithay::wayland::presentation::{PresentationFeedbackCallback, Refresh};

use super::paced_frame::{PacedFrame, Path, Unshown};
use upbeat_timing::time::Instant;

/// Everybody who waits for one piece of content to be shown.
#[derive(Debug, Default)]
pub struct Feedback {
    /// Objects of `wp_presentation`.
    pub presentation: Vec<PresentationFeedbackCallback>,
    /// Those of them whose content a plane shows as its client drew it.
    pub uncopied: Vec<PresentationFeedbackCallback>,
    /// The target that it was drawn for.
    pub frames: Vec<PacedFrame>,
}

/// A refresh that showed something.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// When its scan-out started.
    pub present: Instant,
    /// The distance to the next refresh.
    pub refresh: Refresh,
    /// Its number, as the display counts.
    pub sequence: u64,
    /// What the time stamp is worth.
    pub flags: Kind,
}

impl Feedback {
    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.presentation.is_empty() && self.uncopied.is_empty() && self.frames.is_empty()
    }

    /// Adds those who wait for the same content, or for other content of the same frame.
    pub fn extend(&mut self, other: Feedback) {
        self.presentation.extend(other.presentation);
        self.uncopied.extend(other.uncopied);
        self.frames.extend(other.frames);
    }

    /// A plane shows the content as its client drew it.
    pub fn uncopied(mut self, path: Path) -> Self {
        self.frames.iter_mut().for_each(|frame| frame.path = path);
        self.uncopied.append(&mut self.presentation);
        self
    }

    /// A latch took the content.
    pub fn latched(&self) {
        self.frames.iter().for_each(PacedFrame::latched);
    }

    /// It will never be shown.
    pub fn discard(self, why: Unshown) {
        self.presentation.into_iter().chain(self.uncopied).for_each(PresentationFeedbackCallback::discarded);
        self.frames.into_iter().for_each(|frame| frame.discarded(why));
    }

    /// It was shown.
    pub fn presented(self, output: &Output, shown: Shown) {
        let since_epoch: Duration = shown.present.since_epoch();
        let composed = self.presentation.into_iter().map(|feedback| (feedback, shown.flags));
        let uncopied = self.uncopied.into_iter().map(|feedback| (feedback, shown.flags | Kind::ZeroCopy));
        for (feedback, flags) in composed.chain(uncopied) {
            feedback.presented(output, since_epoch, shown.refresh, shown.sequence, flags);
        }
        self.frames.into_iter().for_each(|frame| frame.presented(shown.present));
    }
}
