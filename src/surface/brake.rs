//! Bounds what a client that floods costs the others in one turn of the loop.
//!
//! libwayland reads at most 4 KB of a client in a turn: 512 commits, the shortest requests there are. Each in full costs
//! microseconds, all together a millisecond or two in which no other client is heard. A commit that follows another with
//! no request on its surface in between changes nothing, and no program sends hundreds of those at once; beyond a number
//! that any program could have a reason for they are left out.
//!
//! ```text
//!  frame commit commit commit … commit commit commit │ turn │ commit damage commit
//!    full  full  bare   bare  …  bare   left out     │      │  full   full
//!                └── MOST_BARE ──┘
//! ```

use smithay::reexports::wayland_server::backend::ClientId;

/// Commits without any request before them that a client may make in one turn: more than it has surfaces, and
/// 0.2 ms of work.
const MOST_BARE: u32 = 64;

/// Counts the bare commits of the client that is being read: a turn reads its clients one after another.
#[derive(Debug, Default)]
pub struct Brake {
    client: Option<ClientId>,
    bare: u32,
}

impl Brake {
    /// The clients have been read: they may commit again.
    pub fn turn(&mut self) {
        self.bare = 0;
    }

    /// `client` made a commit that changes nothing. Whether it is one too many.
    pub(super) fn bare_commit(&mut self, client: &ClientId) -> bool {
        if self.client.as_ref() != Some(client) {
            (self.client, self.bare) = (Some(client.clone()), 0);
        }
        self.bare += 1;
        self.bare > MOST_BARE
    }
}
