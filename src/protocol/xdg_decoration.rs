//! `zxdg_decoration_manager_v1` 1: whether the client or the compositor draws title bars.
//!
//! A client that asks for server-side decorations gets a title bar while its window floats (`shell::title_bars`), but
//! not in a column or in fullscreen, as such clients (foot, mpv) expect. So does a client without a preference (Qt), if
//! title bars are enabled. A client that does not ask is told to draw its own. A rule for the window overrides the
//! client's preference.

use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_toplevel_decoration_v1::Mode;
use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_toplevel_decoration_v1::ZxdgToplevelDecorationV1;
use smithay::wayland::shell::xdg::ToplevelSurface;
use smithay::wayland::shell::xdg::decoration::XdgDecorationHandler;
use smithay::wayland::shell::xdg::decoration::{XdgDecorationManagerGlobalData, XdgDecorationState};

use super::dispatch_guard::delegate;
use crate::deferred_calls;
use crate::shell::appearance::DecoratedBy;
use crate::shell::{self, decorations};
use crate::state::State;

impl XdgDecorationHandler for State {
    fn new_decoration(&mut self, toplevel: ToplevelSurface) {
        let by = decorations::set_preferred_mode(self, toplevel.wl_surface(), DecoratedBy::Client);
        toplevel.with_pending_state(|pending| pending.decoration_mode = Some(by.xdg_mode()));
        // Later, because the client may state its preference in its next request. SDL 2 takes an answer sent before
        // that for the answer to it, and shows no window.
        deferred_calls::queue(self, move |state| {
            if toplevel.alive() && toplevel.has_pending_changes() {
                shell::send_configure(state, toplevel.wl_surface());
            }
        });
    }

    fn request_mode(&mut self, toplevel: ToplevelSurface, mode: Mode) {
        answer(self, &toplevel, mode);
    }

    fn unset_mode(&mut self, toplevel: ToplevelSurface) {
        let mode = if self.shell.effects().title_bars { Mode::ServerSide } else { Mode::ClientSide };
        answer(self, &toplevel, mode);
    }
}

/// Each request gets a configure; before the first commit it is part of the initial configure.
fn answer(state: &mut State, toplevel: &ToplevelSurface, mode: Mode) {
    let preferred = if mode == Mode::ServerSide { DecoratedBy::Server } else { DecoratedBy::Client };
    let by = decorations::set_preferred_mode(state, toplevel.wl_surface(), preferred);
    toplevel.with_pending_state(|pending| pending.decoration_mode = Some(by.xdg_mode()));
    shell::send_configure(state, toplevel.wl_surface());
}

delegate!(global ZxdgDecorationManagerV1: XdgDecorationManagerGlobalData => XdgDecorationState);
delegate!(ZxdgDecorationManagerV1: () => XdgDecorationState);
delegate!(ZxdgToplevelDecorationV1: ToplevelSurface => XdgDecorationState);
