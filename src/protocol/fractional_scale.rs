//! `wp_fractional_scale_manager_v1` 1: sends a surface the exact scale of the output that it is on.
//! [`shell::surface_outputs`] sends it together with the outputs that a surface enters.

use smithay::reexports::wayland_protocols::wp::fractional_scale::v1::server::wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1;
use smithay::reexports::wayland_protocols::wp::fractional_scale::v1::server::wp_fractional_scale_v1::WpFractionalScaleV1;
use smithay::reexports::wayland_server::Weak;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::fractional_scale::FractionalScaleHandler;
use smithay::wayland::fractional_scale::FractionalScaleManagerState;

use super::dispatch_guard::delegate;
use crate::shell;
use crate::state::State;

impl FractionalScaleHandler for State {
    fn new_fractional_scale(&mut self, surface: WlSurface) {
        shell::surface_outputs::prefer_likely_scale(self, &surface);
    }
}

delegate!(global WpFractionalScaleManagerV1: () => FractionalScaleManagerState);
delegate!(WpFractionalScaleManagerV1: () => FractionalScaleManagerState);
delegate!(WpFractionalScaleV1: Weak<WlSurface> => FractionalScaleManagerState);
