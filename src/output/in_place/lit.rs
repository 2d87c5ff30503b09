//! What was written in place on its way to light: who waits to hear of it.

use super::InPlace;
use crate::backend::LossReason;
use crate::surface::{Feedback, Unshown};
use upbeat_timing::id::{FrameId, SurfaceId};
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::target::RefreshIndex;

/// A rectangle that was written and not lit yet.
#[derive(Debug)]
pub(super) struct Lighting {
    pub frame: FrameId,
    /// Whose content it is.
    pub surface: SurfaceId,
    /// The refresh in which its row is lit.
    pub index: RefreshIndex,
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

/// Content that was lit.
#[derive(Debug)]
pub(in crate::output) struct Lit {
    /// The refresh.
    pub index: RefreshIndex,
    /// Who waits to hear of it.
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

/// Content that was written for a row that a frame replaced: that frame was chosen later, and shows it.
#[derive(Debug)]
pub(in crate::output) struct Orphan {
    pub feedback: Feedback,
    pub record: Option<ClientFrameRecord>,
}

impl InPlace {
    /// A rectangle was written. What was written of the same surface before, and would be lit in the same refresh, is seen by
    /// nobody. Whether anybody was told of that.
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

    /// The rectangle of `frame` is not seen as such.
    pub(in crate::output) fn lost(&mut self, frame: FrameId, reason: LossReason) {
        let Some(place) = self.lighting.iter().position(|known| known.frame == frame) else { return };
        let Lighting { feedback, record, .. } = self.lighting.remove(place);
        match reason {
            LossReason::Superseded => self.orphans.push(Orphan { feedback, record }),
            LossReason::Gone | LossReason::ModeChange | LossReason::Device => feedback.discard(Unshown::Unseen),
        }
    }

    /// What the frame shows that is presented now, beside its own.
    pub(in crate::output) fn take_orphans(&mut self) -> impl Iterator<Item = Orphan> + use<> {
        std::mem::take(&mut self.orphans).into_iter()
    }
}
