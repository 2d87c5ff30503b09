//! Finds leaks: once everything is at rest, the session keeps nothing of clients and surfaces that are gone.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use smithay::reexports::wayland_server::{Client, Resource};
use upbeat::guard::{self, ResourceAccount};
use upbeat::state::State;
use upbeat_timing::id::SurfaceId;

use crate::fixture::TestWorld;
use crate::resource_usage::when_given_back;

#[derive(Default)]
pub struct LeakCheck {
    accounts: Vec<Weak<ResourceAccount>>,
    /// Accounts of the script before: a list that is pruned lazily may keep a client until its next use.
    accounts_before: Vec<Weak<ResourceAccount>>,
    surfaces: BTreeMap<SurfaceId, Weak<dyn Any + Send + Sync>>,
}

impl LeakCheck {
    pub fn add_client(&mut self, client: &Client) {
        self.accounts.extend(guard::account(client).map(Arc::downgrade));
    }

    /// Notes the surfaces that exist now.
    pub fn record_surfaces(&mut self, state: &State) {
        for entry in state.surfaces.iter() {
            if let Some(data) = entry.surface().object_data() {
                self.surfaces.entry(entry.id()).or_insert_with(|| Arc::downgrade(data));
            }
        }
    }

    /// Asserts that nothing is kept once all clients of the script have left. Threads and timers need some turns to
    /// give back their memory.
    pub fn assert_nothing_kept(&mut self, world: &mut TestWorld) {
        // A token outlives the client that asked for it, because the program that the client starts uses it.
        world.state.protocols.forget_activation_tokens();
        world.state.surfaces.iter().for_each(|entry| _ = self.surfaces.remove(&entry.id()));
        let look = || {
            world.turn();
            let accounts = self.accounts_before.iter().filter(|account| account.strong_count() > 0).count();
            (accounts, self.surfaces.values().filter(|data| data.strong_count() > 0).count())
        };
        let (accounts, surfaces) = when_given_back(look, |kept| *kept == (0, 0));
        assert_eq!(accounts, 0, "clients of the last script are still in memory");
        assert_eq!(surfaces, 0, "destroyed surfaces are still in memory");
        self.accounts_before = std::mem::take(&mut self.accounts);
        self.surfaces.clear();
    }
}
