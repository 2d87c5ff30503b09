//! Where errors of `xdg_wm_base` that concern a surface are reported.

use std::sync::Mutex;

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_surface::XdgSurface;
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_wm_base::{self, XdgWmBase};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Resource, Weak};

use crate::guard;

/// The protocol objects of a surface that errors are reported on. The xdg_surface holds the surface: held in turn, neither
/// would ever be freed.
#[derive(Debug, Default)]
pub(crate) struct XdgObjects {
    /// What made the surface's xdg_surface.
    pub base: Option<XdgWmBase>,
    /// That xdg_surface.
    pub surface: Option<Weak<XdgSurface>>,
}

/// Reads or changes them.
pub(crate) fn with_objects<T>(surface: &WlSurface, access: impl FnOnce(&mut XdgObjects) -> T) -> T {
    guard::with_states(surface, |states| {
        let objects = states.data_map.get_or_insert_threadsafe(Mutex::<XdgObjects>::default);
        access(&mut objects.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    })
}

/// Reports an error of `xdg_wm_base` that concerns `surface`.
pub fn post_base_error(surface: &WlSurface, error: xdg_wm_base::Error, message: &str) {
    if let Some(base) = with_objects(surface, |objects| objects.base.clone()) {
        base.post_error(error, message);
    }
}
