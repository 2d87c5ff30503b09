//! An input method that has the keys and hangs: without dying it gives nothing back.
//!
//! One that lives reads what it is told, at once, whatever it makes of it. So what is asked with each key, and only while keys
//! are grabbed, is whether it has read the ones before. One that reads and does nothing cannot be told from one that eats keys
//! on purpose.

use smithay::reexports::wayland_server::Resource;

use crate::guard;
use crate::state::State;
use upbeat_timing::time::{Instant, Span};

/// So long it may read nothing before keys go to the field again: longer than one is swapped out for or reads a dictionary,
/// shorter than people wait before they reach for the power button.
const PATIENCE: Span = Span::from_millis(2000);

/// What is known of how an input method does.
#[derive(Debug, Default)]
pub struct Patience {
    /// Since when there is something that it has not read, and how many requests it had made by then.
    waits: Option<(Instant, u32)>,
    is_given_up: bool,
    /// What it holds is to be let go of at the end of the turn.
    lets_go: bool,
}

impl Patience {
    /// Whether what the input method holds is to be let go of, once.
    pub(super) fn take_lets_go(&mut self) -> bool {
        std::mem::take(&mut self.lets_go)
    }
}

/// The input method is told of a key.
pub(super) fn told(state: &mut State, now: Instant) {
    let requests = account(state).map_or(0, |account| account.requests());
    state.input.text.grabs.patience.waits.get_or_insert((now, requests));
}

/// Whether the input method gets no keys, since it hangs. It gets them again as soon as it has read what it was told; that is looked
/// for (`looks`) with keys that it would get.
pub(super) fn is_given_up(state: &mut State, now: Instant, looks: bool) -> bool {
    if !looks {
        return state.input.text.grabs.patience.is_given_up;
    }
    let Some(account) = account(state) else { return false };
    let (has_read, requests) = (!account.has_unread(), account.requests());
    let patience = &mut state.input.text.grabs.patience;
    patience.waits.take_if(|(_, before)| has_read || *before != requests);
    if patience.is_given_up {
        patience.is_given_up = !has_read;
        if has_read {
            tracing::info!("the input method reads again: it has the keys");
        }
        return patience.is_given_up;
    }
    if patience.waits.is_none_or(|(since, _)| now - since < PATIENCE) {
        return false;
    }
    (patience.is_given_up, patience.lets_go) = (true, true);
    tracing::warn!("the input method has read nothing for {PATIENCE}: keys go to the field until it does");
    true
}

fn account(state: &State) -> Option<std::sync::Arc<guard::Account>> {
    guard::account(&state.input.text.method.as_ref()?.object.client()?).cloned()
}
