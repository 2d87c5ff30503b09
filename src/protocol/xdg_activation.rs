//! `xdg_activation_v1` 1: one client passes its focus to another.
//!
//! A token moves the focus if it was made with the serial of a recent input event on the seat and is younger than
//! [`TOKEN_LIFETIME`]. Any other token is valid but only marks the window as urgent until the user focuses it.

use smithay::reexports::wayland_protocols::xdg::activation::v1::server::xdg_activation_token_v1::XdgActivationTokenV1;
use smithay::reexports::wayland_protocols::xdg::activation::v1::server::xdg_activation_v1::XdgActivationV1;
use smithay::wayland::xdg_activation::ActivationTokenData;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ahash::HashMap;
use smithay::input::Seat;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::xdg_activation::{
    XdgActivationHandler, XdgActivationState, XdgActivationToken, XdgActivationTokenData,
};

use super::dispatch_guard::delegate;
use crate::shell;
use crate::state::State;

/// How long a launched program may take to show its window: after that the user has moved on.
pub const TOKEN_LIFETIME: Duration = Duration::from_secs(30);

/// Tokens of one client that are kept; a further one replaces the oldest. A launcher makes one for each program that it
/// starts.
const MOST_TOKENS: usize = 64;

/// Whether a token was made with the serial of recent user input.
#[derive(Clone, Copy, Debug)]
struct HasUserInput(bool);

/// Tokens that may still be used.
#[derive(Debug, Default)]
pub struct KeptActivationTokens {
    kept: VecDeque<(Instant, XdgActivationToken, Option<ClientId>)>,
    of_clients: HashMap<Option<ClientId>, usize>,
}

impl KeptActivationTokens {
    /// Adds a `token` of `client`. Returns the tokens to forget: expired ones, and the client's oldest if it has too
    /// many.
    fn add(&mut self, token: XdgActivationToken, client: Option<ClientId>, now: Instant) -> Vec<XdgActivationToken> {
        let mut forgotten = Vec::new();
        while let Some((made, ..)) = self.kept.front()
            && now.saturating_duration_since(*made) >= TOKEN_LIFETIME
        {
            forgotten.extend(self.forget(0));
        }
        if self.of_clients.get(&client).is_some_and(|count| *count >= MOST_TOKENS) {
            let oldest = self.kept.iter().position(|(.., owner)| *owner == client);
            forgotten.extend(oldest.and_then(|oldest| self.forget(oldest)));
        }
        *self.of_clients.entry(client.clone()).or_default() += 1;
        self.kept.push_back((now, token, client));
        forgotten
    }

    fn forget(&mut self, index: usize) -> Option<XdgActivationToken> {
        let (_, token, client) = self.kept.remove(index)?;
        if let Some(count) = self.of_clients.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                self.of_clients.remove(&client);
            }
        }
        Some(token)
    }
}

impl XdgActivationHandler for State {
    fn activation_state(&mut self) -> &mut XdgActivationState {
        &mut self.protocols.xdg_activation
    }

    fn token_created(&mut self, token: XdgActivationToken, data: XdgActivationTokenData) -> bool {
        // Otherwise unused tokens would pile up.
        let forgotten = self.protocols.tokens.add(token, data.client_id.clone(), data.timestamp);
        for token in forgotten {
            self.protocols.xdg_activation.remove_token(&token);
        }
        let is_honoured = data.serial.is_some_and(|(serial, seat)| {
            Seat::<State>::from_resource(&seat).is_some() && self.input.is_recent_action(serial)
        });
        data.user_data.insert_if_missing_threadsafe(|| HasUserInput(is_honoured));
        true
    }

    fn request_activation(&mut self, token: XdgActivationToken, data: XdgActivationTokenData, surface: WlSurface) {
        let HasUserInput(is_honoured) = data.user_data.get().copied().unwrap_or(HasUserInput(false));
        if is_honoured && data.timestamp.elapsed() < TOKEN_LIFETIME {
            shell::urgency::activate_by_token(self, &surface);
        } else {
            shell::urgency::request_attention(self, &surface);
        }
        self.protocols.xdg_activation.remove_token(&token);
    }
}

delegate!(global XdgActivationV1: () => XdgActivationState);
delegate!(XdgActivationV1: () => XdgActivationState);
delegate!(XdgActivationTokenV1: ActivationTokenData => XdgActivationState);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_tokens_and_the_oldest_of_too_many_are_forgotten() {
        let (mut tokens, start) = (KeptActivationTokens::default(), Instant::now());
        let made: Vec<_> = (0..=MOST_TOKENS).map(|_| XdgActivationToken::from(String::new())).collect();
        for token in &made[..MOST_TOKENS] {
            assert_eq!(tokens.add(token.clone(), None, start), []);
        }
        assert_eq!(tokens.add(made[MOST_TOKENS].clone(), None, start).len(), 1);
        assert_eq!(tokens.kept.len(), MOST_TOKENS);
        let forgotten = tokens.add(made[0].clone(), None, start + TOKEN_LIFETIME);
        assert_eq!((forgotten.len(), tokens.kept.len(), tokens.of_clients[&None]), (MOST_TOKENS, 1, 1));
    }
}
