//! The painter of title bars and edges: the client or the session, as the client wishes or a rule says. Clients hear of it by
//! `zxdg_decoration_manager_v1` or `org_kde_kwin_server_decoration_manager`, if they ask.

use std::sync::{Mutex, PoisonError};

use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_toplevel_decoration_v1::Mode as XdgMode;
use smithay::reexports::wayland_protocols_misc::server_decoration::server::org_kde_kwin_server_decoration::{
    Mode as KdeMode, OrgKdeKwinServerDecoration,
};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Resource, Weak};
use smithay::wayland::shell::xdg::ToplevelSurface;

use super::look::DecoratedBy;
use super::{Window, WindowId};
use crate::guard;
use crate::shell::Desk;
use crate::state::State;

/// The KDE object that was made for a surface last. It has the surface for its data: by more than a name of it each would keep
/// the other.
#[derive(Default)]
struct KdeObject(Mutex<Option<Weak<OrgKdeKwinServerDecoration>>>);

/// The KDE object through which the client of `surface` hears who draws its decoration.
pub fn remember_kde(surface: &WlSurface, object: &OrgKdeKwinServerDecoration) {
    guard::with_states(surface, |states| {
        let known = states.data_map.get_or_insert_threadsafe(KdeObject::default);
        *known.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(object.downgrade());
    });
}

/// The client of `surface` wishes that its decoration is drawn by `wish`. Returns who draws it: a rule counts before the wish.
pub fn wish(state: &mut State, surface: &WlSurface, wish: DecoratedBy) -> DecoratedBy {
    // A surface that is no window has no place to keep the wish: nothing would be drawn for it.
    let Some(window) = state.shell.window_of_root_mut(surface) else { return DecoratedBy::Client };
    window.wished_decoration = wish;
    let by = decorated_by(window);
    window.leaves_decoration = by == DecoratedBy::Server;
    state.need_all();
    by
}

fn decorated_by(window: &Window) -> DecoratedBy {
    window.ruled_decoration.unwrap_or(window.wished_decoration)
}

/// Rules say who draws the decoration of a window, or do not any more. A client that never asked draws its own all the same.
pub(super) fn rule(state: &mut State, id: WindowId, by: Option<DecoratedBy>) {
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    if std::mem::replace(&mut window.ruled_decoration, by) == by {
        return;
    }
    let by = decorated_by(window);
    let hears = [tell_xdg(&window.toplevel, by), tell_kde(window.surface(), by)];
    window.leaves_decoration = hears.contains(&true) && by == DecoratedBy::Server;
    window.send_pending();
    state.need_all();
}

/// The next configure says who draws the decoration. Returns whether the client asked about it.
fn tell_xdg(toplevel: &ToplevelSurface, by: DecoratedBy) -> bool {
    toplevel.with_pending_state(|pending| match &mut pending.decoration_mode {
        Some(mode) => {
            *mode = by.xdg_mode();
            true
        }
        None => false,
    })
}

/// The same at once, for clients that asked by the KDE protocol.
fn tell_kde(surface: &WlSurface, by: DecoratedBy) -> bool {
    let object = guard::with_states(surface, |states| {
        let known = states.data_map.get::<KdeObject>()?;
        known.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    });
    let object = object.and_then(|object| object.upgrade().ok());
    object.iter().for_each(|object| object.mode(by.kde_mode()));
    object.is_some()
}

impl DecoratedBy {
    /// As `zxdg_decoration_manager_v1` says it.
    pub const fn xdg_mode(self) -> XdgMode {
        match self {
            DecoratedBy::Server => XdgMode::ServerSide,
            DecoratedBy::Client => XdgMode::ClientSide,
        }
    }

    /// As `org_kde_kwin_server_decoration_manager` says it.
    pub const fn kde_mode(self) -> KdeMode {
        match self {
            DecoratedBy::Server => KdeMode::Server,
            DecoratedBy::Client => KdeMode::Client,
        }
    }
}
