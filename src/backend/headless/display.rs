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

use std::collections::VecDeque;

use super::grid::{Grid, Refresh};
use super::options::{OptionsError, OutputOptions};
use super::pool::BufferPool;
use crate::backend::{
    Buffer, Capabilities, Change, ClockSource, CursorPlane, DisplayEvent, FrameId, LossReason, Mode, Plan, SubmitError,
};
use crate::time::Instant;

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
}

/// What the panel reads.
#[derive(Debug, Default)]
struct Scanout {
    buffer: Option<Buffer>,
    cursor: Option<CursorPlane>,
}

/// One virtual output. All times are on the clock of whoever drives it.
pub struct VirtualDisplay {
    mode: Mode,
    options: OutputOptions,
    grid: Grid,
    power: Power,
    pool: BufferPool,
    scanout: Scanout,
    pending: Option<Pending>,
    events: VecDeque<DisplayEvent>,
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
            scanout: Scanout::default(),
            pending: None,
            events: VecDeque::new(),
            options,
        })
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
            pending_flips: 1,
            variable_refresh: self.options.variable_refresh,
            asynchronous: false,
            front_buffer: self.options.front_buffer,
            cursor_plane: self.options.cursor_plane,
            plane_scroll: false,
            can_withdraw: self.options.can_withdraw,
        }
    }

    /// The last refresh at or before `now`.
    pub fn last_refresh(&self, now: Instant) -> Option<Refresh> {
        self.grid.last_at(now)
    }

    /// When something will happen by itself; `None` while nothing waits, so that an idle display wakes nobody.
    ///
    /// A frame whose fence is pending waits for the fence and has no time yet.
    pub fn next_event(&self) -> Option<Instant> {
        self.next_flip().map(|refresh| refresh.time)
    }

    /// The refresh at which the waiting frame will be shown, if that is decided.
    fn next_flip(&self) -> Option<Refresh> {
        let pending = self.pending.as_ref()?;
        let complete = pending.submitted.max(pending.rendered?);
        Some(self.grid.first_from(complete + self.options.lead(self.mode)))
    }

    /// Lets everything happen that was due at or before `now`.
    pub fn advance(&mut self, now: Instant) {
        while let Some(refresh) = self.next_flip().filter(|refresh| refresh.time <= now) {
            self.flip(refresh);
        }
    }

    fn flip(&mut self, refresh: Refresh) {
        let Some(pending) = self.pending.take() else { return };
        self.grid.rebase(refresh);
        if let Some(buffer) = pending.buffer
            && let Some(old) = self.scanout.buffer.replace(buffer)
        {
            self.pool.retire(old);
        }
        self.scanout.cursor = pending.cursor;
        self.events.push_back(DisplayEvent::Presented {
            frame: pending.frame,
            time: refresh.time,
            sequence: Some(refresh.sequence),
        });
    }

    /// A buffer to compose into; `None` while all are in use or the output is off.
    pub fn acquire(&mut self) -> Option<Buffer> {
        if self.power == Power::On { self.pool.acquire() } else { None }
    }

    /// Takes a buffer back unused.
    pub fn release(&mut self, buffer: Buffer) {
        self.pool.release(buffer);
    }

    /// Whether `plan` would be taken.
    pub fn test(&self, plan: &Plan) -> Result<(), SubmitError> {
        if self.power != Power::On {
            return Err(SubmitError::Off);
        }
        match &plan.change {
            Change::Compose { buffer, .. } if !self.pool.recognises(buffer) => {
                return Err(SubmitError::Unsupported("the buffer is not one of this output in this mode"));
            }
            Change::FrontRectangle { .. } => {
                return Err(SubmitError::Unsupported("this output has no front buffer to draw into"));
            }
            Change::Compose { .. } | Change::Planes => {}
        }
        if let (Some(cursor), Some((width, height))) = (&plan.cursor, self.options.cursor_plane)
            && (cursor.image.width > width as i32 || cursor.image.height > height as i32)
        {
            return Err(SubmitError::Unsupported("the cursor image is larger than the cursor plane"));
        }
        if self.pending.is_some() { Err(SubmitError::Busy) } else { Ok(()) }
    }

    /// Takes a frame. `rendered` is when its fence signalled (`None`: still pending). What was due before `now` must
    /// have happened already ([`advance`](Self::advance)). The frame counts as submitted when
    /// [`submit_returned`](Self::submit_returned) says so.
    #[expect(clippy::result_large_err, reason = "the plan owns a buffer that must come back, without an allocation")]
    pub fn submit(&mut self, plan: Plan, rendered: Option<Instant>, now: Instant) -> Result<(), (SubmitError, Plan)> {
        if let Err(error) = self.test(&plan) {
            return Err((error, plan));
        }
        let buffer = match plan.change {
            Change::Compose { buffer, .. } => {
                self.pool.composed(buffer.slot);
                Some(buffer)
            }
            Change::Planes | Change::FrontRectangle { .. } => None,
        };
        let cursor = plan.cursor.filter(|_| self.options.cursor_plane.is_some());
        self.pending = Some(Pending { frame: plan.frame, buffer, cursor, submitted: now, rendered });
        Ok(())
    }

    /// Submit is about to return at `now`: from here on the display could have seen the frame, not earlier.
    pub fn submit_returned(&mut self, now: Instant) {
        if let Some(pending) = &mut self.pending {
            pending.submitted = pending.submitted.max(now);
        }
    }

    /// The fence of the waiting frame signalled at `at`.
    pub fn fence_signalled(&mut self, at: Instant) {
        if let Some(pending) = &mut self.pending {
            pending.rendered.get_or_insert(at);
        }
    }

    /// Whether a frame waits whose fence has not signalled.
    pub fn waits_for_fence(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.rendered.is_none())
    }

    /// Withdraws the waiting frame if its number is `from` or later, it is not past its deadline and the display can;
    /// returns the frame that stays, if any.
    pub fn supersede(&mut self, from: FrameId, now: Instant) -> Option<FrameId> {
        self.advance(now);
        let waiting = self.pending.as_ref()?.frame;
        let lead = self.options.lead(self.mode);
        let on_its_way = self.next_flip().is_some_and(|refresh| refresh.time - lead < now);
        if waiting < from || on_its_way || !self.options.can_withdraw {
            return Some(waiting);
        }
        self.lose_pending(LossReason::Superseded);
        None
    }

    fn lose_pending(&mut self, reason: LossReason) {
        let Some(pending) = self.pending.take() else { return };
        if let Some(buffer) = pending.buffer {
            self.pool.retire(buffer);
        }
        self.events.push_back(DisplayEvent::Lost { frame: pending.frame, reason });
    }

    /// Switches the panel on or off. Off it is black and holds no frame; its refreshes go on being counted.
    pub fn set_power(&mut self, on: bool, now: Instant) {
        self.advance(now);
        match (self.power, on) {
            (Power::On, false) => {
                self.power = Power::Off;
                self.go_dark(LossReason::Gone);
            }
            (Power::Off, true) => self.power = Power::On,
            _ => {}
        }
    }

    /// Changes the mode: the scan restarts at `now` with the next refresh number, and the screen is black.
    pub fn set_mode(&mut self, mode: Mode, now: Instant) -> Result<(), OptionsError> {
        self.options.validate(mode)?;
        self.advance(now);
        if self.power == Power::Gone {
            return Ok(());
        }
        self.go_dark(LossReason::ModeChange);
        let sequence = self.grid.last_at(now).map_or(0, |last| last.sequence + 1);
        let (shortest, longest) = self.options.intervals(mode);
        self.grid = Grid::new(Refresh { time: now, sequence }, shortest, longest);
        self.mode = mode;
        self.pool.reset(self.options.buffers, mode.width, mode.height);
        self.events.push_back(DisplayEvent::Changed);
        Ok(())
    }

    /// Pulls the plug, for good.
    pub fn unplug(&mut self, now: Instant) {
        self.advance(now);
        if self.power != Power::Gone {
            self.power = Power::Gone;
            self.go_dark(LossReason::Gone);
            self.events.push_back(DisplayEvent::Gone);
        }
    }

    fn go_dark(&mut self, reason: LossReason) {
        self.lose_pending(reason);
        if let Some(buffer) = std::mem::take(&mut self.scanout).buffer {
            self.pool.retire(buffer);
        }
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.events.pop_front()
    }
}
