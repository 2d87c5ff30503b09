//! Whether the user is typing, and into which client. Keys may pass through an input method.

use smithay::input::keyboard::{KeyboardHandle, Keycode, Keysym};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// The longest time between two keys of a user who types without a pause.
const TYPING: Span = Span::from_millis(500);

/// The client that a key was pressed for last.
#[derive(Debug)]
pub(super) struct TypedInto {
    client: ClientId,
    at: Instant,
}

/// A key with `symbol` was pressed for the client with the keyboard. A modifier alone does not count as typing: it may
/// begin a shortcut.
pub(super) fn note(state: &mut State, handle: &KeyboardHandle<State>, symbol: Keysym, at: Instant) {
    if !symbol.is_modifier_key() {
        let client = handle.current_focus().and_then(|focus| focus.client());
        state.input.typed_into = client.map(|client| TypedInto { client: client.id(), at });
    }
}

/// Like [`note`], for a key code in the keymap in force.
pub(super) fn note_code(state: &mut State, handle: &KeyboardHandle<State>, code: Keycode, at: Instant) {
    let symbol = handle.with_xkb_state(state, |context| {
        let xkb = context.xkb().lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        xkb.raw_syms_for_key_in_layout(code, xkb.active_layout()).first().copied()
    });
    symbol.into_iter().for_each(|symbol| note(state, handle, symbol, at));
}

/// A shortcut was carried out: a window that opens now may take the focus.
pub(super) fn ended(state: &mut State) {
    state.input.typed_into = None;
}

/// Whether the user is typing into the client of `surface`: a key was pressed for it a moment ago.
pub(super) fn is_typing_into(state: &State, surface: &WlSurface) -> bool {
    let Some(typed_into) = &state.input.typed_into else { return false };
    let is_its = surface.client().is_some_and(|client| client.id() == typed_into.client);
    is_its && state.clock.now() - typed_into.at < TYPING
}
