//! Bounds what a client that floods costs the others in one turn of the loop.
//!
//! libwayland reads at most 4 KB of a client in a turn: 512 commits, the shortest requests there are. Each in full costs
//! microseconds, all together a millisecond or two in which no other client is heard. A commit that follows another with
//! no request on its surface in between changes nothing, unless some other object described the surface (a viewport, a
//! subsurface below it), and no program does that dozens of times in a turn; beyond a number that any program could have
//! a reason for they are left out.
//!
//! ```text
//!  frame commit commit commit … commit commit commit │ turn │ commit damage commit
//!    full  full  bare   bare  …  bare   left out     │      │  full   full
//!                └─ MOST_OF_ONE ─┘
//! ```

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

/// Bare commits of one surface in a turn, up to one of another surface: what a program that only moves a viewport 150
/// times a second says while the compositor is held up for 100 ms.
const MOST_OF_ONE: u32 = 16;
/// Bare commits that a client may make in one turn on all its surfaces: more than it has surfaces, and 0.2 ms of work.
const MOST_BARE: u32 = 64;

/// Counts the bare commits of the client that is being read: a turn reads its clients one after another.
#[derive(Debug, Default)]
pub struct Brake {
    client: Option<ClientId>,
    surface: Option<WlSurface>,
    bare: u32,
    of_one: u32,
}

impl Brake {
    /// The clients have been read: they may commit again.
    pub fn turn(&mut self) {
        (self.bare, self.of_one, self.surface) = (0, 0, None);
    }

    /// `client` made a commit that changes nothing of `surface`. Whether it is one too many.
    pub(super) fn bare_commit(&mut self, client: &ClientId, surface: &WlSurface) -> bool {
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
