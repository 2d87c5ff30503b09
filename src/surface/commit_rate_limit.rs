//! Limits how many empty commits of one client are processed in one turn of the loop.
//!
//! libwayland reads at most 4 KB of a client in a turn: 512 commits, which are the shortest requests. Each full commit
//! costs microseconds; all together take a millisecond or two in which no other client is served. A *bare* commit
//! follows another commit without a request on the surface in between. It changes nothing, unless another object
//! changed the surface's state (a viewport, a subsurface below it), and no program does that dozens of times in a turn.
//! So bare commits beyond a generous number are left out.
//!
//! ```text
//!  frame commit commit commit … commit commit commit │ turn │ commit damage commit
//!    full  full  bare   bare  …  bare   left out     │      │  full   full
//!                └─ MOST_OF_ONE ─┘
//! ```

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

/// Bare commits in a row of one surface in a turn. A program that only moves a viewport 150 times a second makes so
/// many while the compositor is held up for 100 ms.
const MOST_OF_ONE: u32 = 16;
/// Bare commits of one client in a turn, on all its surfaces: more than it has surfaces, and 0.2 ms of work.
const MOST_BARE: u32 = 64;

/// Counts the bare commits of the client that is being read: the clients are read one after another.
#[derive(Debug, Default)]
pub struct CommitRateLimit {
    client: Option<ClientId>,
    surface: Option<WlSurface>,
    bare: u32,
    of_one: u32,
}

impl CommitRateLimit {
    /// All clients were read: the counts start again.
    pub fn reset(&mut self) {
        (self.bare, self.of_one, self.surface) = (0, 0, None);
    }

    /// Counts a bare commit of `surface`. Returns whether it exceeds the limit and is to be left out.
    pub(super) fn exceeds_limit(&mut self, client: &ClientId, surface: &WlSurface) -> bool {
        if self.surface.as_ref() != Some(surface) {
            (self.surface, self.of_one) = (Some(surface.clone()), 0);
            if self.client.as_ref() != Some(client) {
                (self.client, self.bare) = (Some(client.clone()), 0);
            }
        }
        self.of_one += 1;
        let too_many = self.of_one > MOST_OF_ONE || self.bare >= MOST_BARE;
        self.bare += u32::from(!too_many);
        too_many
    }
}
