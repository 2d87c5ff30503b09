//! Detects an input method that has grabbed the keys and hangs: it is still connected, but returns no key.
//!
//! A working input method reads its events at once, even if it ignores them. So with each grabbed key the compositor
//! checks whether the earlier keys were read. An input method that reads and does nothing cannot be told from one that
//! swallows keys on purpose.

use smithay::reexports::wayland_server::Resource;

use crate::guard;
use crate::state::State;
use upbeat_timing::time::{Instant, Span};

/// For so long it may read nothing before keys go to the field again: longer than it takes to swap a process in or to
/// load a dictionary, shorter than users wait before they reach for the power button.
const PATIENCE: Span = Span::from_millis(2000);

/// Whether an input method reads its events.
#[derive(Debug, Default)]
pub struct HangDetector {
    /// Since when it has unread events, and how many requests it had made by then.
    unread_since: Option<(Instant, u32)>,
    is_hanging: bool,
    /// Its keys are to be released at the end of the turn.
    releases_keys: bool,
}

impl HangDetector {
    /// Whether its keys are to be released now; true once.
    pub(super) fn take_release_request(&mut self) -> bool {
        std::mem::take(&mut self.releases_keys)
    }
}

/// A key was sent to the input method.
pub(super) fn note_key_sent(state: &mut State, now: Instant) {
    let requests = account(state).map_or(0, |account| account.requests());
    state.input.text.grabs.hang_detector.unread_since.get_or_insert((now, requests));
}

/// Whether the input method gets no keys because it hangs. It gets them again as soon as it has read its events; that
/// is checked (`looks`) with keys that it would get.
pub(super) fn is_hanging(state: &mut State, now: Instant, looks: bool) -> bool {
    if !looks {
        return state.input.text.grabs.hang_detector.is_hanging;
    }
    let Some(account) = account(state) else { return false };
    let (has_read, requests) = (!account.has_unread(), account.requests());
    let patience = &mut state.input.text.grabs.hang_detector;
    patience.unread_since.take_if(|(_, before)| has_read || *before != requests);
    if patience.is_hanging {
        patience.is_hanging = !has_read;
        if has_read {
            tracing::info!("the input method reads its events again and gets the keys");
        }
        return patience.is_hanging;
    }
    if patience.unread_since.is_none_or(|(since, _)| now - since < PATIENCE) {
        return false;
    }
    (patience.is_hanging, patience.releases_keys) = (true, true);
    tracing::warn!("the input method has read no events for {PATIENCE}: keys go to the text field until it does");
    true
}

fn account(state: &State) -> Option<std::sync::Arc<guard::ResourceAccount>> {
    guard::account(&state.input.text.method.as_ref()?.object.client()?).cloned()
}
