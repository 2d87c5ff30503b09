//! All surfaces, and the clients that they belong to; and which of them anybody has something to do with.
//!
//! A session has many surfaces that show something and rest. What happens at every refresh asks only those that are
//! *awake*: whose client waits for something, or has said something lately. Whoever changes a surface wakes it, since there
//! is no other way to it than [`Surfaces::get_mut`]; [`Surfaces::settle`] finds out which have come to rest.

use std::collections::BTreeMap;

use ahash::HashMap;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::{ClientId as WaylandClient, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::Entry;
use super::brake::Brake;
use super::entry::Seen;
use super::memories::Memories;
use super::regions::Regions;
use super::scroll::{Share, Shares};
use super::tree::Reach;
use upbeat_record::process_clock::ProcessClock;
use upbeat_timing::id::{ClientId, OutputId, SurfaceId};
use upbeat_timing::scroll::SupplySettings;
use upbeat_timing::time::Instant;

/// All surfaces, and the clients that they belong to.
#[derive(Debug, Default)]
pub struct Surfaces {
    /// Each as large as it is: the table has more room than entries.
    entries: HashMap<ObjectId, Box<Entry>>,
    /// Those that are awake, in the order in which they woke up. One that is gone since the last turn is among them.
    awake: Vec<ObjectId>,
    clients: HashMap<WaylandClient, ClientEntry>,
    /// The surfaces of each client, oldest first.
    by_client: HashMap<ClientId, BTreeMap<SurfaceId, ObjectId>>,
    last_surface: u32,
    last_client: u32,
    /// What bounds the work for clients that flood.
    pub(super) brake: Brake,
    /// What regions of many rectangles stand for.
    pub(super) regions: Regions,
    /// Clients' buffers in the memory of devices.
    pub(super) memories: Memories,
    /// The surface that is drawn beside the pointer while something is dragged between clients.
    pub(super) drag_icon: Option<WlSurface>,
    /// What clients may have for views that are scrolled.
    pub(super) scroll: Shares,
    /// Roots of trees that may reach elsewhere than they did.
    pub(super) touched: Vec<WlSurface>,
    /// How many trees were measured so far, each with all of its surfaces.
    pub(super) measured: u64,
}

/// A connected program.
#[derive(Clone, Copy, Debug)]
pub struct ClientEntry {
    /// Its number.
    pub id: ClientId,
    /// Its CPU clock, where the system tells.
    pub clock: Option<ProcessClock>,
}

impl Surfaces {
    /// Clients' buffers in the memory of devices.
    pub const fn memories(&self) -> &Memories {
        &self.memories
    }

    /// The same, to change it.
    pub const fn memories_mut(&mut self) -> &mut Memories {
        &mut self.memories
    }

    /// What regions of many rectangles stand for.
    pub const fn regions_mut(&mut self) -> &mut Regions {
        &mut self.regions
    }

    /// The surface that is drawn beside the pointer while something is dragged between clients.
    pub const fn drag_icon(&self) -> Option<&WlSurface> {
        self.drag_icon.as_ref()
    }

    /// Something is dragged between clients, with `icon`, or is not any more.
    pub fn set_drag_icon(&mut self, icon: Option<WlSurface>) {
        self.drag_icon = icon;
    }

    /// What the views of one client may have together.
    pub const fn supply(&self) -> SupplySettings {
        self.scroll.whole
    }

    /// Changes that for views that are made from now on.
    pub const fn set_supply(&mut self, supply: SupplySettings) {
        self.scroll.whole = supply;
    }

    /// One more view of `client`.
    pub fn join_views(&mut self, client: WaylandClient) -> Share {
        self.scroll.join(client)
    }

    /// How many trees were measured so far, each with all of its surfaces.
    pub const fn measured(&self) -> u64 {
        self.measured
    }

    /// A turn begins: clients that flood have their share of work again.
    pub fn begin_turn(&mut self) {
        self.brake.turn();
    }

    /// What is kept for `surface`.
    pub fn get(&self, surface: &WlSurface) -> Option<&Entry> {
        self.entries.get(&surface.id()).map(Box::as_ref)
    }

    /// The same, to change it: it is awake from now on.
    pub fn get_mut(&mut self, surface: &WlSurface) -> Option<&mut Entry> {
        let entry: &mut Entry = self.entries.get_mut(&surface.id())?;
        if !std::mem::replace(&mut entry.awake, true) {
            self.awake.push(surface.id());
        }
        Some(entry)
    }

    /// What hangs on `root`, which wakes nobody.
    pub(super) fn reach_mut(&mut self, root: &WlSurface) -> Option<&mut Reach> {
        self.entries.get_mut(&root.id()).map(|entry| &mut entry.reach)
    }

    /// Notes where `surface` is seen, which wakes nobody.
    pub fn note_seen(&mut self, surface: &WlSurface, note: impl FnOnce(&mut Seen<'_>)) {
        if let Some(entry) = self.entries.get_mut(&surface.id()) {
            note(&mut Seen(entry));
        }
    }

    /// All surfaces, also those that rest.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().map(Box::as_ref)
    }

    /// Those that are awake.
    pub fn awake(&self) -> impl Iterator<Item = &Entry> {
        self.awake.iter().filter_map(|id| self.entries.get(id).map(Box::as_ref))
    }

    /// Changes those that are awake.
    pub fn for_each_awake(&mut self, mut change: impl FnMut(&mut Entry)) {
        for id in &self.awake {
            if let Some(entry) = self.entries.get_mut(id) {
                change(entry);
            }
        }
    }

    /// The surfaces of a client, oldest first.
    pub fn of_client(&self, client: ClientId) -> impl Iterator<Item = &Entry> {
        let its = self.by_client.get(&client).into_iter().flat_map(BTreeMap::values);
        its.filter_map(|id| self.entries.get(id).map(Box::as_ref))
    }

    /// An input event that came in at `at` was given to `client`: every surface of it may be the one that shows it.
    pub fn note_input(&mut self, client: ClientId, at: Instant) {
        for id in self.by_client.get(&client).into_iter().flat_map(BTreeMap::values) {
            if let Some(entry) = self.entries.get_mut(id) {
                entry.input = Some(at);
            }
        }
    }

    /// No output paces any more what `output` did.
    pub fn forsake(&mut self, output: OutputId) {
        for entry in self.entries.values_mut().filter(|entry| entry.output == Some(output)) {
            entry.output = None;
            entry.queue.unbind_refreshes();
        }
    }

    /// Lets those rest that nobody has anything to do with.
    pub fn settle(&mut self, now: Instant) {
        let Surfaces { entries, awake, .. } = self;
        awake.retain(|id| {
            let Some(entry) = entries.get_mut(id) else { return false };
            entry.awake = !entry.may_rest(now);
            if !entry.awake {
                entry.shrink();
            }
            entry.awake
        });
        debug_assert!(
            entries.values().all(|entry| entry.awake || entry.may_rest(now)),
            "one that has work to do sleeps"
        );
    }

    /// The surfaces with a pacing object, and their clients.
    pub(crate) fn for_each_paced(&mut self, mut change: impl FnMut(&mut Entry, ClientEntry)) {
        let Surfaces { entries, clients, awake, .. } = self;
        for id in awake.iter() {
            if let Some(entry) = entries.get_mut(id).filter(|entry| entry.frame_pacing.is_some())
                && let Some(client) = entry.surface.client()
                && let Some(client) = clients.get(&client.id())
            {
                change(entry, *client);
            }
        }
    }

    /// The client of `surface`.
    pub fn client_of(&self, surface: &WlSurface) -> Option<ClientEntry> {
        self.clients.get(&surface.client()?.id()).copied()
    }

    /// There is a surface of `client`, whose CPU clock is made with its first one.
    pub(super) fn insert(
        &mut self,
        surface: &WlSurface,
        client: WaylandClient,
        clock: impl FnOnce() -> Option<ProcessClock>,
    ) -> SurfaceId {
        let known = self.clients.entry(client).or_insert_with(|| {
            self.last_client += 1;
            ClientEntry { id: ClientId(self.last_client), clock: clock() }
        });
        self.last_surface += 1;
        let (id, client) = (SurfaceId(self.last_surface), known.id);
        self.by_client.entry(client).or_default().insert(id, surface.id());
        self.entries.insert(surface.id(), Box::new(Entry::new(surface.clone(), id, client)));
        id
    }

    /// A surface is gone. Returns what was kept, and whether its client went with it. No list is walked for it: a client
    /// that goes has thousands.
    pub(super) fn remove(&mut self, surface: &WlSurface) -> Option<(Entry, bool)> {
        let id = surface.id();
        let entry = *self.entries.remove(&id)?;
        let its = self.by_client.entry(entry.client).or_default();
        its.remove(&entry.id);
        let client_left = its.is_empty();
        if client_left {
            self.by_client.remove(&entry.client);
            self.clients.retain(|_, client| client.id != entry.client);
        }
        Some((entry, client_left))
    }
}
