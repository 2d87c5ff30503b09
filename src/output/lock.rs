//! The session lock on outputs: when only lock content is composed, and when only lock content can still be shown.
//!
//! ```text
//!   asked ─► cover: queued frames are dropped, frames that displays hold are withdrawn ─► black, or the lock
//!                                  in flight: shown once more ─┘                                          │ presented
//!   is_shown_everywhere: each output that is on shows the lock, and no frame in flight anything else ─────┴─► `locked`
//! ```

use super::OutputState;
use super::frame::FrameContent;
use crate::state::State;
use upbeat_timing::frames::{FrameStage, QueuedFrame};
use upbeat_timing::record::RepaintReason;

/// From now on only lock content is composed. Frames composed before but not yet submitted are dropped.
pub(super) fn drop_unlocked_frames(state: &mut State) {
    state.shell.end_animations();
    let super::Outputs { list, renderer, .. } = &mut state.outputs;
    for output in list {
        output.discard_undrawn(renderer.as_mut());
        output.conductor.output_mut().withdraw_held();
        output.drawn_scene = std::sync::Arc::default();
        output.scene_cache.invalidate();
        output.schedule_repaint(RepaintReason::Output);
    }
    super::schedule_repaint_all(state);
}

/// Whether every output that is on shows the lock, and every frame still in flight does so too.
pub fn is_shown_everywhere(state: &State) -> bool {
    state.outputs.states().filter(|output| output.on).all(OutputState::shows_the_lock_alone)
}

impl OutputState {
    fn shows_the_lock_alone(&self) -> bool {
        let may_be_shown = |frame: &&QueuedFrame<FrameContent>| match frame.stage() {
            // Unless the display is sure, the frame may have been flipped at the moment of its withdrawal.
            FrameStage::Withdrawn { surely } => !surely,
            // A discarded frame is never submitted.
            FrameStage::Drawing => !frame.is_discarded(),
            _ => true,
        };
        let mut frames = self.conductor.output().frames().iter().filter(may_be_shown);
        self.on_screen.locked && frames.all(|frame| frame.content.scene.locked)
    }

    /// Whether the content on screen may be captured.
    pub fn may_be_captured(&self, covers: bool) -> bool {
        self.on_screen.locked || !covers
    }
}
