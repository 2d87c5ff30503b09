//! Server-side or client-side decorations, as the client prefers or as a rule demands. Clients negotiate by
//! `zxdg_decoration_manager_v1` or `org_kde_kwin_server_decoration_manager`.

use std::sync::{Mutex, PoisonError};

use smithay::reexports::wayland_protocols::xdg::decoration::zv1::server::zxdg_toplevel_decoration_v1::Mode as XdgMode;
use smithay::reexports::wayland_protocols_misc::server_decoration::server::org_kde_kwin_server_decoration::{
    Mode as KdeMode, OrgKdeKwinServerDecoration,
};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Resource, Weak};
use smithay::wayland::shell::xdg::ToplevelSurface;

use super::appearance::DecoratedBy;
use super::{Window, WindowId};
use crate::guard;
use crate::shell::ShellOutputs;
use crate::state::State;

/// The KDE object that was made last for a surface. It is weak, because the object has the surface as its data: a
/// strong reference would keep both alive.
#[derive(Default)]
struct KdeObject(Mutex<Option<Weak<OrgKdeKwinServerDecoration>>>);

/// Stores the KDE object that informs the client of `surface` about its decoration mode.
pub fn remember_kde(surface: &WlSurface, object: &OrgKdeKwinServerDecoration) {
    guard::with_states(surface, |states| {
        let known = states.data_map.get_or_insert_threadsafe(KdeObject::default);
        *known.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(object.downgrade());
    });
}

/// Handles the mode that the client of `surface` prefers. Returns the mode that applies; a rule overrides the client.
pub fn set_preferred_mode(state: &mut State, surface: &WlSurface, wish: DecoratedBy) -> DecoratedBy {
    // A surface that is not a window gets no decoration from us, because nothing would store its mode.
    let Some(window) = state.shell.window_of_root_mut(surface) else { return DecoratedBy::Client };
    window.preferred_decoration = wish;
    let by = decorated_by(window);
    window.has_server_decoration = by == DecoratedBy::Server;
    state.schedule_repaint_all();
    by
}

fn decorated_by(window: &Window) -> DecoratedBy {
    window.ruled_decoration.unwrap_or(window.preferred_decoration)
}

/// Applies the mode of a rule, or of no rule. A client that never negotiated draws its own decoration all the same.
pub(super) fn set_ruled_mode(state: &mut State, id: WindowId, by: Option<DecoratedBy>) {
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    if std::mem::replace(&mut window.ruled_decoration, by) == by {
        return;
    }
    let by = decorated_by(window);
    let hears = [send_xdg_mode(&window.toplevel, by), send_kde_mode(window.surface(), by)];
    window.has_server_decoration = hears.contains(&true) && by == DecoratedBy::Server;
    window.send_pending();
    state.schedule_repaint_all();
}

/// Puts the mode into the next configure. Returns whether the client negotiates by the xdg protocol.
fn send_xdg_mode(toplevel: &ToplevelSurface, by: DecoratedBy) -> bool {
    toplevel.with_pending_state(|pending| match &mut pending.decoration_mode {
        Some(mode) => {
            *mode = by.xdg_mode();
            true
        }
        None => false,
    })
}

/// Sends the mode at once. Returns whether the client negotiates by the KDE protocol.
fn send_kde_mode(surface: &WlSurface, by: DecoratedBy) -> bool {
    let object = guard::with_states(surface, |states| {
        let known = states.data_map.get::<KdeObject>()?;
        known.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    });
    let object = object.and_then(|object| object.upgrade().ok());
    object.iter().for_each(|object| object.mode(by.kde_mode()));
    object.is_some()
}

impl DecoratedBy {
    /// The mode in `zxdg_decoration_manager_v1`.
    pub const fn xdg_mode(self) -> XdgMode {
        match self {
            DecoratedBy::Server => XdgMode::ServerSide,
            DecoratedBy::Client => XdgMode::ClientSide,
        }
    }

    /// The mode in `org_kde_kwin_server_decoration_manager`.
    pub const fn kde_mode(self) -> KdeMode {
        match self {
            DecoratedBy::Server => KdeMode::Server,
            DecoratedBy::Client => KdeMode::Client,
        }
    }
}
