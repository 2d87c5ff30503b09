//! The buffer formats that an output's planes can scan out, sent to surfaces on that output
//! (`zwp_linux_dmabuf_feedback_v1`): a buffer of such a format may reach the screen without being copied.

use std::cell::RefCell;

use smithay::output::Output;
use smithay::wayland::compositor::SurfaceData;
use smithay::wayland::dmabuf::{DmabufFeedback, SurfaceDmabufFeedbackState};

/// Stored in an output whose planes show client buffers, until the output is gone.
#[derive(Default)]
struct ScanoutFeedback(RefCell<Option<DmabufFeedback>>);

/// Sets the feedback for surfaces on `output`.
pub fn set_feedback(output: &Output, feedback: DmabufFeedback) {
    output.user_data().get_or_insert(ScanoutFeedback::default).0.replace(Some(feedback));
}

/// `output` is gone. Its global lives on for a while, but no surface will be on it; so the feedback, which holds a file
/// descriptor, is dropped.
pub fn forget(output: &Output) {
    output.user_data().get::<ScanoutFeedback>().map(|scanout| scanout.0.take());
}

/// The feedback for surfaces on `output`; `None`: the default feedback.
pub fn of(output: &Output) -> Option<DmabufFeedback> {
    output.user_data().get::<ScanoutFeedback>()?.0.borrow().clone()
}

/// A surface is on `output` now: sends it that output's feedback, if its client has asked for feedback.
pub fn send_feedback(states: &SurfaceData, output: &Output) {
    if let (Some(surface_feedback), Some(feedback)) = (SurfaceDmabufFeedbackState::from_states(states), of(output)) {
        surface_feedback.set_feedback(&feedback);
    }
}
