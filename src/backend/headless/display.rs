//! The virtual display as a state machine: frames and time go in, events come out.
//!
//! It does no I/O and reads no clock. It is *honest*: a frame counts for a vblank only if it was complete, that is
//! submit had returned **and** its render fence had signalled, at or before `vblank − submit_lead`. Only these two
//! times matter, not the time at which [`VirtualDisplay::advance`] is called.
//!
//! ```text
//!             submit returned      fence signalled
//!                   │                    │
//!  ├────────────────┴──┊─────────────────┴──┊──────────├─── vblanks
//!                      └ lead ┘             └── lead ──┘
//!                  complete = the later of the two; scan-out = the first vblank ≥ complete + lead
//! ```
//!
//! A front-buffer rectangle does not wait for a vblank: it is written when submit returns. It is lit in the current
//! refresh if the beam is still above it, and otherwise in the next; it is reported when its first row is lit. If the
//! beam was within it, it is torn. Shared client memory is read as the beam passes (`front`).

mod shared_front;
mod step;
mod submit;

use std::collections::VecDeque;

use super::event_queue::{DisplayEventQueue, LitRectangle};
use super::fault::FaultPlayer;
use super::front::FrontScanout;
use super::grid::{RecordedRefresh, RefreshGrid};
use super::limits::OptionsError;
use super::options::OutputOptions;
use super::overlay_planes;
use super::panel::{FrontWrite, Panel};
use super::panel_watch::{PanelWatch, WatchId};
use super::pool::BufferPool;
use super::scan::scan;
use crate::backend::plane::PlaneContents;
use crate::backend::{
    Buffer, Capabilities, ClockSource, CursorPlane, DisplayEvent, EdidIdentity, FrameId, LossReason, PixelBuffer,
    PixelRect, ScreenSnapshot, VideoMode,
};
use upbeat_timing::time::{Instant, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DisplayPower {
    On,
    Off,
    /// The output was unplugged, for good.
    Gone,
}

/// A frame that waits for its vblank.
#[derive(Debug)]
struct PendingVirtualFrame {
    frame: FrameId,
    /// The new buffer; `None` when only planes change.
    buffer: Option<Buffer>,
    cursor: Option<CursorPlane>,
    /// Clients' buffers on overlay planes.
    planes: PlaneContents,
    submitted: Instant,
    /// When its fence signalled; `None` while it is pending.
    rendered: Option<Instant>,
    /// The frame is not shown before this time: because of a fault, or because of its refresh where frames may
    /// queue. If the frame before it flips later than this, its refresh is taken.
    held_until: Instant,
    /// It waited in the queue, which hands it to the device as late as possible.
    waited: bool,
}

/// One virtual output. All times are on the caller's clock.
pub struct VirtualDisplay {
    mode: VideoMode,
    options: OutputOptions,
    /// The submit lead in `mode`. It is needed several times in each refresh.
    lead: Span,
    grid: RefreshGrid,
    power: DisplayPower,
    pool: BufferPool,
    panel: Panel,
    pending: Option<PendingVirtualFrame>,
    /// Frames behind `pending`, each for its own refresh.
    queued: VecDeque<PendingVirtualFrame>,
    /// A front-buffer rectangle, to be written when submit returns.
    front_write: Option<FrontWrite>,
    /// Until when clients count as writing into the buffer on screen.
    written_until: Instant,
    /// Client memory that is scanned out without a copy.
    front: Option<FrontScanout>,
    /// Front-buffer rectangles that were written after the beam had passed some or all of their rows: the next
    /// refresh lights them.
    settling: Vec<LitRectangle>,
    faults: FaultPlayer,
    reports: DisplayEventQueue,
    /// The latest time that a caller passed.
    now: Instant,
}

impl VirtualDisplay {
    /// A panel that is on and black.
    pub fn new(mode: VideoMode, options: OutputOptions, now: Instant) -> Result<Self, OptionsError> {
        options.validate(mode)?;
        let (shortest, longest) = options.intervals(mode);
        let first = RecordedRefresh { time: options.epoch.unwrap_or(now), sequence: 0 };
        Ok(VirtualDisplay {
            mode,
            lead: options.lead(mode),
            grid: RefreshGrid::new(first, shortest, longest),
            power: DisplayPower::On,
            pool: BufferPool::new(options.buffers, mode.width, mode.height),
            panel: Panel::new(scan(mode, shortest)),
            pending: None,
            queued: VecDeque::new(),
            front_write: None,
            written_until: now,
            front: None,
            settling: Vec::new(),
            faults: FaultPlayer::new(&options.faults, first.time),
            reports: DisplayEventQueue::default(),
            options,
            now,
        })
    }

    /// Entries per channel of the gamma table; `None` without a table.
    pub fn gamma_size(&self) -> Option<u32> {
        self.options.gamma
    }

    /// The monitor's identity, if the options give it.
    pub fn identity(&self) -> Option<EdidIdentity> {
        self.options.identity.clone()
    }

    /// Width and height of the visible area in millimetres, if the options give them.
    pub fn millimetres(&self) -> Option<(u32, u32)> {
        self.options.millimetres
    }

    pub fn mode(&self) -> VideoMode {
        self.mode
    }

    /// The features in the current mode.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities {
            clock: ClockSource::Virtual,
            submit_lead: self.lead,
            driver_margin: Span::ZERO,
            pending_flips: 1 + u32::try_from(self.options.queue).unwrap_or(0),
            unreported: 1,
            variable_refresh: self.options.variable_refresh,
            scan: Some(self.panel.beam()),
            front_buffer: self.options.front_buffer,
            cursor_plane: self.options.cursor_plane,
            overlay_planes: self.options.overlays,
            stacked_overlays: true,
            translucent_overlays: true,
            shared_memory_planes: self.options.overlays > 0,
            direct_scanout: false,
            plane_scroll: self.options.overlays > 0,
            can_withdraw: self.options.can_withdraw,
        }
    }

    /// Whether the overlay planes show these buffers.
    pub fn can_show(&self, planes: &PlaneContents) -> bool {
        self.power == DisplayPower::On && overlay_planes::test(planes, self.mode, self.options.overlays).is_ok()
    }

    /// Whether the output was unplugged.
    pub fn is_gone(&self) -> bool {
        self.power == DisplayPower::Gone
    }

    /// The last refresh at or before `now`.
    pub fn last_refresh(&self, now: Instant) -> Option<RecordedRefresh> {
        self.grid.last_at(now)
    }

    /// How many rows the panel has read at `now` in the current refresh; `None` before the first refresh. For tests.
    pub fn rows_read(&self, now: Instant) -> Option<i32> {
        self.grid.last_at(now).map(|refresh| self.panel.beam().lines_read(refresh.time, now))
    }

    /// A copy of the screen, as a camera would see it, or the same without the cursor; `None` if the panel is dark.
    pub fn screenshot(&self, with_cursor: bool) -> Option<PixelBuffer> {
        let image = self.panel.image()?;
        let image = if with_cursor { image } else { image.without_cursor() };
        let mut copy = PixelBuffer::default();
        match self.panel.kept() {
            None => image.copy_into(&mut copy),
            Some(picture) => {
                copy = picture.whole()?;
                let whole = PixelRect { x: 0, y: 0, width: copy.width, height: copy.height };
                image.put_planes(whole, &mut copy.pixels);
            }
        }
        Some(copy)
    }

    /// The same, to be read later or on another thread.
    pub fn snapshot(&mut self, with_cursor: bool) -> Option<ScreenSnapshot> {
        self.panel.snapshot(with_cursor)
    }

    /// Whether the pixels of frames are read here: for watches, and while clients write into the buffer on screen.
    pub fn needs_pixels(&self) -> bool {
        self.panel.is_watched() || self.front.is_some() || self.now < self.written_until
    }

    /// Adds a watch, which is called for each change of the panel's image.
    pub fn add_watch(&mut self, watch: Box<dyn PanelWatch>) -> WatchId {
        self.panel.add_watch(watch)
    }

    /// Ends a watch: the image on screen counts as over. Returns false if there is no such watch.
    pub fn remove_watch(&mut self, id: WatchId, now: Instant) -> bool {
        self.advance(now);
        self.panel.remove_watch(id, now)
    }

    /// A buffer to compose into; `None` while all are in use or the output is off.
    pub fn acquire(&mut self) -> Option<Buffer> {
        if self.power == DisplayPower::On { self.pool.acquire() } else { None }
    }

    /// Takes an unused buffer back.
    pub fn release(&mut self, buffer: Buffer) {
        self.pool.release(buffer);
    }

    /// Whether an event can be polled now.
    pub fn has_event(&self) -> bool {
        self.reports.is_due(self.now)
    }

    /// The next event that is due by the latest time passed, in order.
    pub fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.reports.poll(self.now)
    }

    /// Switches the panel on or off. While it is off it is black and has no frame, but its refreshes are still counted.
    pub fn set_power(&mut self, on: bool, now: Instant) {
        self.advance(now);
        self.switch_power(on, now);
    }

    /// Whether `mode` is valid.
    pub fn check_mode(&self, mode: VideoMode) -> Result<(), OptionsError> {
        self.options.validate(mode)
    }

    /// Changes the mode: the screen goes black, and the next refresh starts at `now`.
    pub fn set_mode(&mut self, mode: VideoMode, now: Instant) -> Result<(), OptionsError> {
        self.reconfigure(mode, self.options.variable_refresh, now)
    }

    /// Changes the mode together with the range of variable refresh (shortest and longest interval).
    pub fn reconfigure(
        &mut self,
        mode: VideoMode,
        variable_refresh: Option<(Span, Span)>,
        now: Instant,
    ) -> Result<(), OptionsError> {
        let options = OutputOptions { variable_refresh, ..self.options.clone() };
        options.validate(mode)?;
        self.options = options;
        self.advance(now);
        self.switch_mode(mode, now);
        Ok(())
    }

    /// Unplugs the output, for good.
    pub fn unplug(&mut self, now: Instant) {
        self.advance(now);
        self.disconnect(now);
    }

    fn switch_power(&mut self, on: bool, now: Instant) {
        match (self.power, on) {
            (DisplayPower::On, false) => {
                self.power = DisplayPower::Off;
                self.go_dark(LossReason::Gone, now);
            }
            (DisplayPower::Off, true) => self.power = DisplayPower::On,
            _ => {}
        }
    }

    fn switch_mode(&mut self, mode: VideoMode, now: Instant) {
        if self.power == DisplayPower::Gone {
            return;
        }
        self.go_dark(LossReason::ModeChange, now);
        let sequence = self.grid.last_at(now).map_or(0, |last| last.sequence + 1);
        let (shortest, longest) = self.options.intervals(mode);
        self.grid = RefreshGrid::new(RecordedRefresh { time: now, sequence }, shortest, longest);
        (self.mode, self.lead) = (mode, self.options.lead(mode));
        self.panel.set_beam(scan(mode, shortest));
        self.pool.reset(self.options.buffers, mode.width, mode.height);
        self.reports.note(DisplayEvent::Changed, now);
    }

    fn disconnect(&mut self, now: Instant) {
        if self.power != DisplayPower::Gone {
            self.power = DisplayPower::Gone;
            self.go_dark(LossReason::Gone, now);
            self.reports.note(DisplayEvent::Gone, now);
        }
    }

    fn go_dark(&mut self, reason: LossReason, now: Instant) {
        self.front = None;
        self.lose_settling(reason, now);
        self.lose_pending(reason, now);
        for queued in std::mem::take(&mut self.queued) {
            self.lose(queued, reason, now);
        }
        if let Some(old) = self.panel.darken(now) {
            self.pool.retire_scanned(old);
        }
    }

    fn lose_pending(&mut self, reason: LossReason, at: Instant) {
        if let Some(pending) = self.pending.take() {
            self.lose(pending, reason, at);
        }
    }

    fn lose(&mut self, pending: PendingVirtualFrame, reason: LossReason, at: Instant) {
        if let Some(buffer) = pending.buffer {
            self.pool.retire(buffer);
        }
        self.report_lost(pending.frame, reason, at);
    }

    /// Hands the next queued frame to the device at `at`, when the frame before it flipped. A queued frame whose
    /// refresh was taken by that flip is dropped if another waits behind it.
    fn promote(&mut self, at: Instant) {
        if self.pending.is_some() {
            return;
        }
        while self.queued.len() > 1
            && self.queued.front().is_some_and(|next| next.held_until < at)
            && let Some(late) = self.queued.pop_front()
        {
            self.lose(late, LossReason::Superseded, at);
        }
        if let Some(mut next) = self.queued.pop_front() {
            next.submitted = next.submitted.max(at);
            next.waited = true;
            self.pending = Some(next);
        }
    }

    fn lose_settling(&mut self, reason: LossReason, at: Instant) {
        for lit in std::mem::take(&mut self.settling) {
            self.report_lost(lit.frame, reason, at);
        }
    }

    fn report_lost(&mut self, frame: FrameId, reason: LossReason, at: Instant) {
        let refresh = self.grid.last_at(at).map_or(0, |last| last.sequence);
        self.reports.lost(frame, reason, (at, refresh), &mut self.faults);
    }
}
