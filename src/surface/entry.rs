//! What is kept for one surface.

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

/// Committed frames whose records are kept until a latch takes them; of a client that floods the newest count.
pub(super) const MOST_COMMITTED: usize = 8;
/// How long a surface that was called back and has said nothing since may be one that is drawn: no frame takes longer.
const DRAWS_FOR: Span = Span::from_seconds(1);

/// What is kept for one surface.
#[derive(Debug)]
pub struct Entry {
    /// The surface.
    pub(super) surface: WlSurface,
    /// Its number.
    pub(super) id: SurfaceId,
    /// Its client.
    pub(super) client: ClientId,
    pub(super) queue: UpdateQueue<Gate>,
    /// Something was requested of it since its last commit.
    pub(super) touched: bool,
    /// Commits that were not applied yet.
    pub(super) outstanding: Outstanding,
    /// What its last commit left pending, if it is a subsurface.
    pub(super) lasting: Option<Lasting>,
    /// Synchronised subsurfaces have committed content that its next commit brings.
    pub(super) brings: bool,
    /// The commit being made only applies what was committed before.
    pub(super) replay: bool,
    /// Fences that its next commit waits for.
    pub(super) acquire: Vec<Box<dyn AcquireFence>>,
    /// Commits that wait for fences.
    pub(super) watches: Vec<Watched>,
    /// Callbacks of applied updates (and of held ones of a client that runs ahead), not answered yet.
    pub(super) callbacks: Vec<WlCallback>,
    /// Callbacks of applied content that no latch has taken: they may be answered after it.
    pub(super) callbacks_after_latch: Vec<WlCallback>,
    /// Feedback for applied content that no latch has taken.
    pub(super) feedback: Feedback,
    /// Since when there is content that was applied and that no latch has taken.
    pub(super) fresh: Option<Instant>,
    /// When it was called back, if it has not committed since.
    pub(super) called: Option<Instant>,
    /// The output that paces it: where most of it was seen last.
    pub(super) output: Option<OutputId>,
    /// The last arrangement of that output in which something of it could be seen.
    pub(super) seen: Revision,
    /// The frame that its client is making, or made last.
    pub(super) record: ClientFrameRecord,
    /// The frames that were committed and that no latch has taken, oldest first.
    pub(super) committed: VecDeque<(u64, ClientFrameRecord)>,
    /// Where a drag icon's origin is from the pointer: the sum of its buffers' offsets (surface coordinates).
    pub(super) offset: Point<i32, Logical>,
    /// The newest input event that no frame of it has answered yet.
    pub(super) input: Option<Instant>,
    /// What it is drawn into.
    pub(super) buffers: Buffers,
    /// Which of its frames were asked for.
    asked: Asked,
    /// A number for what it showed when somebody wanted to know last.
    pub(super) fingerprint: Option<u64>,
    /// What paces it, if its client asked for that.
    pub(super) frame_pacing: Option<Arc<dyn FrameListener>>,
    /// Where the devices on it will be, if its client asked for that.
    pub(super) foresight: Option<Box<Foresight>>,
    /// What moves it, if it is a view that we scroll.
    pub(super) scroll: Option<Box<Scrolled>>,
    /// What keeps it at the pointer, if its client asked for that.
    pub(super) follower: Option<Box<Follower>>,
    /// What its client writes into ahead of the beam, if it asked for that.
    pub(super) front_buffer: Option<Box<FrontBuffer>>,
    /// The last tick for hidden surfaces found content of it that nobody saw.
    pub(super) unseen: bool,
    /// Its newest commit said nothing that has a moment of its own.
    pub(super) plain: bool,
    /// Its client acknowledged a configure and has not committed since.
    pub(super) acknowledges: bool,
    /// What describes the buffer that it shows.
    pub(super) described: Option<paced::Described>,
    /// How much of it its client lets be seen, as applied last.
    pub(super) opacity: Opacity,
    /// What of the background behind it its client wants blurred, as applied last.
    pub(super) background: Background,
    /// Its subsurfaces, as they were applied last.
    pub(super) family: tree::Known,
    /// What hangs on it, if it is a root.
    pub(super) reach: Reach,
    /// What it is in its tree.
    pub(super) part: Part,
    /// What its client says of it as a view, as it was applied last.
    pub(super) view: Option<Arc<View>>,
    /// Listed as one that is awake.
    pub(super) awake: bool,
}

/// An entry of which only that may be changed which says where it is seen.
#[derive(Debug)]
pub struct Seen<'a>(pub(super) &'a mut Entry);

impl Seen<'_> {
    /// What is known of it.
    pub fn entry(&self) -> &Entry {
        self.0
    }

    /// Something of it is visible in this arrangement of `output`.
    pub fn see(&mut self, output: OutputId, arrangement: Revision) {
        if self.0.output.replace(output) != Some(output) {
            self.0.queue.unbind_refreshes();
        }
        self.0.seen = arrangement;
        self.0.unseen = false;
    }

    /// It is part of this window.
    pub fn belongs_to(&mut self, window: Option<WindowId>) {
        self.0.record.window = window;
    }
}

impl Entry {
    /// The surface.
    pub const fn surface(&self) -> &WlSurface {
        &self.surface
    }

    /// Its number.
    pub const fn id(&self) -> SurfaceId {
        self.id
    }

    /// Its client.
    pub const fn client(&self) -> ClientId {
        self.client
    }

    /// The output that paces it: where most of it was seen last.
    pub const fn output(&self) -> Option<OutputId> {
        self.output
    }

    /// Where a drag icon's origin is from the pointer: the sum of its buffers' offsets (surface coordinates).
    pub const fn offset(&self) -> Point<i32, Logical> {
        self.offset
    }

    /// The frame that its client is making, or made last.
    pub const fn record(&self) -> &ClientFrameRecord {
        &self.record
    }

    /// The same, to change it or to begin another.
    pub const fn record_mut(&mut self) -> &mut ClientFrameRecord {
        &mut self.record
    }

    /// The newest input event that no frame of it has answered yet: one is about to.
    pub const fn take_input(&mut self) -> Option<Instant> {
        self.input.take()
    }

    /// A number for what it showed when that was asked last.
    pub const fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }

    /// What it shows has this number.
    pub const fn set_fingerprint(&mut self, fingerprint: Option<u64>) {
        self.fingerprint = fingerprint;
    }

    /// Whether the last tick for hidden surfaces found content of it that was not seen.
    pub const fn is_unseen(&self) -> bool {
        self.unseen
    }

    /// A tick for hidden surfaces found content of it that is not seen, or none.
    pub const fn note_unseen(&mut self, unseen: bool) {
        self.unseen = unseen;
    }

    /// What paces it, if its client asked for that.
    pub const fn frame_pacing(&self) -> Option<&Arc<dyn FrameListener>> {
        self.frame_pacing.as_ref()
    }

    /// Its client asks to be paced by this, or does not any more.
    pub fn set_frame_pacing(&mut self, listener: Option<Arc<dyn FrameListener>>) {
        self.frame_pacing = listener;
    }

    /// Where the devices on it will be, if its client asked for that.
    pub fn foresight(&self) -> Option<&Foresight> {
        self.foresight.as_deref()
    }

    /// The same, to change it.
    pub fn foresight_mut(&mut self) -> Option<&mut Foresight> {
        self.foresight.as_deref_mut()
    }

    /// Its client asks for that with this, or does not any more.
    pub fn set_foresight(&mut self, foresight: Option<Box<Foresight>>) {
        self.foresight = foresight;
    }

    /// What moves it, if it is a view that we scroll.
    pub fn scroll(&self) -> Option<&Scrolled> {
        self.scroll.as_deref()
    }

    /// The same, to change it.
    pub fn scroll_mut(&mut self) -> Option<&mut Scrolled> {
        self.scroll.as_deref_mut()
    }

    /// Its client asks for that with this, or does not any more.
    pub fn set_scroll(&mut self, scroll: Option<Box<Scrolled>>) {
        self.scroll = scroll;
    }

    /// What keeps it at the pointer, if its client asked for that.
    pub fn follower(&self) -> Option<&Follower> {
        self.follower.as_deref()
    }

    /// The same, to change it.
    pub fn follower_mut(&mut self) -> Option<&mut Follower> {
        self.follower.as_deref_mut()
    }

    /// Its client asks for that with this, or does not any more.
    pub fn set_follower(&mut self, follower: Option<Box<Follower>>) {
        self.follower = follower;
    }

    /// What its client writes into ahead of the beam, if it asked for that.
    pub fn front_buffer(&self) -> Option<&FrontBuffer> {
        self.front_buffer.as_deref()
    }

    /// The same, to change it.
    pub fn front_buffer_mut(&mut self) -> Option<&mut FrontBuffer> {
        self.front_buffer.as_deref_mut()
    }

    /// Its client asks for that with this, or does not any more.
    pub fn set_front_buffer(&mut self, front_buffer: Option<Box<FrontBuffer>>) {
        self.front_buffer = front_buffer;
    }

    /// A surface of which nothing is known yet.
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

    /// Whether no latch, tick or turn has anything to do with it until somebody says something.
    pub(super) fn may_rest(&self, now: Instant) -> bool {
        let is_drawing = self.called.is_some_and(|called| now - called < DRAWS_FOR);
        let is_told = self.frame_pacing.is_some() || self.scroll.as_ref().is_some_and(|view| view.is_concerned());
        !self.is_fresh() && !self.waits() && !self.queue.has_barrier() && !is_drawing && !is_told
    }

    /// Gives back the room that its lists had while it was drawn.
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

    /// Whether content was applied that no latch has taken.
    pub const fn is_fresh(&self) -> bool {
        self.fresh.is_some()
    }

    /// Whether its newest commit was applied at once, and nobody was promised a moment for it: it may be shown at any time.
    pub const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Since when there is such content.
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

    /// Whether its client waits for anything: a callback, feedback, an update that is held back.
    pub fn waits(&self) -> bool {
        let calls = !self.callbacks.is_empty() || !self.callbacks_after_latch.is_empty();
        calls && !self.is_blank() || self.has_feedback() || self.waiting() > 0
    }

    /// Whether anybody is waiting for it to be shown.
    pub fn has_feedback(&self) -> bool {
        !self.feedback.is_empty()
    }

    /// When it was called back to draw, if it has not committed since.
    pub const fn called(&self) -> Option<Instant> {
        self.called
    }

    /// The last arrangement of its output in which something of it was visible.
    pub const fn seen(&self) -> Revision {
        self.seen
    }

    /// A frame of it is started at `now` that will be seen at `present`: before its client hears of that, it is told where devices
    /// will be.
    pub fn foresee(&mut self, present: Instant, now: Instant) {
        if let Some(foresight) = &mut self.foresight {
            foresight.foresee(present, now);
        }
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
        self.committed.push_back((self.newest(), self.record));
    }

    /// The number of the newest commit with new content.
    pub const fn newest(&self) -> u64 {
        self.buffers.attached
    }

    /// The commit number `number` was finished; `cost`: what it took, if it answered a callback.
    pub fn note_finished(&mut self, number: u64, finished: Finished, cost: Option<Span>) {
        // It may be at the next one already.
        let is_newest = number == self.newest() && self.record.committed.is_some();
        let newest = is_newest.then_some(&mut self.record);
        let kept = self.committed.iter_mut().filter(|(kept, _)| *kept == number).map(|(_, record)| record);
        for record in kept.chain(newest) {
            (record.ready, record.ready_at_most) = (Some(finished.at), finished.at_most);
            record.cost_wall = record.cost_wall.and(cost).or(record.cost_wall);
        }
    }

    /// The record of the newest frame that was applied; those that it took the place of are forgotten.
    pub fn take_record(&mut self) -> Option<ClientFrameRecord> {
        let applied = self.committed.len().saturating_sub(self.queue.frames());
        let (_, record) = self.committed.drain(..applied).next_back()?;
        // Which window it is may have been learned only since.
        Some(ClientFrameRecord { window: self.record.window, ..record })
    }

    /// New content was committed: it is not drawing any more.
    pub fn answered(&mut self) {
        self.asked.note(self.called.take().is_some());
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

    /// Opens what no device draws any more, whatever else it waits for: nobody sees it.
    pub fn open_finished(&mut self) -> bool {
        let mut opened = false;
        while let Some(gate) = self.queue.take_finished() {
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
        self.fresh = None;
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

    /// Applies the oldest update now if it waits for nothing but the refresh `next`. Says whose it is.
    pub fn open_next(&mut self, next: RefreshIndex) -> Option<WlSurface> {
        self.queue.take_next(next)?.open();
        Some(self.surface.clone())
    }

    /// Where its buffers lie.
    pub const fn memory(&self) -> BufferMemory {
        self.buffers.memory
    }

    /// How many buffers it can draw into, as far as is known.
    pub fn buffers(&self) -> usize {
        self.buffers.count()
    }

    /// It is drawn into `buffer`. Returns how many its client can draw into.
    pub(super) fn attach(&mut self, display: &DisplayHandle, buffer: &WlBuffer) -> usize {
        self.buffers.attach(display, buffer)
    }

    /// Whether its frames may wait for the refresh that they were drawn for.
    pub const fn may_be_held(&self) -> bool {
        self.asked.may_be_held()
    }
}
