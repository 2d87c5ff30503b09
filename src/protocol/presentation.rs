//! `wp_presentation` 2: when a commit turned to light. The clock is `CLOCK_MONOTONIC`, as everywhere in the
//! compositor. Feedback objects are taken from the surface when their update is applied and answered by the output.

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::presentation::PresentationState;

use crate::state::State;

/// Advertises the global.
pub fn new(display: &DisplayHandle) -> PresentationState {
    PresentationState::new::<State>(display, libc::CLOCK_MONOTONIC as u32)
}

smithay::delegate_presentation!(State);
