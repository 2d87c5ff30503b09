//! What the session keeps of clients and surfaces that are gone: nothing, once everything has come to rest.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use smithay::reexports::wayland_server::{Client, Resource};
use upbeat::guard::{self, Account};
use upbeat::state::State;
use upbeat_timing::id::SurfaceId;

use crate::fixture::World;
use crate::level::when_given_back;

#[derive(Default)]
pub struct Kept {
    accounts: Vec<Weak<Account>>,
    /// Those of the script before: a client may be in a list that is looked through with the next occasion.
    accounts_before: Vec<Weak<Account>>,
    surfaces: BTreeMap<SurfaceId, Weak<dyn Any + Send + Sync>>,
}

impl Kept {
    /// `client` has connected.
    pub fn add(&mut self, client: &Client) {
        self.accounts.extend(guard::account(client).map(Arc::downgrade));
    }

    /// Surfaces were made.
    pub fn look(&mut self, state: &State) {
        for entry in state.surfaces.iter() {
            if let Some(data) = entry.surface().object_data() {
                self.surfaces.entry(entry.id()).or_insert_with(|| Arc::downgrade(data));
            }
        }
    }

    /// All clients of the script have left. What threads and timers have yet to give back comes with turns.
    pub fn is_nothing(&mut self, world: &mut World) {
        // A token outlives its client: what a launcher starts uses it.
        world.state.protocols.forget_activation_tokens();
        world.state.surfaces.iter().for_each(|entry| _ = self.surfaces.remove(&entry.id()));
        let look = || {
            world.turn();
            let accounts = self.accounts_before.iter().filter(|account| account.strong_count() > 0).count();
            (accounts, self.surfaces.values().filter(|data| data.strong_count() > 0).count())
        };
        let (accounts, surfaces) = when_given_back(look, |kept| *kept == (0, 0));
        assert_eq!(accounts, 0, "of the clients of the script before so many are kept");
        assert_eq!(surfaces, 0, "of the surfaces that are gone so many are kept");
        self.accounts_before = std::mem::take(&mut self.accounts);
        self.surfaces.clear();
    }
}
