//! `wp_alpha_modifier_v1` 1: a client fades a surface without drawing it anew.
//!
//! Our own implementation, since Smithay 0.7 disconnects clients that destroy the object after its surface.

use std::sync::atomic::{AtomicBool, Ordering};

use smithay::reexports::wayland_protocols::wp::alpha_modifier::v1::server::wp_alpha_modifier_surface_v1::{
    self, WpAlphaModifierSurfaceV1,
};
use smithay::reexports::wayland_protocols::wp::alpha_modifier::v1::server::wp_alpha_modifier_v1::{
    self, WpAlphaModifierV1,
};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, Weak,
};

use crate::guard::{self, Handlers};
use crate::state::State;
use crate::surface::opacity::Opacity;

const VERSION: u32 = 1;

/// Whether a surface has one of these objects; it may have one only.
#[derive(Debug, Default)]
struct HasAlphaModifier(AtomicBool);

#[derive(Debug)]
pub struct AlphaModifier;

impl AlphaModifier {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        display.create_global::<State, WpAlphaModifierV1, ()>(VERSION, ());
        AlphaModifier
    }
}

impl GlobalDispatch<WpAlphaModifierV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<WpAlphaModifierV1>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<WpAlphaModifierV1, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        manager: &WpAlphaModifierV1,
        request: wp_alpha_modifier_v1::Request,
        (): &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let wp_alpha_modifier_v1::Request::GetSurface { id, surface } = request else { return };
        if set_taken(&surface, true) {
            let message = "the surface has an alpha modifier already";
            return manager.post_error(wp_alpha_modifier_v1::Error::AlreadyConstructed, message);
        }
        init.init(id, surface.downgrade());
    }
}

/// Remembers whether `surface` has such an object. Returns whether it had one before.
fn set_taken(surface: &WlSurface, taken: bool) -> bool {
    guard::with_states(surface, |states| {
        states.data_map.get_or_insert_threadsafe(HasAlphaModifier::default).0.swap(taken, Ordering::Relaxed)
    })
}

impl Dispatch<WpAlphaModifierSurfaceV1, Weak<WlSurface>, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        modifier: &WpAlphaModifierSurfaceV1,
        request: wp_alpha_modifier_surface_v1::Request,
        surface: &Weak<WlSurface>,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use wp_alpha_modifier_surface_v1::{Error, Request};
        match (request, surface.upgrade()) {
            (Request::SetMultiplier { factor }, Ok(surface)) => set(&surface, Opacity(factor)),
            (Request::SetMultiplier { .. }, Err(_)) => {
                modifier.post_error(Error::NoSurface, "the surface of this alpha modifier is gone");
            }
            (Request::Destroy, Ok(surface)) => {
                set_taken(&surface, false);
                set(&surface, Opacity::default());
            }
            _ => {}
        }
    }
}

/// Sets the pending opacity, which takes effect with the next commit of `surface`.
fn set(surface: &WlSurface, opacity: Opacity) {
    guard::with_states(surface, |states| *states.cached_state.get::<Opacity>().pending() = opacity);
}
