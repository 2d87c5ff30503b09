//! The virtual display as a state machine: frames and time go in, events come out.
//!
//! It does no I/O and reads no clock. It is *honest*: a frame counts for a vblank only if it was complete, that is
//! submit had returned **and** its render fence had signalled, at or before `vblank − submit_lead`. That is decided
//! from the times of those two things, so it does not matter how late anybody calls [`VirtualDisplay::advance`].
//!
//! ```text
//!             submit returned      fence signalled
//!                   │                    │
//!  ├────────────────┴──┊─────────────────┴──┊──────────├─── vblanks
//!                      └ lead ┘             └── lead ──┘
//!                  complete = the later of the two; scan-out = the first vblank ≥ complete + lead
//! ```
//!
//! A rectangle of the front buffer does not wait for a vblank: it is written when submit returns, and lit in the refresh
//! that is going on if the beam is still above it, and in the next one otherwise: that is told when its first row is. Where
//! the beam was within it, it is torn. Memory that is shared is read as the beam passes (`front`).

mod shared;
mod step;
mod submit;

use std::collections::VecDeque;

use super::fault::FaultPlayer;
use super::front::Scanning;
use super::grid::{Grid, Refresh};
use super::limits::OptionsError;
use super::options::OutputOptions;
use super::panel::{FrontWrite, Panel};
use super::pool::BufferPool;
use super::report::{Lit, Reports};
use super::scan::scan;
use super::watch::{Watch, WatchId};
use crate::backend::{
    Buffer, Capabilities, ClockSource, CursorPlane, DisplayEvent, FrameId, LossReason, Mode, PixelBuffer, Shot,
};
use upbeat_timing::time::{Instant, Span};

/// Whether anything is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    On,
    Off,
    /// Unplugged: for good.
    Gone,
}

/// The one frame that waits for its vblank.
#[derive(Debug)]
struct Pending {
    frame: FrameId,
    /// The new buffer; `None` when only the cursor plane moves.
    buffer: Option<Buffer>,
    cursor: Option<CursorPlane>,
    /// When submit returned.
    submitted: Instant,
    /// When its fence signalled; `None`: not yet.
    rendered: Option<Instant>,
    /// Not shown before: a fault, or its refresh where frames may queue. Another that flips after this has taken it.
    held_until: Instant,
    /// It waited in the queue, which gives it to the device no sooner than it must.
    waited: bool,
}

/// One virtual output. All times are on the clock of whoever drives it.
pub struct VirtualDisplay {
    mode: Mode,
    options: OutputOptions,
    grid: Grid,
    power: Power,
    pool: BufferPool,
    panel: Panel,
    pending: Option<Pending>,
    /// Frames that wait behind it, each for its own refresh.
    queued: VecDeque<Pending>,
    /// A front rectangle that is written when submit returns.
    front_write: Option<FrontWrite>,
    /// Memory that is scanned out as it stands.
    front: Option<Scanning>,
    /// Rectangles of which the beam had passed some rows, or all: lit by the next refresh.
    settling: Vec<Lit>,
    faults: FaultPlayer,
    reports: Reports,
    /// The latest time that it was told.
    now: Instant,
}

impl VirtualDisplay {
    /// A panel that is switched on and black.
    pub fn new(mode: Mode, options: OutputOptions, now: Instant) -> Result<Self, OptionsError> {
        options.validate(mode)?;
        let (shortest, longest) = options.intervals(mode);
        let first = Refresh { time: options.epoch.unwrap_or(now), sequence: 0 };
        Ok(VirtualDisplay {
            mode,
            grid: Grid::new(first, shortest, longest),
            power: Power::On,
            pool: BufferPool::new(options.buffers, mode.width, mode.height),
            panel: Panel::new(scan(mode, shortest)),
            pending: None,
            queued: VecDeque::new(),
            front_write: None,
            front: None,
            settling: Vec::new(),
            faults: FaultPlayer::new(&options.faults, first.time),
            reports: Reports::default(),
            options,
            now,
        })
    }

    /// Entries of each channel of the gamma table, if it has one.
    pub fn gamma_size(&self) -> Option<u32> {
        self.options.gamma
    }

    /// The mode in force.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What it can do in this mode.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities {
            clock: ClockSource::Virtual,
            submit_lead: self.options.lead(self.mode),
            driver_margin: Span::ZERO,
            pending_flips: 1 + u32::try_from(self.options.queue).unwrap_or(0),
            unreported: 1,
            variable_refresh: self.options.variable_refresh,
            scan: Some(self.panel.beam()),
            front_buffer: self.options.front_buffer,
            cursor_plane: self.options.cursor_plane,
            overlay_planes: 0,
            direct_scanout: false,
            plane_scroll: false,
            can_withdraw: self.options.can_withdraw,
        }
    }

    /// Whether the plug was pulled.
    pub fn is_gone(&self) -> bool {
        self.power == Power::Gone
    }

    /// The last refresh at or before `now`.
    pub fn last_refresh(&self, now: Instant) -> Option<Refresh> {
        self.grid.last_at(now)
    }

    /// How many rows the panel has read at `now` in the refresh that is going on; `None` before the first refresh. For
    /// tests.
    pub fn rows_read(&self, now: Instant) -> Option<i32> {
        self.grid.last_at(now).map(|refresh| self.panel.beam().lines_read(refresh.time, now))
    }

    /// A copy of what is on screen, as a camera sees it, or as it would without the cursor; `None`: the panel is dark.
    pub fn screenshot(&self, with_cursor: bool) -> Option<PixelBuffer> {
        self.panel.image().map(|image| {
            let image = if with_cursor { image } else { image.without_cursor() };
            let mut copy = PixelBuffer::default();
            image.copy_into(&mut copy);
            copy
        })
    }

    /// The same for others to read.
    pub fn shot(&mut self, with_cursor: bool) -> Option<Shot> {
        self.panel.shot(with_cursor)
    }

    /// Starts to look at the panel.
    pub fn add_watch(&mut self, watch: Box<dyn Watch>) -> WatchId {
        self.panel.add_watch(watch)
    }

    /// Ends a watch: what is on screen counts as over. Returns whether there was one.
    pub fn remove_watch(&mut self, id: WatchId, now: Instant) -> bool {
        self.advance(now);
        self.panel.remove_watch(id, now)
    }

    /// A buffer to compose into; `None` while all are in use or the output is off.
    pub fn acquire(&mut self) -> Option<Buffer> {
        if self.power == Power::On { self.pool.acquire() } else { None }
    }

    /// Takes a buffer back unused.
    pub fn release(&mut self, buffer: Buffer) {
        self.pool.release(buffer);
    }

    /// Whether there is an event to be polled.
    pub fn has_news(&self) -> bool {
        self.reports.is_due(self.now)
    }

    /// The next event that may be told by the time it was last told, in order.
    pub fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.reports.poll(self.now)
    }

    /// Switches the panel on or off. Off it is black and holds no frame; its refreshes go on being counted.
    pub fn set_power(&mut self, on: bool, now: Instant) {
        self.advance(now);
        self.switch_power(on, now);
    }

    /// Whether it can have this mode.
    pub fn takes_mode(&self, mode: Mode) -> Result<(), OptionsError> {
        self.options.validate(mode)
    }

    /// Changes the mode: the scan restarts at `now` with the next refresh number, and the screen is black.
    pub fn set_mode(&mut self, mode: Mode, now: Instant) -> Result<(), OptionsError> {
        self.reconfigure(mode, self.options.variable_refresh, now)
    }

    /// Changes the mode, and the range of variable refresh (shortest and longest interval) with it.
    pub fn reconfigure(
        &mut self,
        mode: Mode,
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

    /// Pulls the plug, for good.
    pub fn unplug(&mut self, now: Instant) {
        self.advance(now);
        self.pull_plug(now);
    }

    fn switch_power(&mut self, on: bool, now: Instant) {
        match (self.power, on) {
            (Power::On, false) => {
                self.power = Power::Off;
                self.go_dark(LossReason::Gone, now);
            }
            (Power::Off, true) => self.power = Power::On,
            _ => {}
        }
    }

    fn switch_mode(&mut self, mode: Mode, now: Instant) {
        if self.power == Power::Gone {
            return;
        }
        self.go_dark(LossReason::ModeChange, now);
        let sequence = self.grid.last_at(now).map_or(0, |last| last.sequence + 1);
        let (shortest, longest) = self.options.intervals(mode);
        self.grid = Grid::new(Refresh { time: now, sequence }, shortest, longest);
        self.mode = mode;
        self.panel.set_beam(scan(mode, shortest));
        self.pool.reset(self.options.buffers, mode.width, mode.height);
        self.reports.note(DisplayEvent::Changed, now);
    }

    fn pull_plug(&mut self, now: Instant) {
        if self.power != Power::Gone {
            self.power = Power::Gone;
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
            self.pool.unscanned(old);
        }
    }

    fn lose_pending(&mut self, reason: LossReason, at: Instant) {
        if let Some(pending) = self.pending.take() {
            self.lose(pending, reason, at);
        }
    }

    fn lose(&mut self, pending: Pending, reason: LossReason, at: Instant) {
        if let Some(buffer) = pending.buffer {
            self.pool.retire(buffer);
        }
        self.report_lost(pending.frame, reason, at);
    }

    /// The next of the frames that wait takes its turn: the device is given it at `at`, when the one before it flipped. If
    /// that one took its refresh, it gives way to the one behind it.
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
