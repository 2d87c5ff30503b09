//! Deferred destruction: the objects of a client that ends with very many of them are cleaned up over several turns.
//!
//! libwayland destroys all objects of a disconnected client in one go, and calls back for each. The state of a client
//! with few objects is dropped at once. For a client with many, most callbacks are queued here. Each turn runs some of
//! them, when no frame is delayed by that:
//!
//! ```text
//!   client ends ─► libwayland: object, object, object …          (in one go: a callback for each object)
//!                   └─► the first AT_ONCE run ─ the rest is queued ─┐
//!   turn:       windows and popups are hidden                       ├─ a slice ─┐
//!   turn:                             deadlines, drawing ───────────┘           ├─ a slice ─► … ─► queue empty
//! ```
//!
//! Other modules learn of a client's end only by the end of its objects. Each is reported, only later.

use std::collections::VecDeque;
use std::fmt;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::backend::ClientId;

use crate::guard::Kind;
use crate::shell;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// Destroyed objects that are handled at once in a turn. Most clients have about a hundred, so they are never deferred.
pub const AT_ONCE: u32 = 256;
/// Time that a turn spends on the queue; including the callback that exceeds it, about a millisecond.
const SLICE: Span = Span::from_micros(800);
/// Callbacks between two reads of the clock.
const BETWEEN_LOOKS: usize = 4;
/// Callbacks in a slice at most: of the cheapest kind so many take [`SLICE`].
const MOST: usize = 1_024;
/// With less time than this until the next deadline, a turn runs only [`LITTLE`] callbacks, so that the slice does not
/// miss it.
const ROOM: Span = Span::from_millis(2);
const LITTLE: usize = 8;

/// The destroy callback of an object, not run yet.
type DestroyCallback = Box<dyn FnOnce(&mut State)>;

/// Queued destroy callbacks of clients that are gone.
pub struct DeferredDestroy {
    /// Limit of immediate callbacks in a turn: [`AT_ONCE`]. Tests that look for faults set a lower limit.
    pub(super) at_once: u32,
    /// Objects that are visible, take input or get events: these run before `rest`.
    first: VecDeque<DestroyCallback>,
    rest: VecDeque<DestroyCallback>,
    /// Objects destroyed in this turn.
    destroyed_this_turn: u32,
    /// The queue has a client whose windows may still be visible.
    has_visible_windows: bool,
}

impl Default for DeferredDestroy {
    fn default() -> Self {
        let (first, rest) = (VecDeque::new(), VecDeque::new());
        DeferredDestroy { at_once: AT_ONCE, first, rest, destroyed_this_turn: 0, has_visible_windows: false }
    }
}

impl fmt::Debug for DeferredDestroy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredDestroy").field("left", &self.pending_count()).finish_non_exhaustive()
    }
}

impl DeferredDestroy {
    /// How many callbacks are queued.
    pub(super) fn pending_count(&self) -> usize {
        self.first.len() + self.rest.len()
    }

    /// Whether the callback of an object of `client` is to be queued: if its client is gone and there are many.
    pub(super) fn must_defer(&mut self, display: &DisplayHandle, client: &ClientId) -> bool {
        self.destroyed_this_turn = self.destroyed_this_turn.saturating_add(1);
        // While any callback is queued, further ones are, too, so that the objects of a client keep their order.
        let are_many = self.destroyed_this_turn > self.at_once || self.pending_count() > 0;
        are_many && display.backend_handle().get_client_data(client.clone()).is_err()
    }

    /// Queues the callback of an object of `interface`.
    pub(super) fn defer(&mut self, interface: &str, last: DestroyCallback) {
        self.has_visible_windows = true;
        if goes_first(Kind::of_interface(interface)) { self.first.push_back(last) } else { self.rest.push_back(last) }
    }

    fn next(&mut self) -> Option<DestroyCallback> {
        self.first.pop_front().or_else(|| self.rest.pop_front())
    }
}

/// Whether the user or another client could still notice the object. (Careful clients, too, destroy such an object
/// before its surface.) Kinds that a client may have thousands of do not go first.
const fn goes_first(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Surfaces
            | Kind::Subsurfaces
            | Kind::Positioners
            | Kind::Pools
            | Kind::Buffers
            | Kind::BufferParams
            | Kind::Callbacks
            | Kind::Feedbacks
            | Kind::Regions
            | Kind::Registries
            | Kind::Offers
            | Kind::ActivationTokens
            | Kind::Paced
            | Kind::Scrolled
            | Kind::Outputs
    )
}

/// To be called at the begin of a turn: hides the windows of clients that are gone.
pub fn begin_turn(state: &mut State) {
    let deferred = &mut state.protocols.deferred_destroy;
    deferred.destroyed_this_turn = 0;
    if std::mem::take(&mut deferred.has_visible_windows) {
        shell::destroyed_objects::hide_gone(state);
    }
}

/// Runs a slice of the queue. `next`: the next deadline. Returns when to run the next slice.
pub fn run_slice(state: &mut State, next: Option<Instant>) -> Option<Instant> {
    if state.protocols.deferred_destroy.pending_count() == 0 {
        return None;
    }
    let start = state.clock.now();
    let most = if next.is_some_and(|next| next - start < ROOM) { LITTLE } else { MOST };
    for number in 1..=most {
        let Some(last) = state.protocols.deferred_destroy.next() else { break };
        last(state);
        if number % BETWEEN_LOOKS == 0 && state.clock.now() - start > SLICE {
            break;
        }
    }
    // Again in the next turn, because its callbacks may have caused more work.
    Some(state.clock.now())
}
