//! What clients leave who end with very many objects: it is let go of over several turns.
//!
//! libwayland takes a client that ends apart in one go, and tells of each object. For a client with few, all that is kept for
//! them goes at once. Of one with many the rest waits here, and some of it goes in each turn, when it holds up nobody:
//!
//! ```text
//!   his end ─► libwayland: object, object, object …             (in one go: its own lists, and a note for each object)
//!               └─► the first AT_ONCE go ─ the rest waits ─┐
//!   turn:       windows and popups are not seen any more   ├─ a slice ─┐
//!   turn:                             what is due, drawing ┘           ├─ a slice ─► … ─► nothing is left
//! ```
//!
//! Nobody is told that his client ended who is not told so by an end of an object: each comes, only later.

use std::collections::VecDeque;
use std::fmt;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::backend::ClientId;

use crate::guard::Kind;
use crate::shell;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// Ends of objects in a turn that do not wait. Programs have about a hundred objects, and end in one go.
pub const AT_ONCE: u32 = 256;
/// So long a turn is busy with what is left: with the last thing it begins, a millisecond.
const SLICE: Span = Span::from_micros(800);
/// Between two looks at the clock.
const BETWEEN_LOOKS: usize = 4;
/// Things in a slice at most: those of the cheapest kind take that long.
const MOST: usize = 1_024;
/// With less time than this until something is due, a turn does only so much: the slice must not make it late.
const ROOM: Span = Span::from_millis(2);
const LITTLE: usize = 8;

/// The end of an object, which is still to be met.
type Last = Box<dyn FnOnce(&mut State)>;

/// What is left of clients that are gone.
pub struct Estates {
    /// So many ends of objects in a turn do not wait: [`AT_ONCE`]. Tests that look for what goes wrong let fewer go.
    pub(super) at_once: u32,
    /// What is seen, steers or is heard: it goes first.
    first: VecDeque<Last>,
    rest: VecDeque<Last>,
    /// Ends of objects in this turn.
    ends: u32,
    /// There is a client among them whose windows may still be seen.
    is_fresh: bool,
}

impl Default for Estates {
    fn default() -> Self {
        let (first, rest) = (VecDeque::new(), VecDeque::new());
        Estates { at_once: AT_ONCE, first, rest, ends: 0, is_fresh: false }
    }
}

impl fmt::Debug for Estates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Estates").field("left", &self.left()).finish_non_exhaustive()
    }
}

impl Estates {
    /// How many objects are left whose end was not met yet.
    pub(super) fn left(&self) -> usize {
        self.first.len() + self.rest.len()
    }

    /// Whether the end of an object of `client` has to wait: that is so for those of a client that is gone, when there are many.
    pub(super) fn waits(&mut self, display: &DisplayHandle, client: &ClientId) -> bool {
        self.ends = self.ends.saturating_add(1);
        // Those of one client in their order.
        let are_many = self.ends > self.at_once || self.left() > 0;
        are_many && display.backend_handle().get_client_data(client.clone()).is_err()
    }

    /// Keeps the end of an object of `interface` for later.
    pub(super) fn put(&mut self, interface: &str, last: Last) {
        self.is_fresh = true;
        if goes_first(Kind::of_interface(interface)) { self.first.push_back(last) } else { self.rest.push_back(last) }
    }

    fn next(&mut self) -> Option<Last> {
        self.first.pop_front().or_else(|| self.rest.pop_front())
    }
}

/// Whether a person or another client could take what is left of it for something that is there. (A client that takes care
/// destroys these before the surfaces that they are made of, too.) Not so of what clients have thousands of.
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

/// A turn begins: what is seen of those who are gone is gone with them.
pub fn attend(state: &mut State) {
    let estates = &mut state.protocols.estates;
    estates.ends = 0;
    if std::mem::take(&mut estates.is_fresh) {
        shell::sweep::hide_gone(state);
    }
}

/// Lets go of a part of what is left, if anything is. `next`: when there is something else to do. Returns when to go on.
pub fn go_on(state: &mut State, next: Option<Instant>) -> Option<Instant> {
    if state.protocols.estates.left() == 0 {
        return None;
    }
    let start = state.clock.now();
    let most = if next.is_some_and(|next| next - start < ROOM) { LITTLE } else { MOST };
    for number in 1..=most {
        let Some(last) = state.protocols.estates.next() else { break };
        last(state);
        if number % BETWEEN_LOOKS == 0 && state.clock.now() - start > SLICE {
            break;
        }
    }
    // What that comes to is looked at, too.
    Some(state.clock.now())
}
