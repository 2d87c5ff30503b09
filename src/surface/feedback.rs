//! Presentation feedback: travels with content from the commit through queue, latch and flip.

use std::time::Duration;

use smithay::output::Output;
use smithay::reexports::wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::Kind;
use smithay::wayland::presentation::{PresentationFeedbackCallback, Refresh};

use super::paced_frame::{FrameDiscardReason, PacedFrame, PresentPath};
use upbeat_timing::time::Instant;

/// The feedback objects that wait for one piece of content to be presented.
#[derive(Debug, Default)]
pub struct Feedback {
    /// `wp_presentation_feedback` objects of content that was composited.
    pub presentation: Vec<PresentationFeedbackCallback>,
    /// `wp_presentation_feedback` objects of content that a plane shows directly (zero-copy).
    pub uncopied: Vec<PresentationFeedbackCallback>,
    /// Frames of clients with frame pacing, bound to a target.
    pub frames: Vec<PacedFrame>,
}

/// A refresh that showed a new frame.
#[derive(Clone, Copy, Debug)]
pub struct PresentationInfo {
    /// When its scan-out started.
    pub present: Instant,
    pub refresh: Refresh,
    /// The display's sequence number (MSC).
    pub sequence: u64,
    /// Where the time stamp comes from: `wp_presentation_feedback.kind`.
    pub flags: Kind,
}

impl Feedback {
    pub fn is_empty(&self) -> bool {
        self.presentation.is_empty() && self.uncopied.is_empty() && self.frames.is_empty()
    }

    /// Adds the feedback of the same content, or of other content in the same frame.
    pub fn extend(&mut self, other: Feedback) {
        self.presentation.extend(other.presentation);
        self.uncopied.extend(other.uncopied);
        self.frames.extend(other.frames);
    }

    /// Marks the content as shown directly by a plane.
    pub fn mark_zero_copy(mut self, path: PresentPath) -> Self {
        self.frames.iter_mut().for_each(|frame| frame.path = path);
        self.uncopied.append(&mut self.presentation);
        self
    }

    pub fn latched(&self) {
        self.frames.iter().for_each(PacedFrame::latched);
    }

    /// The content will never be shown.
    pub fn discard(self, why: FrameDiscardReason) {
        self.presentation.into_iter().chain(self.uncopied).for_each(PresentationFeedbackCallback::discarded);
        self.frames.into_iter().for_each(|frame| frame.discarded(why));
    }

    pub fn presented(self, output: &Output, shown: PresentationInfo) {
        let since_epoch: Duration = shown.present.since_epoch();
        let composed = self.presentation.into_iter().map(|feedback| (feedback, shown.flags));
        let uncopied = self.uncopied.into_iter().map(|feedback| (feedback, shown.flags | Kind::ZeroCopy));
        for (feedback, flags) in composed.chain(uncopied) {
            feedback.presented(output, since_epoch, shown.refresh, shown.sequence, flags);
        }
        self.frames.into_iter().for_each(|frame| frame.presented(shown.present));
    }
}
