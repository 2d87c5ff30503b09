//! `xdg_activation_v1` 1: one client hands its focus to another.
//!
//! A token is honoured when it was made with the serial of a recent action on the seat and is younger than
//! [`TOKEN_LIFETIME`]; others are valid but move no focus.

use std::time::Duration;

use smithay::input::Seat;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::xdg_activation::{
    XdgActivationHandler, XdgActivationState, XdgActivationToken, XdgActivationTokenData,
};

use crate::shell;
use crate::state::State;

/// How long a launched program has to show its window: longer and the person has moved on.
pub const TOKEN_LIFETIME: Duration = Duration::from_secs(30);

impl XdgActivationHandler for State {
    fn activation_state(&mut self) -> &mut XdgActivationState {
        &mut self.protocols.xdg_activation
    }

    fn token_created(&mut self, _token: XdgActivationToken, data: XdgActivationTokenData) -> bool {
        // Tokens that nobody used would pile up.
        self.protocols.xdg_activation.retain_tokens(|_, token| token.timestamp.elapsed() < TOKEN_LIFETIME);
        data.serial.is_some_and(|(serial, seat)| {
            Seat::<State>::from_resource(&seat).is_some() && self.input.is_recent_action(serial)
        })
    }

    fn request_activation(&mut self, token: XdgActivationToken, data: XdgActivationTokenData, surface: WlSurface) {
        if data.timestamp.elapsed() < TOKEN_LIFETIME {
            shell::activate_surface(self, &surface);
        }
        self.protocols.xdg_activation.remove_token(&token);
    }
}

smithay::delegate_xdg_activation!(State);
