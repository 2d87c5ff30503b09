//! One X11 window: its size, its canvas, and the frame that waits for its tick.

use std::collections::VecDeque;

use x11rb::protocol::shm::Seg;

use super::grid::SoftwareVsyncGrid;
use super::transport::{Transport, X11WindowIds};
use crate::backend::nested::WindowId;
use crate::backend::{
    Buffer, BufferStorage, DisplayEvent, FrameId, FramePlan, LossReason, PixelBuffer, PixelRect, PlanChange,
    SubmitError, VideoMode,
};
use upbeat_timing::time::Instant;

/// A window on the server.
pub(super) struct X11Window {
    pub id: WindowId,
    pub names: X11WindowIds,
    transport: Transport,
    size: (i32, i32),
    /// Refresh rate in mHz.
    refresh: u32,
    grid: SoftwareVsyncGrid,
    /// The newest composed frame, kept while the compositor draws the next.
    canvas: PixelBuffer,
    /// Memory for the next frame; `None` while it is lent to the compositor.
    spare: Option<PixelBuffer>,
    /// Index of the spare, 0 or 1; the canvas has the other.
    spare_slot: usize,
    /// The spare holds the frame before the canvas's.
    is_known: bool,
    /// A frame was composed in this size.
    is_drawn: bool,
    on: bool,
    /// The frame that was sent, with the time and number of the tick at which it is light.
    waits: Option<(FrameId, Instant, u64)>,
    events: VecDeque<DisplayEvent>,
}

impl X11Window {
    pub(super) fn new(id: WindowId, names: X11WindowIds, transport: Transport, mode: VideoMode, now: Instant) -> Self {
        let size = (mode.width, mode.height);
        X11Window {
            id,
            names,
            transport,
            size,
            refresh: mode.refresh,
            grid: SoftwareVsyncGrid::new(now, mode.interval()),
            canvas: PixelBuffer::new(size.0, size.1),
            spare: Some(PixelBuffer::new(size.0, size.1)),
            spare_slot: 0,
            is_known: false,
            is_drawn: false,
            on: true,
            waits: None,
            events: VecDeque::new(),
        }
    }

    pub(super) const fn mode(&self) -> VideoMode {
        VideoMode { width: self.size.0, height: self.size.1, refresh: self.refresh }
    }

    pub(super) fn last_tick(&self, now: Instant) -> (Instant, u64) {
        self.grid.last(now)
    }

    /// When the waiting frame is light.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waits.map(|(_, light, _)| light)
    }

    /// Reports the waiting frame if its tick has come.
    pub(super) fn tick(&mut self, now: Instant) {
        if let Some((frame, time, sequence)) = self.waits.filter(|(_, light, _)| *light <= now) {
            self.waits = None;
            self.events.push_back(DisplayEvent::Presented { frame, time, sequence: Some(sequence) });
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.events.pop_front()
    }

    pub(super) fn acquire(&mut self) -> Option<Buffer> {
        let pixels = self.spare.take()?;
        let age = if self.is_known { 2 } else { 0 };
        Some(Buffer { storage: BufferStorage::Memory(pixels), age, slot: self.spare_slot })
    }

    pub(super) fn release(&mut self, buffer: Buffer) {
        self.is_known = false;
        self.keep(buffer);
    }

    /// Takes the spare back. A buffer of an older size is dropped, since there is a new spare. Returns whether it
    /// was kept.
    fn keep(&mut self, buffer: Buffer) -> bool {
        let BufferStorage::Memory(pixels) = buffer.storage else { return false };
        let fits = (pixels.width, pixels.height) == self.size && self.spare.is_none();
        if fits {
            self.spare = Some(pixels);
        }
        fits
    }

    pub(super) fn test(&self, plan: &FramePlan) -> Result<(), SubmitError> {
        if !self.on {
            return Err(SubmitError::Off);
        }
        if self.waits.is_some() {
            return Err(SubmitError::Busy);
        }
        match &plan.change {
            PlanChange::Compose { buffer, .. } => match &buffer.storage {
                BufferStorage::Memory(pixels) if (pixels.width, pixels.height) == self.size => Ok(()),
                _ => Err(SubmitError::Device("the window has another size now".to_owned())),
            },
            PlanChange::Planes => Ok(()),
            PlanChange::FrontRectangle { .. } => Err(SubmitError::Unsupported("front-buffer drawing")),
        }
    }

    /// Sends a frame that was [tested](Self::test).
    pub(super) fn submit(&mut self, plan: FramePlan, now: Instant) {
        if let PlanChange::Compose { buffer, damage } = plan.change {
            let everything = !self.is_known;
            if self.keep(buffer) {
                self.spare = self.spare.take().map(|new| std::mem::replace(&mut self.canvas, new));
                self.spare_slot = 1 - self.spare_slot;
                (self.is_known, self.is_drawn) = (self.is_drawn, true);
                if everything { self.send_all() } else { self.send(&damage) }
            }
        }
        let (light, sequence) = self.grid.next(now);
        self.waits = Some((plan.frame, light, sequence));
    }

    /// The server has lost the window's content (`Expose`): sends it again.
    pub(super) fn exposed(&mut self) {
        if self.is_drawn {
            self.send_all();
        }
    }

    /// The server has read the memory of `segment`.
    pub(super) fn completed(&mut self, segment: Seg) {
        self.transport.completed(segment);
    }

    fn send_all(&mut self) {
        self.send(&[PixelRect { x: 0, y: 0, width: self.size.0, height: self.size.1 }]);
    }

    fn send(&mut self, damage: &[PixelRect]) {
        self.transport.send(&self.canvas, damage);
    }

    pub(super) fn supersede(&self, from: FrameId) -> Option<FrameId> {
        // A frame that was sent cannot be withdrawn.
        let _ = from;
        self.waits.map(|(frame, _, _)| frame)
    }

    pub(super) fn set_power(&mut self, on: bool) {
        self.on = on;
        if !on {
            self.lose(LossReason::Gone);
        }
    }

    fn lose(&mut self, reason: LossReason) {
        if let Some((frame, _, _)) = self.waits.take() {
            self.events.push_back(DisplayEvent::Lost { frame, reason });
        }
    }

    /// The server has resized the window. Sides are at most 65 535, as in the X protocol.
    pub(super) fn resized(&mut self, width: u16, height: u16) {
        let size = (i32::from(width.max(1)), i32::from(height.max(1)));
        if size == self.size {
            return;
        }
        self.size = size;
        self.canvas = PixelBuffer::new(size.0, size.1);
        self.spare = Some(PixelBuffer::new(size.0, size.1));
        (self.is_known, self.is_drawn) = (false, false);
        self.lose(LossReason::ModeChange);
        self.events.push_back(DisplayEvent::Changed);
    }

    pub(super) fn picture(&self) -> Option<PixelBuffer> {
        (self.on && self.is_drawn).then(|| self.canvas.clone())
    }
}
