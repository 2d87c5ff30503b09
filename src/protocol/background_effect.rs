//! `ext_background_effect_manager_v1` 1: a client has the background behind a part of its surface blurred.
//!
//! It is the blur of translucent windows (`[effects] blur`), which needs OpenGL ES. The capability is advertised while
//! the renderer and the configuration allow blur.

use std::sync::atomic::{AtomicBool, Ordering};

use smithay::reexports::wayland_protocols::ext::background_effect::v1::server::ext_background_effect_manager_v1::{
    self, Capability, ExtBackgroundEffectManagerV1,
};
use smithay::reexports::wayland_protocols::ext::background_effect::v1::server::ext_background_effect_surface_v1::{
    self, ExtBackgroundEffectSurfaceV1,
};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, Weak,
};
use smithay::wayland::compositor::get_region_attributes;

use crate::guard::{self, Handlers};
use crate::state::State;
use crate::surface::background::BackgroundEffects;

const VERSION: u32 = 1;

/// Whether a surface has one of these objects; it may have one only.
#[derive(Debug, Default)]
struct HasBackgroundEffect(AtomicBool);

/// The bound managers, and the capability that they were sent.
#[derive(Debug)]
pub struct BackgroundEffect {
    managers: Vec<ExtBackgroundEffectManagerV1>,
    /// The capability sent last.
    blurs: bool,
}

impl BackgroundEffect {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        display.create_global::<State, ExtBackgroundEffectManagerV1, ()>(VERSION, ());
        BackgroundEffect { managers: Vec::new(), blurs: false }
    }
}

/// Sends the capability if it has changed.
pub(super) fn refresh(state: &mut State) {
    let blurs = state.shell.effects().blur > 0 && state.outputs.blurs();
    let effect = &mut state.protocols.background_effect;
    if std::mem::replace(&mut effect.blurs, blurs) != blurs {
        effect.managers.iter().for_each(|manager| send_capabilities(manager, blurs));
    }
}

fn send_capabilities(manager: &ExtBackgroundEffectManagerV1, blurs: bool) {
    manager.capabilities(if blurs { Capability::Blur } else { Capability::empty() });
}

impl GlobalDispatch<ExtBackgroundEffectManagerV1, (), State> for Handlers {
    fn bind(
        state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ExtBackgroundEffectManagerV1>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        let manager = init.init(manager, ());
        // A pending change is sent first, so that the new manager does not get it twice.
        refresh(state);
        let effect = &mut state.protocols.background_effect;
        send_capabilities(&manager, effect.blurs);
        effect.managers.push(manager);
    }
}

impl Dispatch<ExtBackgroundEffectManagerV1, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        manager: &ExtBackgroundEffectManagerV1,
        request: ext_background_effect_manager_v1::Request,
        (): &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let ext_background_effect_manager_v1::Request::GetBackgroundEffect { id, surface } = request else { return };
        if set_taken(&surface, true) {
            let message = "the surface has a background effect already";
            return manager.post_error(ext_background_effect_manager_v1::Error::BackgroundEffectExists, message);
        }
        init.init(id, surface.downgrade());
    }

    fn destroyed(state: &mut State, _client: ClientId, manager: &ExtBackgroundEffectManagerV1, (): &()) {
        state.protocols.background_effect.managers.retain(|known| known != manager);
    }
}

/// Remembers whether `surface` has such an object. Returns whether it had one before.
fn set_taken(surface: &WlSurface, taken: bool) -> bool {
    guard::with_states(surface, |states| {
        states.data_map.get_or_insert_threadsafe(HasBackgroundEffect::default).0.swap(taken, Ordering::Relaxed)
    })
}

impl Dispatch<ExtBackgroundEffectSurfaceV1, Weak<WlSurface>, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        effect: &ExtBackgroundEffectSurfaceV1,
        request: ext_background_effect_surface_v1::Request,
        surface: &Weak<WlSurface>,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use ext_background_effect_surface_v1::{Error, Request};
        match (request, surface.upgrade()) {
            (Request::SetBlurRegion { region }, Ok(surface)) => {
                let kept =
                    region.map(|region| state.surfaces.regions_mut().input(&region, get_region_attributes(&region)));
                set(&surface, kept.map(|kept| BackgroundEffects::blurred_in(&kept)).unwrap_or_default());
            }
            (Request::SetBlurRegion { .. }, Err(_)) => {
                effect.post_error(Error::SurfaceDestroyed, "the surface of this background effect is gone");
            }
            (Request::Destroy, Ok(surface)) => {
                set_taken(&surface, false);
                set(&surface, BackgroundEffects::default());
            }
            _ => {}
        }
    }
}

/// Sets the pending effect, which takes effect with the next commit of `surface`.
fn set(surface: &WlSurface, background: BackgroundEffects) {
    guard::with_states(surface, |states| *states.cached_state.get::<BackgroundEffects>().pending() = background);
}
