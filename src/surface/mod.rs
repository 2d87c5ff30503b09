//! A surface's life: its content-update queue, its callbacks and its feedback.
//!
//! ```text
//!  commit ─► commit::before: conditions? ─ none ─► applied at once ─► applied(): callbacks, feedback, need
//!                               └ some ─► gate, queue ─► a latch opens it ─┘
//! ```

mod brake;
mod commit;
pub mod content;
pub mod dispatch;
mod entry;
mod feedback;
pub mod fence;
pub mod fingerprint;
mod gate;
pub mod lent;
pub mod memories;
pub mod paced;
mod paced_frame;
mod pacing_state;
pub mod queue;
mod shows;
mod stash;
pub mod subsurface;
mod sync_points;
pub mod tree;
mod update;

use std::collections::VecDeque;

use ahash::HashMap;
use smithay::backend::renderer::utils::{on_commit_buffer_handler, with_renderer_surface_state};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::{ClientId as WaylandClient, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::{self, SurfaceAttributes};

use crate::bounds::MAX_NESTING;
use crate::process_clock::ProcessClock;
use crate::state::State;
use crate::timing::id::{ClientId, SurfaceId};
use crate::timing::record::ClientFrameRecord;
use brake::Brake;
pub use entry::Entry;
pub use feedback::{Feedback, Shown};
pub use paced_frame::{CommitFault, Fate, FrameLedger, FrameListener, PacedFrame, Revoked, Unshown};
pub use pacing_state::{PacingState, PendingTarget};
use queue::UpdateQueue;
pub use shows::{Commit, Committed, ShowsSurfaces};
use update::{Outstanding, UpdateNumber};

/// All surfaces, and the clients that they belong to.
#[derive(Debug, Default)]
pub struct Surfaces {
    entries: HashMap<ObjectId, Entry>,
    clients: HashMap<WaylandClient, ClientEntry>,
    last_surface: u32,
    last_client: u32,
    /// What bounds the work for clients that flood.
    pub brake: Brake,
}

/// A connected program.
#[derive(Clone, Copy, Debug)]
pub struct ClientEntry {
    /// Its number.
    pub id: ClientId,
    /// Its CPU clock, where the system tells.
    pub clock: Option<ProcessClock>,
    surfaces: u32,
}

impl Surfaces {
    /// What is kept for `surface`.
    pub fn get(&self, surface: &WlSurface) -> Option<&Entry> {
        self.entries.get(&surface.id())
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, surface: &WlSurface) -> Option<&mut Entry> {
        self.entries.get_mut(&surface.id())
    }

    /// All surfaces.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// All surfaces, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.values_mut()
    }

    /// The surfaces with a pacing object, and their clients.
    pub(crate) fn paced(&mut self) -> impl Iterator<Item = (&mut Entry, ClientEntry)> {
        let Surfaces { entries, clients, .. } = self;
        let paced = entries.values_mut().filter(|entry| entry.frame_pacing.is_some());
        paced.filter_map(|entry| {
            let client = *clients.get(&entry.surface.client()?.id())?;
            Some((entry, client))
        })
    }

    /// The client of `surface`.
    pub fn client_of(&self, surface: &WlSurface) -> Option<ClientEntry> {
        self.clients.get(&surface.client()?.id()).copied()
    }
}

/// A client made a surface.
pub fn new_surface(state: &mut State, surface: &WlSurface) {
    let Some(client) = surface.client() else { return };
    let surfaces = &mut state.surfaces;
    let display = &state.display_handle;
    let entry = surfaces.clients.entry(client.id()).or_insert_with(|| {
        surfaces.last_client += 1;
        let pid = client.get_credentials(display).ok().map(|credentials| credentials.pid);
        ClientEntry { id: ClientId(surfaces.last_client), clock: pid.and_then(ProcessClock::of), surfaces: 0 }
    });
    entry.surfaces += 1;
    surfaces.last_surface += 1;
    let id = SurfaceId(surfaces.last_surface);
    let record = ClientFrameRecord { client: entry.id, surface: id, ..ClientFrameRecord::default() };
    surfaces.entries.insert(
        surface.id(),
        Entry {
            surface: surface.clone(),
            id,
            client: entry.id,
            queue: UpdateQueue::default(),
            touched: false,
            outstanding: Outstanding::default(),
            lasting: None,
            replay: false,
            acquire: Vec::new(),
            watches: Vec::new(),
            callbacks: Vec::new(),
            callbacks_after_latch: Vec::new(),
            feedback: Feedback::default(),
            fresh: false,
            called: None,
            output: None,
            seen: 0,
            record,
            committed: VecDeque::with_capacity(entry::MOST_COMMITTED),
            offset: Point::default(),
            input: None,
            buffers: 0,
            commits: 0,
            fingerprint: None,
            frame_pacing: None,
            unseen: false,
            acknowledges: false,
            described: None,
        },
    );
    state.surface_made(id);
}

/// An update of `surface` was applied: it is the current one from now on.
pub fn applied(state: &mut State, surface: &WlSurface) {
    let look =
        |surface: &WlSurface| with_renderer_surface_state(surface, |state| (state.current_commit(), state.view()));
    let before = look(surface);
    let (number, callbacks) = take_parts(surface);
    strip_cancelled(state, surface, number);
    let has_children = tree::update_positions(surface);
    on_commit_buffer_handler::<State>(surface);
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let update = entry.outstanding.apply(number);
    let mut changed = update.new_content || before != look(surface) || has_children;
    if state.input.drag_icon.as_ref() == Some(surface) {
        let offset = take_offset(surface);
        entry.offset += offset;
        changed |= offset != Point::default();
    }
    if update.new_content {
        // What no latch has taken is never shown: this update takes its place.
        std::mem::take(&mut entry.feedback).discard(Unshown::Newer);
    }
    entry.feedback.extend(update.feedback);
    entry.fresh |= changed;
    if entry.fresh {
        entry.callbacks_after_latch.extend(callbacks);
    } else {
        entry.callbacks.extend(callbacks);
    }
    if changed {
        state.need(surface);
    } else {
        state.callback_wanted(surface);
    }
    paced::applied(state, surface);
}

/// Takes the content out of an update that was cancelled; else remembers what describes it.
fn strip_cancelled(state: &mut State, surface: &WlSurface, number: UpdateNumber) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let cancelled = entry.outstanding.is_cancelled(number);
    let described = entry.described;
    entry.described = compositor::with_states(surface, |states| {
        if cancelled {
            paced::strip(states, described);
            sync_points::strip(states);
        }
        Some(paced::describe(states))
    });
}

fn take_offset(surface: &WlSurface) -> Point<i32, Logical> {
    compositor::with_states(surface, |states| {
        states.cached_state.get::<SurfaceAttributes>().current().buffer_delta.take().unwrap_or_default()
    })
}

fn take_parts(surface: &WlSurface) -> (UpdateNumber, Vec<WlCallback>) {
    compositor::with_states(surface, |states| {
        let number = *states.cached_state.get::<UpdateNumber>().current();
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        (number, std::mem::take(&mut attributes.current().frame_callbacks))
    })
}

/// A surface is gone.
pub fn destroyed(state: &mut State, surface: &WlSurface) {
    if state.surfaces.get(surface).is_some_and(|entry| entry.output.is_some()) {
        state.need(surface);
    }
    let surfaces = &mut state.surfaces;
    let Some(mut entry) = surfaces.entries.remove(&surface.id()) else { return };
    paced::surface_gone(entry.frame_pacing.take());
    entry.open_all();
    entry.outstanding.abandon();
    forget_waiting(surface);
    std::mem::take(&mut entry.feedback).discard(Unshown::Unseen);
    surfaces.clients.retain(|_, client| {
        client.surfaces -= u32::from(client.id == entry.client);
        client.surfaces > 0
    });
    let client_left = !surfaces.clients.values().any(|client| client.id == entry.client);
    fence::forget(state, std::mem::take(&mut entry.watches));
    state.surface_gone(entry.id, entry.client, client_left);
}

/// Lets go of what waits in Smithay's queue: it is never applied, but kept, with its buffers, for as long as anybody has
/// a reference to the surface.
fn forget_waiting(surface: &WlSurface) {
    compositor::with_states(surface, |states| {
        let mut cached = states.cached_state.get::<SurfaceAttributes>();
        let mut all = std::mem::take(&mut *cached);
        std::mem::swap(cached.current(), all.current());
        std::mem::swap(cached.pending(), all.pending());
    });
}

/// Whether the applied update of `surface` has a buffer.
pub fn has_content(surface: &WlSurface) -> bool {
    with_renderer_surface_state(surface, |state| state.buffer().is_some()).unwrap_or(false)
}

/// The root of the tree of subsurfaces that `surface` is part of.
pub fn root(surface: &WlSurface) -> WlSurface {
    let mut root = surface.clone();
    for _ in 0..=MAX_NESTING {
        let Some(parent) = compositor::get_parent(&root) else { break };
        root = parent;
    }
    root
}
