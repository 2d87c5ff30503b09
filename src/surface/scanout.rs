//! What an output's planes can show, as surfaces on that output are told it (`zwp_linux_dmabuf_feedback_v1`): a buffer of
//! that kind may reach the screen without being copied.

use std::cell::RefCell;

use smithay::output::Output;
use smithay::wayland::compositor::SurfaceData;
use smithay::wayland::dmabuf::{DmabufFeedback, SurfaceDmabufFeedbackState};

/// Lies in an output whose planes show clients' buffers, until it is gone.
#[derive(Default)]
struct Scanout(RefCell<Option<DmabufFeedback>>);

/// Surfaces on `output` are told `feedback` from now on.
pub fn keep(output: &Output, feedback: DmabufFeedback) {
    output.user_data().get_or_insert(Scanout::default).0.replace(Some(feedback));
}

/// `output` is gone. Clients may bind it for a while yet, but nothing will be on it: what surfaces were told has a
/// descriptor, which is not kept.
pub fn forget(output: &Output) {
    output.user_data().get::<Scanout>().map(|scanout| scanout.0.take());
}

/// What surfaces on `output` are told; `None`: what all are.
pub fn of(output: &Output) -> Option<DmabufFeedback> {
    output.user_data().get::<Scanout>()?.0.borrow().clone()
}

/// A surface is on `output` now: it is told, if it wants to know and does not yet.
pub fn prefer(states: &SurfaceData, output: &Output) {
    if let (Some(told), Some(feedback)) = (SurfaceDmabufFeedbackState::from_states(states), of(output)) {
        told.set_feedback(&feedback);
    }
}
