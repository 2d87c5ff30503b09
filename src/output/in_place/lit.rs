//! Content written in place that has not reached light yet, and its feedback.

use super::InPlace;
use crate::backend::LossReason;
use crate::surface::{Feedback, Unshown};
use upbeat_timing::id::{FrameId, SurfaceId};
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::target::RefreshIndex;

/// A written rectangle that is not lit yet.
#[derive(Debug)]
pub(super) struct Lighting {
    pub frame: FrameId,
    pub surface: SurfaceId,
    /// The refresh in which its row is lit.
    pub index: RefreshIndex,
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

/// Content that was lit.
#[derive(Debug)]
pub(in crate::output) struct Lit {
    pub index: RefreshIndex,
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

/// Content whose row a newer frame replaced before it was lit. That frame was chosen later, so it shows the same
/// content.
#[derive(Debug)]
pub(in crate::output) struct Orphan {
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

impl InPlace {
    /// Adds a written rectangle. An earlier write of the same surface for the same refresh is never visible, so its
    /// feedback is discarded. Returns whether a client was sent such an event.
    pub(super) fn written(&mut self, lighting: Lighting) -> bool {
        let mut told = false;
        let is_replaced = |known: &Lighting| (known.surface, known.index) == (lighting.surface, lighting.index);
        let (replaced, kept) = std::mem::take(&mut self.lighting).into_iter().partition(is_replaced);
        self.lighting = kept;
        for Lighting { feedback, .. } in replaced {
            told |= !feedback.is_empty();
            feedback.discard(Unshown::Newer);
        }
        self.lighting.push(lighting);
        told
    }

    /// The rectangle of `frame` is lit.
    pub(in crate::output) fn lit(&mut self, frame: FrameId, torn: bool) -> Option<Lit> {
        if torn {
            self.counts.torn += 1;
        } else {
            self.counts.lit += 1;
        }
        let place = self.lighting.iter().position(|known| known.frame == frame)?;
        let Lighting { index, feedback, record, .. } = self.lighting.remove(place);
        Some(Lit { index, feedback, record })
    }

    /// The rectangle of `frame` will not be lit.
    pub(in crate::output) fn lost(&mut self, frame: FrameId, reason: LossReason) {
        let Some(place) = self.lighting.iter().position(|known| known.frame == frame) else { return };
        let Lighting { feedback, record, .. } = self.lighting.remove(place);
        match reason {
            LossReason::Superseded => self.orphans.push(Orphan { feedback, record }),
            LossReason::Gone | LossReason::ModeChange | LossReason::Device => feedback.discard(Unshown::Unseen),
        }
    }

    /// Content written in place that the frame presented now shows, too.
    pub(in crate::output) fn take_orphans(&mut self) -> impl Iterator<Item = Orphan> + use<> {
        std::mem::take(&mut self.orphans).into_iter()
    }
}
