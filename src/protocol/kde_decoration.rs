//! `org_kde_kwin_server_decoration_manager` 1: whether the client or the compositor draws title bars. For programs
//! older than `zxdg_decoration_manager_v1`, mainly GTK 3. The answers are the same as in
//! [`xdg_decoration`](super::xdg_decoration).

use smithay::reexports::wayland_protocols_misc::server_decoration::server::org_kde_kwin_server_decoration::{
    Mode, OrgKdeKwinServerDecoration,
};
use smithay::reexports::wayland_protocols_misc::server_decoration::server::org_kde_kwin_server_decoration_manager::OrgKdeKwinServerDecorationManager;
use smithay::reexports::wayland_server::WEnum;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::shell::kde::decoration::{
    KdeDecorationHandler, KdeDecorationManagerGlobalData, KdeDecorationState,
};

use super::dispatch_guard::delegate;
use crate::shell::appearance::DecoratedBy;
use crate::shell::decorations;
use crate::state::State;

impl KdeDecorationHandler for State {
    fn kde_decoration_state(&self) -> &KdeDecorationState {
        &self.protocols.kde_decoration
    }

    fn new_decoration(&mut self, surface: &WlSurface, decoration: &OrgKdeKwinServerDecoration) {
        decorations::remember_kde(surface, decoration);
        decoration.mode(decorations::set_preferred_mode(self, surface, DecoratedBy::Client).kde_mode());
    }

    fn request_mode(&mut self, surface: &WlSurface, decoration: &OrgKdeKwinServerDecoration, mode: WEnum<Mode>) {
        let for_it = mode == WEnum::Value(Mode::Server);
        let wish = if for_it { DecoratedBy::Server } else { DecoratedBy::Client };
        decoration.mode(decorations::set_preferred_mode(self, surface, wish).kde_mode());
    }

    fn release(&mut self, _: &OrgKdeKwinServerDecoration, surface: &WlSurface) {
        decorations::set_preferred_mode(self, surface, DecoratedBy::Client);
    }
}

delegate!(global OrgKdeKwinServerDecorationManager: KdeDecorationManagerGlobalData => KdeDecorationState);
delegate!(OrgKdeKwinServerDecorationManager: () => KdeDecorationState);
delegate!(OrgKdeKwinServerDecoration: WlSurface => KdeDecorationState);
