//! Posts errors of `xdg_wm_base` that concern a surface.

use std::sync::Mutex;

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_surface::XdgSurface;
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_wm_base::{self, XdgWmBase};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Resource, Weak};

use crate::guard;

/// Protocol objects of a surface on which errors are posted. The reference to the `xdg_surface` is weak: it holds the
/// surface, so a strong reference would keep both alive.
#[derive(Debug, Default)]
pub(crate) struct XdgObjects {
    /// The `xdg_wm_base` that created the surface's `xdg_surface`.
    pub base: Option<XdgWmBase>,
    pub surface: Option<Weak<XdgSurface>>,
}

pub(crate) fn with_objects<T>(surface: &WlSurface, access: impl FnOnce(&mut XdgObjects) -> T) -> T {
    guard::with_states(surface, |states| {
        let objects = states.data_map.get_or_insert_threadsafe(Mutex::<XdgObjects>::default);
        access(&mut objects.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    })
}

/// Posts an error of `xdg_wm_base` that concerns `surface`.
pub fn post_base_error(surface: &WlSurface, error: xdg_wm_base::Error, message: &str) {
    if let Some(base) = with_objects(surface, |objects| objects.base.clone()) {
        base.post_error(error, message);
    }
}
