//! The session's lock on the outputs: from when on nothing else is shown, and when surely nothing else will be.
//!
//! ```text
//!   asked ─► cover: what was chosen before and no display has is dropped, what displays hold is asked back ─► black, or the lock
//!                                    in flight: shown once more ─┘                                              │ presented
//!   is_everywhere: on each output that is on the lock is on screen, and no frame on its way shows anything else ─┴─► told
//! ```

use super::OutputState;
use super::frame::Content;
use crate::state::State;
use upbeat_timing::frames::{Frame, Stage};
use upbeat_timing::record::Need;

/// From now on nothing but the lock is chosen. What was chosen before and was not submitted yet is not shown.
pub(super) fn cover(state: &mut State) {
    state.shell.end_animations();
    let super::Outputs { list, renderer, .. } = &mut state.outputs;
    for output in list {
        output.drop_undrawn(renderer.as_mut());
        output.conductor.output_mut().withdraw_held();
        output.drawn = std::sync::Arc::default();
        output.stage.forget();
        output.need(Need::Output);
    }
    super::need_all(state);
}

/// Whether every output that is on shows the lock, and whatever else may still be shown does.
pub fn is_everywhere(state: &State) -> bool {
    state.outputs.states().filter(|output| output.on).all(OutputState::shows_the_lock_alone)
}

impl OutputState {
    fn shows_the_lock_alone(&self) -> bool {
        let may_be_shown = |frame: &&Frame<Content>| match frame.stage() {
            Stage::Withdrawn { surely } => !surely,
            Stage::Drawing => !frame.is_unwanted(),
            _ => true,
        };
        let mut frames = self.conductor.output().frames().iter().filter(may_be_shown);
        self.on_screen.locked && frames.all(|frame| frame.content.scene.locked)
    }

    /// Whether pictures may be taken of what is on screen.
    pub fn may_be_captured(&self, covers: bool) -> bool {
        self.on_screen.locked || !covers
    }
}
