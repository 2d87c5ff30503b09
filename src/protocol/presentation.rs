//! `wp_presentation` 2: when a commit turned to light. The clock is `CLOCK_MONOTONIC`, as everywhere in the
//! compositor. Feedback objects are taken from the surface when their update is applied, and the output answers them.

use smithay::reexports::wayland_protocols::wp::presentation_time::server::wp_presentation::WpPresentation;
use smithay::reexports::wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::WpPresentationFeedback;
use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::presentation::PresentationFeedbackState;
use smithay::wayland::presentation::PresentationState;

use super::dispatch_guard::delegate;
use crate::state::State;

pub fn new(display: &DisplayHandle) -> PresentationState {
    PresentationState::new::<State>(display, libc::CLOCK_MONOTONIC as u32)
}

delegate!(global WpPresentation: u32 => PresentationState);
delegate!(WpPresentation: u32 => PresentationState);
delegate!(WpPresentationFeedback: () => PresentationFeedbackState);
