//! One window: its size, its canvas, and the frame that waits for its tick.

use std::collections::VecDeque;
use std::rc::Rc;

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::xproto::{ConnectionExt as _, Gcontext, ImageFormat, Window as XWindow};
use x11rb::rust_connection::RustConnection;

use super::grid::Grid;
use crate::backend::nested::WindowId;
use crate::backend::overlay::intersection;
use crate::backend::{
    Buffer, BufferStorage, Change, DisplayEvent, FrameId, LossReason, Mode, PixelBuffer, PixelRect, Plan, SubmitError,
};
use crate::time::Instant;

/// What a request needs besides its pixels.
const HEADER_BYTES: usize = 64;

/// The window's names on the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub window: XWindow,
    pub context: Gcontext,
    pub depth: u8,
}

/// A window on the server.
pub(super) struct Window {
    pub id: WindowId,
    pub names: Names,
    connection: Rc<RustConnection>,
    size: (i32, i32),
    /// In mHz.
    refresh: u32,
    grid: Grid,
    /// `None` while the compositor has it.
    canvas: Option<PixelBuffer>,
    /// The canvas holds the frame composed last.
    is_known: bool,
    /// A frame was composed in this size.
    is_drawn: bool,
    on: bool,
    /// The frame that was sent, and the tick at which it is light.
    waits: Option<(FrameId, Instant, u64)>,
    events: VecDeque<DisplayEvent>,
    /// What is sent next; kept for its memory.
    bytes: Vec<u8>,
}

impl Window {
    pub(super) fn new(id: WindowId, names: Names, connection: Rc<RustConnection>, mode: Mode, now: Instant) -> Self {
        let size = (mode.width, mode.height);
        Window {
            id,
            names,
            connection,
            size,
            refresh: mode.refresh,
            grid: Grid::new(now, mode.interval()),
            canvas: Some(PixelBuffer::new(size.0, size.1)),
            is_known: false,
            is_drawn: false,
            on: true,
            waits: None,
            events: VecDeque::new(),
            bytes: Vec::new(),
        }
    }

    pub(super) const fn mode(&self) -> Mode {
        Mode { width: self.size.0, height: self.size.1, refresh: self.refresh }
    }

    pub(super) fn last_tick(&self, now: Instant) -> (Instant, u64) {
        self.grid.last(now)
    }

    /// When the frame that waits is light.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waits.map(|(_, light, _)| light)
    }

    /// Reports the frame that waits if its tick has come.
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
        let pixels = self.canvas.take()?;
        Some(Buffer { storage: BufferStorage::Memory(pixels), age: u32::from(self.is_known), slot: 0 })
    }

    pub(super) fn release(&mut self, buffer: Buffer) {
        self.is_known = false;
        self.keep(buffer);
    }

    /// Takes the canvas back. One of an older size is dropped: there is a new one.
    fn keep(&mut self, buffer: Buffer) -> bool {
        let BufferStorage::Memory(pixels) = buffer.storage else { return false };
        let fits = (pixels.width, pixels.height) == self.size && self.canvas.is_none();
        if fits {
            self.canvas = Some(pixels);
        }
        fits
    }

    pub(super) fn test(&self, plan: &Plan) -> Result<(), SubmitError> {
        if !self.on {
            return Err(SubmitError::Off);
        }
        if self.waits.is_some() {
            return Err(SubmitError::Busy);
        }
        match &plan.change {
            Change::Compose { buffer, .. } => match &buffer.storage {
                BufferStorage::Memory(pixels) if (pixels.width, pixels.height) == self.size => Ok(()),
                _ => Err(SubmitError::Device("the window has another size now".to_owned())),
            },
            Change::Planes => Ok(()),
            Change::FrontRectangle { .. } => Err(SubmitError::Unsupported("front-buffer drawing")),
        }
    }

    /// Sends a frame that was [tested](Self::test).
    pub(super) fn submit(&mut self, plan: Plan, now: Instant) {
        if let Change::Compose { buffer, damage } = plan.change {
            let everything = !self.is_known;
            if self.keep(buffer) {
                (self.is_known, self.is_drawn) = (true, true);
                if everything { self.send_all() } else { damage.iter().for_each(|rect| self.send(*rect)) }
            }
        }
        let (light, sequence) = self.grid.next(now);
        self.waits = Some((plan.frame, light, sequence));
    }

    /// The server has lost the window's picture.
    pub(super) fn exposed(&mut self) {
        if self.is_drawn {
            self.send_all();
        }
    }

    fn send_all(&mut self) {
        self.send(PixelRect { x: 0, y: 0, width: self.size.0, height: self.size.1 });
    }

    /// Sends a part of the canvas, in as many requests as it needs. That the server is gone is noticed by who reads.
    fn send(&mut self, rect: PixelRect) {
        let Some(canvas) = &self.canvas else { return };
        let whole = PixelRect { x: 0, y: 0, width: canvas.width, height: canvas.height };
        let rect = intersection(rect, whole);
        if rect.width == 0 || rect.height == 0 {
            return;
        }
        let (width, stride) = (rect.width as usize, canvas.width as usize);
        let room = self.connection.maximum_request_bytes().saturating_sub(HEADER_BYTES);
        let rows = (room / (width * 4)).max(1) as i32;
        let mut top = rect.y;
        while top < rect.y + rect.height {
            let bottom = (top + rows).min(rect.y + rect.height);
            self.bytes.clear();
            for row in top as usize..bottom as usize {
                let start = row * stride + rect.x as usize;
                self.bytes.extend(canvas.pixels[start..start + width].iter().flat_map(|pixel| pixel.to_ne_bytes()));
            }
            let (x, y, height) = (rect.x as i16, top as i16, (bottom - top) as u16);
            let Names { window, context, depth } = self.names;
            let sent = self.connection.put_image(
                ImageFormat::Z_PIXMAP,
                window,
                context,
                width as u16,
                height,
                x,
                y,
                0,
                depth,
                &self.bytes,
            );
            if let Err(error) = sent {
                tracing::debug!(%error, "a picture was not sent");
                return;
            }
            top = bottom;
        }
        let _ = self.connection.flush();
    }

    pub(super) fn supersede(&self, from: FrameId) -> Option<FrameId> {
        // What was sent cannot be had back.
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

    /// The window has this size now. Sides are at most 65 535, as X has them.
    pub(super) fn resized(&mut self, width: u16, height: u16) {
        let size = (i32::from(width.max(1)), i32::from(height.max(1)));
        if size == self.size {
            return;
        }
        self.size = size;
        self.canvas = Some(PixelBuffer::new(size.0, size.1));
        (self.is_known, self.is_drawn) = (false, false);
        self.lose(LossReason::ModeChange);
        self.events.push_back(DisplayEvent::Changed);
    }

    pub(super) fn picture(&self) -> Option<PixelBuffer> {
        self.canvas.clone().filter(|_| self.on && self.is_drawn)
    }
}
