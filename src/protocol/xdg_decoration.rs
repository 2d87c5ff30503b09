//! `zxdg_decoration_manager_v1` 1: who draws title bars.
//!
//! A client that asks for decorations by the compositor gets a title bar while its window floats (`shell::title_bars`), and
//! none in a column or on all of the screen, as such clients (foot, mpv) expect. So does one that leaves it to the compositor (Qt),
//! where there are title bars. A client that does not ask is told to draw its own. A rule for the window counts before the
//! client's wish.

use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_toplevel_decoration_v1::Mode;
use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_toplevel_decoration_v1::ZxdgToplevelDecorationV1;
use smithay::wayland::shell::xdg::ToplevelSurface;
use smithay::wayland::shell::xdg::decoration::XdgDecorationHandler;
use smithay::wayland::shell::xdg::decoration::{XdgDecorationManagerGlobalData, XdgDecorationState};

use super::floor::delegate;
use crate::later;
use crate::shell::look::DecoratedBy;
use crate::shell::{self, decorations};
use crate::state::State;

impl XdgDecorationHandler for State {
    fn new_decoration(&mut self, toplevel: ToplevelSurface) {
        let by = decorations::wish(self, toplevel.wl_surface(), DecoratedBy::Client);
        toplevel.with_pending_state(|pending| pending.decoration_mode = Some(by.xdg_mode()));
        // The client may say what it wishes in its next request. SDL 2 takes an answer from before that for the answer to
        // it, and shows no window.
        later::soon(self, move |state| {
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

/// Every wish gets a configure; before the first commit it travels with the initial one.
fn answer(state: &mut State, toplevel: &ToplevelSurface, mode: Mode) {
    let wish = if mode == Mode::ServerSide { DecoratedBy::Server } else { DecoratedBy::Client };
    let by = decorations::wish(state, toplevel.wl_surface(), wish);
    toplevel.with_pending_state(|pending| pending.decoration_mode = Some(by.xdg_mode()));
    shell::send_configure(state, toplevel.wl_surface());
}

delegate!(global ZxdgDecorationManagerV1: XdgDecorationManagerGlobalData => XdgDecorationState);
delegate!(ZxdgDecorationManagerV1: () => XdgDecorationState);
delegate!(ZxdgToplevelDecorationV1: ToplevelSurface => XdgDecorationState);
