//! `wp_fractional_scale_manager_v1` 1: tells a surface the exact scale of the output that it is on. The scale is sent
//! by [`shell::visit`] together with the outputs that a surface enters.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::fractional_scale::FractionalScaleHandler;

use crate::shell;
use crate::state::State;

impl FractionalScaleHandler for State {
    fn new_fractional_scale(&mut self, surface: WlSurface) {
        shell::visit::prefer_likely_scale(self, &surface);
    }
}

smithay::delegate_fractional_scale!(State);
