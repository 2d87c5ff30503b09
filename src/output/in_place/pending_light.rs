//! Content written in place that has not reached light yet, and its feedback.

use super::InPlaceWrites;
use crate::backend::LossReason;
use crate::surface::{Feedback, FrameDiscardReason};
use upbeat_timing::id::{FrameId, SurfaceId};
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::target::RefreshIndex;

/// A written rectangle that is not lit yet.
#[derive(Debug)]
pub(super) struct PendingWrite {
    pub frame: FrameId,
    pub surface: SurfaceId,
    /// The refresh in which its row is lit.
    pub index: RefreshIndex,
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

/// Content that was lit.
#[derive(Debug)]
pub(in crate::output) struct LitWrite {
    pub index: RefreshIndex,
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

/// Content whose row a newer frame replaced before it was lit. That frame was chosen later, so it shows the same
/// content.
#[derive(Debug)]
pub(in crate::output) struct ReplacedWrite {
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

impl InPlaceWrites {
    /// Adds a written rectangle. An earlier write of the same surface for the same refresh is never visible, so its
    /// feedback is discarded. Returns whether a client was sent such an event.
    pub(super) fn written(&mut self, lighting: PendingWrite) -> bool {
        let mut has_events = false;
        let is_replaced = |known: &PendingWrite| (known.surface, known.index) == (lighting.surface, lighting.index);
        let (replaced, kept) = std::mem::take(&mut self.pending).into_iter().partition(is_replaced);
        self.pending = kept;
        for PendingWrite { feedback, .. } in replaced {
            has_events |= !feedback.is_empty();
            feedback.discard(FrameDiscardReason::Newer);
        }
        self.pending.push(lighting);
        has_events
    }

    /// The rectangle of `frame` is lit.
    pub(in crate::output) fn lit(&mut self, frame: FrameId, torn: bool) -> Option<LitWrite> {
        if torn {
            self.counts.torn += 1;
        } else {
            self.counts.lit += 1;
        }
        let place = self.pending.iter().position(|known| known.frame == frame)?;
        let PendingWrite { index, feedback, record, .. } = self.pending.remove(place);
        Some(LitWrite { index, feedback, record })
    }

    /// The rectangle of `frame` will not be lit.
    pub(in crate::output) fn lost(&mut self, frame: FrameId, reason: LossReason) {
        let Some(place) = self.pending.iter().position(|known| known.frame == frame) else { return };
        let PendingWrite { feedback, record, .. } = self.pending.remove(place);
        match reason {
            LossReason::Superseded => self.replaced.push(ReplacedWrite { feedback, record }),
            LossReason::Gone | LossReason::ModeChange | LossReason::Device => {
                feedback.discard(FrameDiscardReason::Unseen)
            }
        }
    }

    /// Content written in place that the frame presented now shows, too.
    pub(in crate::output) fn take_replaced(&mut self) -> impl Iterator<Item = ReplacedWrite> + use<> {
        std::mem::take(&mut self.replaced).into_iter()
    }
}
