//! The compositor's own state of one surface, beside Smithay's.

use std::collections::VecDeque;
use std::sync::Arc;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::background::BackgroundEffects;
use super::bound_commits;
use super::buffers::{BufferHistory, BufferMemory};
use super::callback_history::CallbackHistory;
use super::feedback::Feedback;
use super::fence::{AcquireFence, FenceWait};
use super::follower::Follower;
use super::front_buffer::FrontBuffer;
use super::gate::Gate;
use super::input_prediction::InputPrediction;
use super::opacity::Opacity;
use super::output_hooks::BufferFinished;
use super::paced_frame::FrameListener;
use super::pending_commits::PendingCommits;
use super::queue::UpdateQueue;
use super::scroll::{ScrolledView, ViewProperties};
use super::stash::PersistentState;
use super::subsurface_node::SubsurfaceNode;
use super::tree::{self, TreeExtent};
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
pub struct SurfaceEntry {
    pub(super) surface: WlSurface,
    pub(super) id: SurfaceId,
    pub(super) client: ClientId,
    pub(super) queue: UpdateQueue<Gate>,
    /// A request on the surface came since its last commit.
    pub(super) has_requests: bool,
    /// Commits that were not applied yet.
    pub(super) outstanding: PendingCommits,
    /// State that the last commit left pending, if this is a subsurface.
    pub(super) pending_state: Option<PersistentState>,
    /// Synchronised subsurfaces have committed content that the next commit applies.
    pub(super) applies_subsurfaces: bool,
    /// The commit in progress only applies content that was committed before.
    pub(super) replay: bool,
    /// Fences that the next commit waits for.
    pub(super) acquire: Vec<Box<dyn AcquireFence>>,
    /// Updates that wait for fences.
    pub(super) fence_waits: Vec<FenceWait>,
    /// Unanswered callbacks of applied updates (of a client that runs ahead also those of held updates).
    pub(super) callbacks: Vec<WlCallback>,
    /// Callbacks of applied content that no latch has taken yet: they may be answered after that latch.
    pub(super) callbacks_after_latch: Vec<WlCallback>,
    /// Feedback for applied content that no latch has taken yet.
    pub(super) feedback: Feedback,
    /// Since when there is applied content that no latch has taken.
    pub(super) unlatched_since: Option<Instant>,
    /// When its callbacks were answered, if it has not committed since.
    pub(super) called_back_at: Option<Instant>,
    /// The output that paces it: the output with most of it when it was last visible.
    pub(super) output: Option<OutputId>,
    /// The last arrangement of that output in which a part of it was visible.
    pub(super) visible_in: Revision,
    /// The frame that its client is drawing, or drew last.
    pub(super) record: ClientFrameRecord,
    /// Committed frames that no latch has taken, oldest first, each with its commit number.
    pub(super) committed: VecDeque<(u64, ClientFrameRecord)>,
    /// The offset of a drag icon's origin from the pointer: the sum of its buffers' offsets (surface coordinates).
    pub(super) offset: Point<i32, Logical>,
    /// The time of the newest input event that no frame has answered yet.
    pub(super) input: Option<Instant>,
    pub(super) buffers: BufferHistory,
    /// Which of its frames answered a callback.
    callback_history: CallbackHistory,
    /// A hash of its pixels when it was last looked at.
    pub(super) fingerprint: Option<u64>,
    /// The client's frame pacing object, if it has one.
    pub(super) frame_pacing: Option<Arc<dyn FrameListener>>,
    /// Predicted positions of the devices on it, if its client asked for them.
    pub(super) input_prediction: Option<Box<InputPrediction>>,
    /// Its scroll state, if the compositor scrolls it for its client.
    pub(super) scroll: Option<Box<ScrolledView>>,
    /// Set if it follows the pointer.
    pub(super) follower: Option<Box<Follower>>,
    /// The front buffer that its client writes ahead of the beam, if it asked for that.
    pub(super) front_buffer: Option<Box<FrontBuffer>>,
    /// The last tick for hidden surfaces found content that was not seen.
    pub(super) has_unseen_content: bool,
    /// Its newest commit has no time of its own: no fifo barrier, no time stamp, no target.
    pub(super) is_untimed: bool,
    /// Its client acknowledged a configure and has not committed since.
    pub(super) has_acked_configure: bool,
    /// The scale, transform and viewport that belong to the buffer on screen.
    pub(super) buffer_description: Option<bound_commits::BufferDescription>,
    /// The client's opacity factor, as applied last.
    pub(super) opacity: Opacity,
    /// The client's background effects, as applied last.
    pub(super) background: BackgroundEffects,
    /// Its subsurfaces, as applied last.
    pub(super) subsurfaces: tree::KnownSubsurfaces,
    /// The bounds of its tree, if it is a root.
    pub(super) tree_extent: TreeExtent,
    /// Its place in the tree of subsurfaces.
    pub(super) node: SubsurfaceNode,
    /// The client's scroll view on it, as applied last.
    pub(super) view: Option<Arc<ViewProperties>>,
    /// It is in the registry's list of awake surfaces.
    pub(super) awake: bool,
}

/// An entry of which only the visibility may be changed.
#[derive(Debug)]
pub struct VisibilityUpdate<'a>(pub(super) &'a mut SurfaceEntry);

impl VisibilityUpdate<'_> {
    pub fn entry(&self) -> &SurfaceEntry {
        self.0
    }

    /// Notes that a part of it is visible in this arrangement of `output`.
    pub fn record_visibility(&mut self, output: OutputId, arrangement: Revision) {
        if self.0.output.replace(output) != Some(output) {
            self.0.queue.unbind_refreshes();
        }
        self.0.visible_in = arrangement;
        self.0.has_unseen_content = false;
    }

    /// Notes the window that the surface belongs to.
    pub fn set_window(&mut self, window: Option<WindowId>) {
        self.0.record.window = window;
    }
}

impl SurfaceEntry {
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
        self.has_unseen_content
    }

    pub const fn note_unseen(&mut self, unseen: bool) {
        self.has_unseen_content = unseen;
    }

    pub const fn frame_pacing(&self) -> Option<&Arc<dyn FrameListener>> {
        self.frame_pacing.as_ref()
    }

    /// Sets or removes the client's frame pacing object.
    pub fn set_frame_pacing(&mut self, listener: Option<Arc<dyn FrameListener>>) {
        self.frame_pacing = listener;
    }

    /// Predicted positions of the devices on it, if its client asked for them.
    pub fn input_prediction(&self) -> Option<&InputPrediction> {
        self.input_prediction.as_deref()
    }

    pub fn input_prediction_mut(&mut self) -> Option<&mut InputPrediction> {
        self.input_prediction.as_deref_mut()
    }

    pub fn set_input_prediction(&mut self, input_prediction: Option<Box<InputPrediction>>) {
        self.input_prediction = input_prediction;
    }

    /// Its scroll state, if the compositor scrolls it for its client.
    pub fn scroll(&self) -> Option<&ScrolledView> {
        self.scroll.as_deref()
    }

    pub fn scroll_mut(&mut self) -> Option<&mut ScrolledView> {
        self.scroll.as_deref_mut()
    }

    pub fn set_scroll(&mut self, scroll: Box<ScrolledView>) {
        self.scroll = Some(scroll);
    }

    pub fn take_scroll(&mut self) -> Option<Box<ScrolledView>> {
        self.scroll.take()
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
        SurfaceEntry {
            surface,
            id,
            client,
            queue: UpdateQueue::default(),
            has_requests: false,
            outstanding: PendingCommits::default(),
            pending_state: None,
            applies_subsurfaces: false,
            replay: false,
            acquire: Vec::new(),
            fence_waits: Vec::new(),
            callbacks: Vec::new(),
            callbacks_after_latch: Vec::new(),
            feedback: Feedback::default(),
            unlatched_since: None,
            called_back_at: None,
            output: None,
            visible_in: Revision::default(),
            record: ClientFrameRecord { client, surface: id, ..ClientFrameRecord::default() },
            committed: VecDeque::new(),
            offset: Point::default(),
            input: None,
            buffers: BufferHistory::default(),
            callback_history: CallbackHistory::default(),
            fingerprint: None,
            frame_pacing: None,
            input_prediction: None,
            scroll: None,
            follower: None,
            front_buffer: None,
            has_unseen_content: false,
            is_untimed: false,
            has_acked_configure: false,
            buffer_description: None,
            opacity: Opacity::default(),
            background: BackgroundEffects::default(),
            subsurfaces: tree::KnownSubsurfaces::default(),
            tree_extent: TreeExtent::default(),
            node: SubsurfaceNode::default(),
            view: None,
            awake: false,
        }
    }

    /// Whether the surface is idle: no latch, tick or turn has work for it until its client or the user acts.
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        let is_drawing = self.called_back_at.is_some_and(|called| now - called < DRAWS_FOR);
        let has_turn_work = self.frame_pacing.is_some() || self.scroll.as_ref().is_some_and(|view| view.needs_latch());
        !self.has_unlatched_content()
            && !self.is_waiting()
            && !self.queue.has_barrier()
            && !is_drawing
            && !has_turn_work
    }

    /// Frees the spare capacity of its lists.
    pub(super) fn shrink(&mut self) {
        self.committed.shrink_to_fit();
        self.outstanding.shrink();
        self.callbacks.shrink_to_fit();
        self.callbacks_after_latch.shrink_to_fit();
    }

    /// How many updates wait in its queue.
    pub fn queued_updates(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is applied content that no latch has taken.
    pub const fn has_unlatched_content(&self) -> bool {
        self.unlatched_since.is_some()
    }

    /// Whether its newest commit was applied at once and has no time of its own: it may be shown at any time.
    pub const fn is_untimed(&self) -> bool {
        self.is_untimed
    }

    /// Since when there is applied content that no latch has taken.
    pub const fn unlatched_since(&self) -> Option<Instant> {
        self.unlatched_since
    }

    /// Whether it has callbacks that may be answered now.
    pub fn wants_callback(&self) -> bool {
        !self.callbacks.is_empty()
    }

    /// Whether its client has committed no content yet: there is no frame that a callback could be for.
    pub const fn is_blank(&self) -> bool {
        self.newest_commit() == 0
    }

    /// Whether its client waits for a callback, for feedback, or for an update that is held back.
    pub fn is_waiting(&self) -> bool {
        let calls = !self.callbacks.is_empty() || !self.callbacks_after_latch.is_empty();
        calls && !self.is_blank() || self.has_feedback() || self.queued_updates() > 0
    }

    pub fn has_feedback(&self) -> bool {
        !self.feedback.is_empty()
    }

    /// When its callbacks were answered, if it has not committed since.
    pub const fn called_back_at(&self) -> Option<Instant> {
        self.called_back_at
    }

    /// The last arrangement of its output in which a part of it was visible.
    pub const fn visible_in(&self) -> Revision {
        self.visible_in
    }

    /// Sends the predicted device positions for a frame that starts at `now` and is seen at `present`. They must go out
    /// before the callback or target that starts the frame.
    pub fn send_predictions(&mut self, present: Instant, now: Instant) {
        if let Some(input_prediction) = &mut self.input_prediction {
            input_prediction.send_predictions(present, now);
        }
    }

    /// Answers its callbacks with `time`. `sent`: when the client is to start drawing; `None` if the surface is hidden.
    pub fn call_back(&mut self, time: Instant, sent: Option<Instant>) {
        self.called_back_at = sent;
        for callback in self.callbacks.drain(..) {
            callback.done(time.as_wayland_millis());
        }
    }

    /// Keeps the record of the committed frame until a latch takes it.
    pub fn keep_record(&mut self) {
        if self.committed.len() == MOST_COMMITTED {
            self.committed.pop_front();
        }
        self.committed.push_back((self.newest_commit(), self.record));
    }

    /// The number of the newest commit with a buffer.
    pub const fn newest_commit(&self) -> u64 {
        self.buffers.attached
    }

    /// The buffer of commit `number` was finished. `cost`: the drawing time, if the frame answered a callback.
    pub fn note_finished(&mut self, number: u64, finished: BufferFinished, cost: Option<Span>) {
        // The record may already be that of the next frame.
        let is_newest = number == self.newest_commit() && self.record.committed.is_some();
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
    pub fn note_new_content(&mut self) {
        self.callback_history.note(self.called_back_at.take().is_some());
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
        self.unlatched_since = None;
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
        self.callback_history.may_be_held()
    }
}
