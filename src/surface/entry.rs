//! The compositor's own state of one surface, beside Smithay's.

use std::collections::VecDeque;
use std::sync::Arc;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::asked::Asked;
use super::background::Background;
use super::buffers::{BufferMemory, Buffers};
use super::feedback::Feedback;
use super::fence::{AcquireFence, Watched};
use super::follower::Follower;
use super::foresight::Foresight;
use super::front_buffer::FrontBuffer;
use super::gate::Gate;
use super::opacity::Opacity;
use super::paced;
use super::paced_frame::FrameListener;
use super::part::Part;
use super::queue::UpdateQueue;
use super::scroll::{Scrolled, View};
use super::shows::Finished;
use super::stash::Lasting;
use super::tree::{self, Reach};
use super::update::Outstanding;
use crate::revision::Revision;
use upbeat_timing::id::{ClientId, OutputId, SurfaceId, WindowId};
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};

/// Committed frames whose records are kept until a latch takes them. Of a client that floods, only the newest are kept.
pub(super) const MOST_COMMITTED: usize = 8;
/// After a callback a surface counts as being drawn for so long, even without a commit: no frame takes longer.
const DRAWS_FOR: Span = Span::from_seconds(1);

/// The compositor's own state of one surface.
#[derive(Debug)]
pub struct Entry {
    pub(super) surface: WlSurface,
    pub(super) id: SurfaceId,
    pub(super) client: ClientId,
    pub(super) queue: UpdateQueue<Gate>,
    /// A request on the surface came since its last commit.
    pub(super) touched: bool,
    /// Commits that were not applied yet.
    pub(super) outstanding: Outstanding,
    /// State that the last commit left pending, if this is a subsurface.
    pub(super) lasting: Option<Lasting>,
    /// Synchronised subsurfaces have committed content that the next commit applies.
    pub(super) brings: bool,
    /// The commit in progress only applies content that was committed before.
    pub(super) replay: bool,
    /// Fences that the next commit waits for.
    pub(super) acquire: Vec<Box<dyn AcquireFence>>,
    /// Updates that wait for fences.
    pub(super) watches: Vec<Watched>,
    /// Unanswered callbacks of applied updates (of a client that runs ahead also those of held updates).
    pub(super) callbacks: Vec<WlCallback>,
    /// Callbacks of applied content that no latch has taken yet: they may be answered after that latch.
    pub(super) callbacks_after_latch: Vec<WlCallback>,
    /// Feedback for applied content that no latch has taken yet.
    pub(super) feedback: Feedback,
    /// Since when there is applied content that no latch has taken.
    pub(super) fresh: Option<Instant>,
    /// When its callbacks were answered, if it has not committed since.
    pub(super) called: Option<Instant>,
    /// The output that paces it: the output with most of it when it was last visible.
    pub(super) output: Option<OutputId>,
    /// The last arrangement of that output in which a part of it was visible.
    pub(super) seen: Revision,
    /// The frame that its client is drawing, or drew last.
    pub(super) record: ClientFrameRecord,
    /// Committed frames that no latch has taken, oldest first, each with its commit number.
    pub(super) committed: VecDeque<(u64, ClientFrameRecord)>,
    /// The offset of a drag icon's origin from the pointer: the sum of its buffers' offsets (surface coordinates).
    pub(super) offset: Point<i32, Logical>,
    /// The time of the newest input event that no frame has answered yet.
    pub(super) input: Option<Instant>,
    pub(super) buffers: Buffers,
    /// Which of its frames answered a callback.
    asked: Asked,
    /// A hash of its pixels when it was last looked at.
    pub(super) fingerprint: Option<u64>,
    /// The client's frame pacing object, if it has one.
    pub(super) frame_pacing: Option<Arc<dyn FrameListener>>,
    /// Predicted positions of the devices on it, if its client asked for them.
    pub(super) foresight: Option<Box<Foresight>>,
    /// Its scroll state, if the compositor scrolls it for its client.
    pub(super) scroll: Option<Box<Scrolled>>,
    /// Set if it follows the pointer.
    pub(super) follower: Option<Box<Follower>>,
    /// The front buffer that its client writes ahead of the beam, if it asked for that.
    pub(super) front_buffer: Option<Box<FrontBuffer>>,
    /// The last tick for hidden surfaces found content that was not seen.
    pub(super) unseen: bool,
    /// Its newest commit has no time of its own: no fifo barrier, no time stamp, no target.
    pub(super) plain: bool,
    /// Its client acknowledged a configure and has not committed since.
    pub(super) acknowledges: bool,
    /// The scale, transform and viewport that belong to the buffer on screen.
    pub(super) described: Option<paced::Described>,
    /// The client's opacity factor, as applied last.
    pub(super) opacity: Opacity,
    /// The client's background effects, as applied last.
    pub(super) background: Background,
    /// Its subsurfaces, as applied last.
    pub(super) family: tree::Known,
    /// The bounds of its tree, if it is a root.
    pub(super) reach: Reach,
    /// Its place in the tree of subsurfaces.
    pub(super) part: Part,
    /// The client's scroll view on it, as applied last.
    pub(super) view: Option<Arc<View>>,
    /// It is in the registry's list of awake surfaces.
    pub(super) awake: bool,
}

/// An entry of which only the visibility may be changed.
#[derive(Debug)]
pub struct Seen<'a>(pub(super) &'a mut Entry);

impl Seen<'_> {
    pub fn entry(&self) -> &Entry {
        self.0
    }

    /// Notes that a part of it is visible in this arrangement of `output`.
    pub fn see(&mut self, output: OutputId, arrangement: Revision) {
        if self.0.output.replace(output) != Some(output) {
            self.0.queue.unbind_refreshes();
        }
        self.0.seen = arrangement;
        self.0.unseen = false;
    }

    /// Notes the window that the surface belongs to.
    pub fn belongs_to(&mut self, window: Option<WindowId>) {
        self.0.record.window = window;
    }
}

impl Entry {
    pub const fn surface(&self) -> &WlSurface {
        &self.surface
    }

    pub const fn id(&self) -> SurfaceId {
        self.id
    }

    pub const fn client(&self) -> ClientId {
        self.client
    }

    /// The output that paces it: the output with most of it when it was last visible.
    pub const fn output(&self) -> Option<OutputId> {
        self.output
    }

    /// The offset of a drag icon's origin from the pointer (surface coordinates).
    pub const fn offset(&self) -> Point<i32, Logical> {
        self.offset
    }

    /// The frame that its client is drawing, or drew last.
    pub const fn record(&self) -> &ClientFrameRecord {
        &self.record
    }

    pub const fn record_mut(&mut self) -> &mut ClientFrameRecord {
        &mut self.record
    }

    /// The time of the newest input event without a frame; a frame is about to answer it.
    pub const fn take_input(&mut self) -> Option<Instant> {
        self.input.take()
    }

    /// A hash of its pixels when it was last looked at.
    pub const fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }

    pub const fn set_fingerprint(&mut self, fingerprint: Option<u64>) {
        self.fingerprint = fingerprint;
    }

    /// Whether the last tick for hidden surfaces found content that was not seen.
    pub const fn is_unseen(&self) -> bool {
        self.unseen
    }

    pub const fn note_unseen(&mut self, unseen: bool) {
        self.unseen = unseen;
    }

    pub const fn frame_pacing(&self) -> Option<&Arc<dyn FrameListener>> {
        self.frame_pacing.as_ref()
    }

    /// Sets or removes the client's frame pacing object.
    pub fn set_frame_pacing(&mut self, listener: Option<Arc<dyn FrameListener>>) {
        self.frame_pacing = listener;
    }

    /// Predicted positions of the devices on it, if its client asked for them.
    pub fn foresight(&self) -> Option<&Foresight> {
        self.foresight.as_deref()
    }

    pub fn foresight_mut(&mut self) -> Option<&mut Foresight> {
        self.foresight.as_deref_mut()
    }

    pub fn set_foresight(&mut self, foresight: Option<Box<Foresight>>) {
        self.foresight = foresight;
    }

    /// Its scroll state, if the compositor scrolls it for its client.
    pub fn scroll(&self) -> Option<&Scrolled> {
        self.scroll.as_deref()
    }

    pub fn scroll_mut(&mut self) -> Option<&mut Scrolled> {
        self.scroll.as_deref_mut()
    }

    pub fn set_scroll(&mut self, scroll: Option<Box<Scrolled>>) {
        self.scroll = scroll;
    }

    /// Set if it follows the pointer.
    pub fn follower(&self) -> Option<&Follower> {
        self.follower.as_deref()
    }

    pub fn follower_mut(&mut self) -> Option<&mut Follower> {
        self.follower.as_deref_mut()
    }

    pub fn set_follower(&mut self, follower: Option<Box<Follower>>) {
        self.follower = follower;
    }

    /// The front buffer that its client writes ahead of the beam, if it asked for that.
    pub fn front_buffer(&self) -> Option<&FrontBuffer> {
        self.front_buffer.as_deref()
    }

    pub fn front_buffer_mut(&mut self) -> Option<&mut FrontBuffer> {
        self.front_buffer.as_deref_mut()
    }

    pub fn set_front_buffer(&mut self, front_buffer: Option<Box<FrontBuffer>>) {
        self.front_buffer = front_buffer;
    }

    pub(super) fn new(surface: WlSurface, id: SurfaceId, client: ClientId) -> Self {
        Entry {
            surface,
            id,
            client,
            queue: UpdateQueue::default(),
            touched: false,
            outstanding: Outstanding::default(),
            lasting: None,
            brings: false,
            replay: false,
            acquire: Vec::new(),
            watches: Vec::new(),
            callbacks: Vec::new(),
            callbacks_after_latch: Vec::new(),
            feedback: Feedback::default(),
            fresh: None,
            called: None,
            output: None,
            seen: Revision::default(),
            record: ClientFrameRecord { client, surface: id, ..ClientFrameRecord::default() },
            committed: VecDeque::new(),
            offset: Point::default(),
            input: None,
            buffers: Buffers::default(),
            asked: Asked::default(),
            fingerprint: None,
            frame_pacing: None,
            foresight: None,
            scroll: None,
            follower: None,
            front_buffer: None,
            unseen: false,
            plain: false,
            acknowledges: false,
            described: None,
            opacity: Opacity::default(),
            background: Background::default(),
            family: tree::Known::default(),
            reach: Reach::default(),
            part: Part::default(),
            view: None,
            awake: false,
        }
    }

    /// Whether the surface is idle: no latch, tick or turn has work for it until its client or the user acts.
    pub(super) fn may_rest(&self, now: Instant) -> bool {
        let is_drawing = self.called.is_some_and(|called| now - called < DRAWS_FOR);
        let is_told = self.frame_pacing.is_some() || self.scroll.as_ref().is_some_and(|view| view.is_concerned());
        !self.is_fresh() && !self.waits() && !self.queue.has_barrier() && !is_drawing && !is_told
    }

    /// Frees the spare capacity of its lists.
    pub(super) fn shrink(&mut self) {
        self.committed.shrink_to_fit();
        self.outstanding.shrink();
        self.callbacks.shrink_to_fit();
        self.callbacks_after_latch.shrink_to_fit();
    }

    /// How many updates wait in its queue.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is applied content that no latch has taken.
    pub const fn is_fresh(&self) -> bool {
        self.fresh.is_some()
    }

    /// Whether its newest commit was applied at once and has no time of its own: it may be shown at any time.
    pub const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Since when there is applied content that no latch has taken.
    pub const fn fresh_since(&self) -> Option<Instant> {
        self.fresh
    }

    /// Whether it has callbacks that may be answered now.
    pub fn wants_callback(&self) -> bool {
        !self.callbacks.is_empty()
    }

    /// Whether its client has committed no content yet: there is no frame that a callback could be for.
    pub const fn is_blank(&self) -> bool {
        self.newest() == 0
    }

    /// Whether its client waits for a callback, for feedback, or for an update that is held back.
    pub fn waits(&self) -> bool {
        let calls = !self.callbacks.is_empty() || !self.callbacks_after_latch.is_empty();
        calls && !self.is_blank() || self.has_feedback() || self.waiting() > 0
    }

    pub fn has_feedback(&self) -> bool {
        !self.feedback.is_empty()
    }

    /// When its callbacks were answered, if it has not committed since.
    pub const fn called(&self) -> Option<Instant> {
        self.called
    }

    /// The last arrangement of its output in which a part of it was visible.
    pub const fn seen(&self) -> Revision {
        self.seen
    }

    /// Sends the predicted device positions for a frame that starts at `now` and is seen at `present`. They must go out
    /// before the callback or target that starts the frame.
    pub fn foresee(&mut self, present: Instant, now: Instant) {
        if let Some(foresight) = &mut self.foresight {
            foresight.foresee(present, now);
        }
    }

    /// Answers its callbacks with `time`. `sent`: when the client is to start drawing; `None` if the surface is hidden.
    pub fn call_back(&mut self, time: Instant, sent: Option<Instant>) {
        self.called = sent;
        for callback in self.callbacks.drain(..) {
            callback.done(time.as_wayland_millis());
        }
    }

    /// Keeps the record of the committed frame until a latch takes it.
    pub fn keep_record(&mut self) {
        if self.committed.len() == MOST_COMMITTED {
            self.committed.pop_front();
        }
        self.committed.push_back((self.newest(), self.record));
    }

    /// The number of the newest commit with a buffer.
    pub const fn newest(&self) -> u64 {
        self.buffers.attached
    }

    /// The buffer of commit `number` was finished. `cost`: the drawing time, if the frame answered a callback.
    pub fn note_finished(&mut self, number: u64, finished: Finished, cost: Option<Span>) {
        // The record may already be that of the next frame.
        let is_newest = number == self.newest() && self.record.committed.is_some();
        let newest = is_newest.then_some(&mut self.record);
        let kept = self.committed.iter_mut().filter(|(kept, _)| *kept == number).map(|(_, record)| record);
        for record in kept.chain(newest) {
            (record.ready, record.ready_at_most) = (Some(finished.at), finished.at_most);
            record.cost_wall = record.cost_wall.and(cost).or(record.cost_wall);
        }
    }

    /// Takes the record of the newest applied frame, and forgets the records of older ones.
    pub fn take_record(&mut self) -> Option<ClientFrameRecord> {
        let applied = self.committed.len().saturating_sub(self.queue.frames());
        let (_, record) = self.committed.drain(..applied).next_back()?;
        // The window may have become known only after the commit.
        Some(ClientFrameRecord { window: self.record.window, ..record })
    }

    /// New content was committed: the client is not drawing any more.
    pub fn answered(&mut self) {
        self.asked.note(self.called.take().is_some());
    }

    /// Opens the updates that the latch for `index` may take. Returns whether there were any.
    pub fn open_due(&mut self, index: RefreshIndex, present: Instant) -> bool {
        let mut opened = false;
        while let Some(gate) = self.queue.take(index, present) {
            gate.open();
            opened = true;
        }
        opened
    }

    /// Opens all updates, because the surface is hidden. Returns whether there were any.
    pub fn open_all(&mut self) -> bool {
        let mut opened = false;
        for gate in self.queue.drain() {
            gate.open();
            opened = true;
        }
        opened
    }

    /// Opens the updates whose buffers are finished, whatever else they wait for, because the surface is hidden.
    pub fn open_finished(&mut self) -> bool {
        let mut opened = false;
        while let Some(gate) = self.queue.take_finished() {
            gate.open();
            opened = true;
        }
        opened
    }

    /// Lets its updates wait for no refresh any more: the refreshes that they were bound to will not come.
    pub(crate) fn unbind_refreshes(&mut self) {
        self.queue.unbind_refreshes();
    }

    /// Notes that the latch took the applied content. Returns the feedback that travels with the frame.
    pub fn latch(&mut self) -> Feedback {
        self.fresh = None;
        self.feedback.latched();
        self.callbacks.append(&mut self.callbacks_after_latch);
        std::mem::take(&mut self.feedback)
    }

    /// Clears fifo barriers after a latch. Returns whether there was one.
    pub fn clear_barrier(&mut self) -> bool {
        self.queue.latched()
    }

    /// The refresh that the oldest waiting update waits for, and the time of its time stamp ([`Instant::ZERO`]
    /// without one).
    pub fn due(
        &self,
        after: RefreshIndex,
        at_or_after: impl Fn(Instant) -> RefreshIndex,
    ) -> Option<(RefreshIndex, Instant)> {
        self.queue.due(after, at_or_after)
    }

    /// Opens the oldest update if it waits only for the refresh `next`. Returns the surface to apply it on.
    pub fn open_next(&mut self, next: RefreshIndex) -> Option<WlSurface> {
        self.queue.take_next(next)?.open();
        Some(self.surface.clone())
    }

    /// The memory that its buffers lie in.
    pub const fn memory(&self) -> BufferMemory {
        self.buffers.memory
    }

    /// How many buffers its client can draw into, as far as is known.
    pub fn buffers(&self) -> usize {
        self.buffers.count()
    }

    /// Notes that `buffer` was attached. Returns how many buffers the client can draw into.
    pub(super) fn attach(&mut self, display: &DisplayHandle, buffer: &WlBuffer) -> usize {
        self.buffers.attach(display, buffer)
    }

    /// Whether its frames may wait for the refresh that they were drawn for.
    pub const fn may_be_held(&self) -> bool {
        self.asked.may_be_held()
    }
}
