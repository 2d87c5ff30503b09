//! The registry of all surfaces and their clients, and the list of *awake* surfaces.
//!
//! A session has many surfaces that show something and are idle. The work of each refresh visits only the *awake*
//! surfaces: their client waits for something, or has sent a request lately. Any change wakes a surface, since
//! [`SurfaceRegistry::get_mut`] is the only way to change it; [`SurfaceRegistry::retire_idle`] finds surfaces that have
//! become idle.

use std::collections::BTreeMap;

use ahash::HashMap;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::{ClientId as WaylandClient, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::SurfaceEntry;
use super::commit_rate_limit::CommitRateLimit;
use super::device_buffers::DeviceBuffers;
use super::entry::VisibilityUpdate;
use super::regions::RegionLimits;
use super::scroll::{ScrollBudgetShare, ScrollBudgets};
use super::tree::TreeExtent;
use upbeat_record::process_clock::ProcessClock;
use upbeat_timing::id::{ClientId, OutputId, SurfaceId};
use upbeat_timing::scroll::SupplySettings;
use upbeat_timing::time::Instant;

/// All surfaces and their clients.
#[derive(Debug, Default)]
pub struct SurfaceRegistry {
    /// Boxed, because the table has more slots than entries and an entry is large.
    entries: HashMap<ObjectId, Box<SurfaceEntry>>,
    /// The awake surfaces in the order in which they woke up. May name surfaces that were destroyed since the last
    /// turn.
    awake: Vec<ObjectId>,
    clients: HashMap<WaylandClient, ClientEntry>,
    /// The surfaces of each client, oldest first.
    by_client: HashMap<ClientId, BTreeMap<SurfaceId, ObjectId>>,
    last_surface: u32,
    last_client: u32,
    pub(super) commit_rate_limit: CommitRateLimit,
    pub(super) regions: RegionLimits,
    /// Client buffers in device memory.
    pub(super) device_buffers: DeviceBuffers,
    /// The drag-and-drop icon.
    pub(super) drag_icon: Option<WlSurface>,
    /// The limits for clients' scroll views.
    pub(super) scroll_budgets: ScrollBudgets,
    /// Roots of trees whose bounding box may have changed.
    pub(super) changed_trees: Vec<WlSurface>,
    /// How many trees were measured so far, each with all of its surfaces; for tests.
    pub(super) trees_measured: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct ClientEntry {
    pub id: ClientId,
    /// The CPU clock of its process, if the kernel offers it.
    pub clock: Option<ProcessClock>,
}

impl SurfaceRegistry {
    /// Client buffers in device memory.
    pub const fn device_buffers(&self) -> &DeviceBuffers {
        &self.device_buffers
    }

    pub const fn device_buffers_mut(&mut self) -> &mut DeviceBuffers {
        &mut self.device_buffers
    }

    pub const fn regions_mut(&mut self) -> &mut RegionLimits {
        &mut self.regions
    }

    /// The drag-and-drop icon.
    pub const fn drag_icon(&self) -> Option<&WlSurface> {
        self.drag_icon.as_ref()
    }

    pub fn set_drag_icon(&mut self, icon: Option<WlSurface>) {
        self.drag_icon = icon;
    }

    /// The limit for all scroll views of a client together.
    pub const fn supply(&self) -> SupplySettings {
        self.scroll_budgets.whole
    }

    /// Sets the limit. Existing views take it over at their next latch.
    pub const fn set_supply(&mut self, supply: SupplySettings) {
        self.scroll_budgets.whole = supply;
    }

    /// Adds a view of `client`, which shares the client's limit.
    pub fn add_view(&mut self, client: WaylandClient) -> ScrollBudgetShare {
        self.scroll_budgets.add_view(client)
    }

    /// How many trees were measured so far, each with all of its surfaces.
    pub const fn measured(&self) -> u64 {
        self.trees_measured
    }

    /// A turn of the loop begins: the limits for a turn start again.
    pub fn begin_turn(&mut self) {
        self.commit_rate_limit.reset();
    }

    pub fn get(&self, surface: &WlSurface) -> Option<&SurfaceEntry> {
        self.entries.get(&surface.id()).map(Box::as_ref)
    }

    /// Also wakes the surface.
    pub fn get_mut(&mut self, surface: &WlSurface) -> Option<&mut SurfaceEntry> {
        let entry: &mut SurfaceEntry = self.entries.get_mut(&surface.id())?;
        if !std::mem::replace(&mut entry.awake, true) {
            self.awake.push(surface.id());
        }
        Some(entry)
    }

    /// The bounding box of the tree of `root`; does not wake it.
    pub(super) fn tree_extent_mut(&mut self, root: &WlSurface) -> Option<&mut TreeExtent> {
        self.entries.get_mut(&root.id()).map(|entry| &mut entry.tree_extent)
    }

    /// Notes where `surface` is visible, without waking it.
    pub fn update_visibility(&mut self, surface: &WlSurface, note: impl FnOnce(&mut VisibilityUpdate<'_>)) {
        if let Some(entry) = self.entries.get_mut(&surface.id()) {
            note(&mut VisibilityUpdate(entry));
        }
    }

    /// All surfaces, idle ones included.
    pub fn iter(&self) -> impl Iterator<Item = &SurfaceEntry> {
        self.entries.values().map(Box::as_ref)
    }

    /// The awake surfaces.
    pub fn awake(&self) -> impl Iterator<Item = &SurfaceEntry> {
        self.awake.iter().filter_map(|id| self.entries.get(id).map(Box::as_ref))
    }

    pub fn for_each_awake(&mut self, mut change: impl FnMut(&mut SurfaceEntry)) {
        for id in &self.awake {
            if let Some(entry) = self.entries.get_mut(id) {
                change(entry);
            }
        }
    }

    /// The surfaces of a client, oldest first.
    pub fn of_client(&self, client: ClientId) -> impl Iterator<Item = &SurfaceEntry> {
        let its = self.by_client.get(&client).into_iter().flat_map(BTreeMap::values);
        its.filter_map(|id| self.entries.get(id).map(Box::as_ref))
    }

    /// An input event of time `at` was sent to `client`: noted for all its surfaces, since any of them may be the one
    /// that shows the effect.
    pub fn note_input(&mut self, client: ClientId, at: Instant) {
        for id in self.by_client.get(&client).into_iter().flat_map(BTreeMap::values) {
            if let Some(entry) = self.entries.get_mut(id) {
                entry.input = Some(at);
            }
        }
    }

    /// `output` is gone: the surfaces that it paced have no output now.
    pub fn forget_output(&mut self, output: OutputId) {
        for entry in self.entries.values_mut().filter(|entry| entry.output == Some(output)) {
            entry.output = None;
            entry.queue.unbind_refreshes();
        }
    }

    /// Takes idle surfaces out of the awake list.
    pub fn retire_idle(&mut self, now: Instant) {
        let SurfaceRegistry { entries, awake, .. } = self;
        awake.retain(|id| {
            let Some(entry) = entries.get_mut(id) else { return false };
            entry.awake = !entry.is_idle(now);
            if !entry.awake {
                entry.shrink();
            }
            entry.awake
        });
        debug_assert!(
            entries.values().all(|entry| entry.awake || entry.is_idle(now)),
            "a surface with work is not awake"
        );
    }

    /// Calls `change` for each awake surface with a frame pacing object, and its client.
    pub(crate) fn for_each_paced(&mut self, mut change: impl FnMut(&mut SurfaceEntry, ClientEntry)) {
        let SurfaceRegistry { entries, clients, awake, .. } = self;
        for id in awake.iter() {
            if let Some(entry) = entries.get_mut(id).filter(|entry| entry.frame_pacing.is_some())
                && let Some(client) = entry.surface.client()
                && let Some(client) = clients.get(&client.id())
            {
                change(entry, *client);
            }
        }
    }

    pub fn client_of(&self, surface: &WlSurface) -> Option<ClientEntry> {
        self.clients.get(&surface.client()?.id()).copied()
    }

    /// Adds a surface of `client`. `clock` makes the client's CPU clock, for its first surface.
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
        self.entries.insert(surface.id(), Box::new(SurfaceEntry::new(surface.clone(), id, client)));
        id
    }

    /// Removes a surface. Returns its entry, and whether it was the client's last surface. Walks no list: a client that
    /// disconnects may have thousands of surfaces.
    pub(super) fn remove(&mut self, surface: &WlSurface) -> Option<(SurfaceEntry, bool)> {
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
