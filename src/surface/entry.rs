//! What is kept for one surface.

use std::collections::VecDeque;
use std::sync::Arc;

use calloop::RegistrationToken;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::utils::{Logical, Point};
use smithay::wayland::shm::with_buffer_contents;

use super::feedback::Feedback;
use super::fence::AcquireFence;
use super::gate::Gate;
use super::paced;
use super::paced_frame::FrameListener;
use super::queue::UpdateQueue;
use super::stash::Lasting;
use super::update::Outstanding;
use crate::time::Instant;
use crate::timing::id::{ClientId, OutputId, SurfaceId};
use crate::timing::record::ClientFrameRecord;
use crate::timing::target::RefreshIndex;

/// Committed frames whose records are kept until a latch takes them; of a client that floods the newest count.
pub(super) const MOST_COMMITTED: usize = 8;
/// A client's buffers are counted with its first commits and then once in so many: it may make new ones at any time.
const COUNT_BUFFERS_EVERY: u64 = 64;
/// The first count: by then a client has what it starts with.
const FIRST_COUNT: u64 = 4;

/// What is kept for one surface.
#[derive(Debug)]
pub struct Entry {
    /// The surface.
    pub surface: WlSurface,
    /// Its number.
    pub id: SurfaceId,
    /// Its client.
    pub client: ClientId,
    pub(super) queue: UpdateQueue<Gate>,
    /// Something was requested of it since its last commit.
    pub(super) touched: bool,
    /// Commits that were not applied yet.
    pub(super) outstanding: Outstanding,
    /// What its last commit left pending, if it is a subsurface.
    pub(super) lasting: Option<Lasting>,
    /// The commit being made only applies what was committed before.
    pub(super) replay: bool,
    /// Fences that its next commit waits for.
    pub(super) acquire: Vec<Box<dyn AcquireFence>>,
    /// Fences of commits that wait.
    pub(super) watches: Vec<(Gate, RegistrationToken)>,
    /// Callbacks of applied updates (and of held ones of a client that runs ahead), not answered yet.
    pub(super) callbacks: Vec<WlCallback>,
    /// Callbacks of applied content that no latch has taken: they may be answered after it.
    pub(super) callbacks_after_latch: Vec<WlCallback>,
    /// Feedback for applied content that no latch has taken.
    pub(super) feedback: Feedback,
    /// Content was applied that no latch has taken.
    pub(super) fresh: bool,
    /// When it was called back, if it has not committed since.
    pub(super) called: Option<Instant>,
    /// The output that paces it: where most of it was seen last.
    pub output: Option<OutputId>,
    /// The last scene of that output in which something of it could be seen.
    pub(super) seen: u64,
    /// The frame that its client is making, or made last.
    pub record: ClientFrameRecord,
    /// The frames that were committed and that no latch has taken, oldest first.
    pub(super) committed: VecDeque<ClientFrameRecord>,
    /// Where a drag icon's origin is from the pointer: the sum of its buffers' offsets (surface coordinates).
    pub offset: Point<i32, Logical>,
    /// The newest input event that no frame of it has answered yet.
    pub input: Option<Instant>,
    /// How many buffers it can draw into, as far as we know.
    pub(super) buffers: usize,
    pub(super) commits: u64,
    /// A number for what it showed when somebody wanted to know last.
    pub fingerprint: Option<u64>,
    /// What paces it, if its client asked for that.
    pub frame_pacing: Option<Arc<dyn FrameListener>>,
    /// The last tick for hidden surfaces found content of it that nobody saw.
    pub(crate) unseen: bool,
    /// Its client acknowledged a configure and has not committed since.
    pub(super) acknowledges: bool,
    /// What describes the buffer that it shows.
    pub(super) described: Option<paced::Described>,
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

    /// When it was called back to draw, if it has not committed since.
    pub const fn called(&self) -> Option<Instant> {
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

    /// Answers its callbacks with `time`. `sent`: when it is to begin to draw; `None` if nobody sees what it draws.
    pub fn call_back(&mut self, time: Instant, sent: Option<Instant>) {
        self.called = sent;
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
        self.called = None;
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

    /// The latch is over: fifo barriers are cleared. Returns whether one stood.
    pub fn clear_barrier(&mut self) -> bool {
        self.queue.latched()
    }

    /// The refresh that the oldest waiting update waits for, and the moment of its time stamp ([`Instant::ZERO`] without
    /// one).
    pub fn due(
        &self,
        after: RefreshIndex,
        at_or_after: impl Fn(Instant) -> RefreshIndex,
    ) -> Option<(RefreshIndex, Instant)> {
        self.queue.due(after, at_or_after)
    }

    /// How many buffers it can draw into, as far as is known.
    pub const fn buffers(&self) -> usize {
        self.buffers
    }

    /// How many buffers the client of `buffer` has that could take its place.
    pub(super) fn count_buffers(&mut self, display: &DisplayHandle, buffer: &WlBuffer) -> usize {
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
