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
mod feedback;
pub mod fence;
mod gate;
pub mod paced;
pub mod queue;
mod stash;
pub mod subsurface;
pub mod tree;
mod update;

use std::collections::VecDeque;

use ahash::HashMap;
use calloop::RegistrationToken;
use smithay::backend::renderer::utils::{on_commit_buffer_handler, with_renderer_surface_state};
use smithay::reexports::wayland_server::backend::{ClientId as WaylandClient, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::{self, SurfaceAttributes};
use smithay::wayland::shm::with_buffer_contents;

use crate::output;
use crate::process_clock::ProcessClock;
use crate::protocol::bounds::MAX_NESTING;
use crate::protocol::frame_pacing::{Unshown, UpbeatFramePacingV1};
use crate::state::State;
use crate::time::Instant;
use crate::timing::id::{ClientId, OutputId, SurfaceId};
use crate::timing::record::ClientFrameRecord;
use crate::timing::target::RefreshIndex;
use brake::Brake;
pub use feedback::{Feedback, Shown};
use fence::AcquireFence;
use gate::Gate;
use queue::UpdateQueue;
use stash::Lasting;
use update::{Outstanding, UpdateNumber};

/// Committed frames whose records are kept until a latch takes them; of a client that floods the newest count.
const MOST_COMMITTED: usize = 8;
/// A client's buffers are counted with its first commits and then once in so many: it may make new ones at any time.
const COUNT_BUFFERS_EVERY: u64 = 64;
/// The first count: by then a client has what it starts with.
const FIRST_COUNT: u64 = 4;

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

/// What is kept for one surface.
#[derive(Debug)]
pub struct Entry {
    /// The surface.
    pub surface: WlSurface,
    /// Its number.
    pub id: SurfaceId,
    /// Its client.
    pub client: ClientId,
    queue: UpdateQueue<Gate>,
    /// Something was requested of it since its last commit.
    touched: bool,
    /// Commits that were not applied yet.
    outstanding: Outstanding,
    /// What its last commit left pending, if it is a subsurface.
    lasting: Option<Lasting>,
    /// The commit being made only applies what was committed before.
    replay: bool,
    /// Fences that its next commit waits for.
    acquire: Vec<Box<dyn AcquireFence>>,
    /// Fences of commits that wait.
    watches: Vec<(Gate, RegistrationToken)>,
    /// Callbacks of applied updates (and of held ones of a client that runs ahead), not answered yet.
    callbacks: Vec<WlCallback>,
    /// Callbacks of applied content that no latch has taken: they may be answered after it.
    callbacks_after_latch: Vec<WlCallback>,
    /// Feedback for applied content that no latch has taken.
    feedback: Feedback,
    /// Content was applied that no latch has taken.
    fresh: bool,
    /// Called back and not committed since.
    called: bool,
    /// The output that paces it: where most of it was seen last.
    pub output: Option<OutputId>,
    /// The last scene of that output in which something of it could be seen.
    seen: u64,
    /// The frame that its client is making, or made last.
    pub record: ClientFrameRecord,
    /// The frames that were committed and that no latch has taken, oldest first.
    committed: VecDeque<ClientFrameRecord>,
    /// Where a drag icon's origin is from the pointer: the sum of its buffers' offsets (surface coordinates).
    pub offset: Point<i32, Logical>,
    /// The newest input event that no frame of it has answered yet.
    pub input: Option<Instant>,
    /// How many buffers it can draw into, as far as we know.
    buffers: usize,
    commits: u64,
    /// What paces it, if its client asked for that.
    pub frame_pacing: Option<UpbeatFramePacingV1>,
    /// The last tick for hidden surfaces found content of it that nobody saw.
    pub(crate) unseen: bool,
    /// Its client acknowledged a configure and has not committed since.
    acknowledges: bool,
    /// What describes the buffer that it shows.
    described: Option<paced::Described>,
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

impl Entry {
    /// How many updates wait in its queue.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether content was applied that no latch has taken.
    pub const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether it has callbacks that may be answered now.
    pub fn wants_callback(&self) -> bool {
        !self.callbacks.is_empty()
    }

    /// Whether its client waits for anything: a callback, feedback, an update that is held back.
    pub fn waits(&self) -> bool {
        let calls = !self.callbacks.is_empty() || !self.callbacks_after_latch.is_empty();
        calls || self.has_feedback() || self.waiting() > 0
    }

    /// Whether anybody is waiting for it to be shown.
    pub fn has_feedback(&self) -> bool {
        !self.feedback.is_empty()
    }

    /// Called back and not committed since.
    pub const fn is_called(&self) -> bool {
        self.called
    }

    /// Notes that something of it is visible in scene number `scene` of `output`.
    pub fn see(&mut self, output: OutputId, scene: u64) {
        self.output = Some(output);
        self.seen = scene;
        self.unseen = false;
    }

    /// The last scene in which something of it was visible.
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// Answers its callbacks.
    pub fn call_back(&mut self, time: Instant) {
        self.called = true;
        for callback in self.callbacks.drain(..) {
            callback.done(time.as_wayland_millis());
        }
    }

    /// The record of the frame being made is complete: it waits for a latch.
    pub fn keep_record(&mut self) {
        if self.committed.len() == MOST_COMMITTED {
            self.committed.pop_front();
        }
        self.committed.push_back(self.record);
    }

    /// The record of the newest frame that was applied; those that it took the place of are forgotten.
    pub fn take_record(&mut self) -> Option<ClientFrameRecord> {
        let applied = self.committed.len().saturating_sub(self.queue.frames());
        let record = self.committed.drain(..applied).next_back()?;
        // Which window it is may have been learned only since.
        Some(ClientFrameRecord { window: self.record.window, ..record })
    }

    /// New content was committed: it is not drawing any more.
    pub fn answered(&mut self) {
        self.called = false;
    }

    /// Opens what the latch for `index` may take. Returns whether anything was opened.
    pub fn open_due(&mut self, index: RefreshIndex, present: Instant) -> bool {
        let mut opened = false;
        while let Some(gate) = self.queue.take(index, present) {
            gate.open();
            opened = true;
        }
        opened
    }

    /// Opens everything: nobody will see it.
    pub fn open_all(&mut self) -> bool {
        let mut opened = false;
        for gate in self.queue.drain() {
            gate.open();
            opened = true;
        }
        opened
    }

    /// The refreshes that its frames wait for will not come.
    pub(crate) fn unbind_refreshes(&mut self) {
        self.queue.unbind_refreshes();
    }

    /// The latch took what was applied. Returns the feedback that travels with the frame.
    pub fn latch(&mut self) -> Feedback {
        self.fresh = false;
        self.feedback.latched();
        self.callbacks.append(&mut self.callbacks_after_latch);
        std::mem::take(&mut self.feedback)
    }

    /// The latch is over: fifo barriers are cleared.
    pub fn clear_barrier(&mut self) {
        self.queue.latched();
    }

    /// The refresh that the oldest waiting update waits for.
    pub fn due(&self, after: RefreshIndex, at_or_after: impl Fn(Instant) -> RefreshIndex) -> Option<RefreshIndex> {
        self.queue.due(after, at_or_after)
    }

    /// How many buffers the client of `buffer` has that could take its place.
    fn count_buffers(&mut self, display: &DisplayHandle, buffer: &WlBuffer) -> usize {
        self.commits += 1;
        if self.commits.is_multiple_of(COUNT_BUFFERS_EVERY) || self.commits == FIRST_COUNT {
            self.buffers = alternatives(display, buffer);
        }
        self.buffers
    }
}

/// The buffers of a client that are as large as `buffer`, itself included.
fn alternatives(display: &DisplayHandle, buffer: &WlBuffer) -> usize {
    let size = |buffer: &WlBuffer| with_buffer_contents(buffer, |_, _, data| (data.width, data.height)).ok();
    let (Some(wanted), Some(client)) = (size(buffer), buffer.client()) else { return 0 };
    let mut buffers = Vec::new();
    let listed = display.backend_handle().with_all_objects_for(client.id(), |object| {
        if object.interface().name == WlBuffer::interface().name {
            buffers.push(object);
        }
    });
    if listed.is_err() {
        return 0;
    }
    let buffers = buffers.into_iter().filter_map(|object| WlBuffer::from_id(display, object).ok());
    buffers.filter(|other| size(other) == Some(wanted)).count()
}

/// A client made a surface.
pub fn new_surface(state: &mut State, surface: &WlSurface) {
    let Some(client) = surface.client() else { return };
    // Before Smithay's own hook, which takes the content away.
    compositor::add_destruction_hook(surface, crate::shell::animation::about_to_destroy);
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
    state.outputs.statistics.begin(id);
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
            called: false,
            output: None,
            seen: 0,
            record,
            committed: VecDeque::with_capacity(MOST_COMMITTED),
            offset: Point::default(),
            input: None,
            buffers: 0,
            commits: 0,
            frame_pacing: None,
            unseen: false,
            acknowledges: false,
            described: None,
        },
    );
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
        output::need(state, surface);
    } else {
        output::pacing::callback_wanted(state, surface);
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
        output::need(state, surface);
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
    output::pacing::surface_gone(state, entry.id, entry.client, client_left);
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
