//! `xdg_wm_base` 6: windows and popups.
//!
//! Requests are checked in [`checks`] and passed to [`shell`], which decides their effect. An acknowledged configure
//! takes effect with the following commit (`shell::configure`), not at once as in Smithay 0.7, since commits may wait
//! in the content-update queue.

pub mod checks;

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel::{ResizeEdge, WmCapabilities};
use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::protocol::wl_seat::WlSeat;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::Serial;
use smithay::wayland::shell::xdg::{
    Configure, PopupSurface, PositionerState, ToplevelSurface, XdgShellHandler, XdgShellState,
};

use super::xdg_foreign;
use crate::input;
use crate::shell;
use crate::state::State;

/// Advertises the global. Window menus are not offered: the client draws its own.
pub fn new(display: &DisplayHandle) -> XdgShellState {
    let capabilities = [WmCapabilities::Fullscreen, WmCapabilities::Maximize, WmCapabilities::Minimize];
    XdgShellState::new_with_capabilities::<State>(display, capabilities)
}

impl XdgShellHandler for State {
    fn xdg_shell_state(&mut self) -> &mut XdgShellState {
        &mut self.protocols.xdg_shell
    }

    fn new_toplevel(&mut self, toplevel: ToplevelSurface) {
        if checks::is_first_role(self, toplevel.wl_surface()) {
            checks::watch_role(toplevel.wl_surface(), self.shell.constructing().cloned());
            shell::new_toplevel(self, toplevel);
        }
    }

    fn new_popup(&mut self, popup: PopupSurface, positioner: PositionerState) {
        let surface = popup.wl_surface();
        if checks::is_first_role(self, surface) && checks::positioner_is_complete(surface, &positioner) {
            checks::watch_role(surface, self.shell.constructing().cloned());
            shell::popup::new_popup(self, popup);
        }
    }

    fn move_request(&mut self, toplevel: ToplevelSurface, _seat: WlSeat, serial: Serial) {
        input::drag_requests::move_requested(self, toplevel.wl_surface(), serial);
    }

    fn resize_request(&mut self, toplevel: ToplevelSurface, _seat: WlSeat, serial: Serial, edges: ResizeEdge) {
        input::drag_requests::resize_requested(self, toplevel.wl_surface(), serial, edges.into());
    }

    fn grab(&mut self, popup: PopupSurface, _seat: WlSeat, serial: Serial) {
        shell::popup::grab(self, &popup, serial);
    }

    fn maximize_request(&mut self, toplevel: ToplevelSurface) {
        shell::maximize(self, toplevel.wl_surface());
    }

    fn unmaximize_request(&mut self, toplevel: ToplevelSurface) {
        shell::unmaximize(self, toplevel.wl_surface());
    }

    fn fullscreen_request(&mut self, toplevel: ToplevelSurface, output: Option<WlOutput>) {
        let output = output.as_ref().and_then(smithay::output::Output::from_resource);
        shell::fullscreen(self, toplevel.wl_surface(), output);
    }

    fn unfullscreen_request(&mut self, toplevel: ToplevelSurface) {
        shell::unfullscreen(self, toplevel.wl_surface());
    }

    fn minimize_request(&mut self, toplevel: ToplevelSurface) {
        shell::minimising::minimise_surface(self, toplevel.wl_surface());
    }

    fn ack_configure(&mut self, surface: WlSurface, configure: Configure) {
        crate::surface::bound_commits::acknowledged(self, &surface);
        shell::configure::acknowledged(self, &surface, shell::configure::serial_of(&configure));
    }

    fn reposition_request(&mut self, popup: PopupSurface, positioner: PositionerState, token: u32) {
        if checks::positioner_is_complete(popup.wl_surface(), &positioner) {
            shell::popup::reposition(self, &popup, positioner, token);
        }
    }

    fn toplevel_destroyed(&mut self, toplevel: ToplevelSurface) {
        xdg_foreign::window_gone(self, toplevel.wl_surface());
        shell::toplevel_destroyed(self, &toplevel);
    }

    fn popup_destroyed(&mut self, popup: PopupSurface) {
        shell::popup::destroyed(self, popup.wl_surface());
    }

    fn title_changed(&mut self, toplevel: ToplevelSurface) {
        shell::title_changed(self, &toplevel);
    }

    fn app_id_changed(&mut self, toplevel: ToplevelSurface) {
        shell::app_id_changed(self, &toplevel);
    }

    fn parent_changed(&mut self, toplevel: ToplevelSurface) {
        shell::parent_changed(self, toplevel.wl_surface());
    }
}
