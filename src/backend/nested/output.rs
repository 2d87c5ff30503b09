//! One window of the parent as a display.

use std::cell::RefCell;
use std::rc::Rc;

use super::event::WindowId;
use super::frame_states::DEPTH;
use super::window::ParentToplevel;
use crate::backend::{
    Buffer, Capabilities, ClockSource, Display, DisplayEvent, FrameId, FramePlan, PixelBuffer, PixelRect,
    ScreenSnapshot, SubmitError, VideoMode,
};
use upbeat_timing::time::{Clock, Instant, MonotonicClock};

/// An output that is a window in the parent.
pub struct NestedOutput {
    name: String,
    window: Rc<RefCell<ParentToplevel>>,
}

impl NestedOutput {
    pub(super) fn new(name: String, window: Rc<RefCell<ParentToplevel>>) -> Self {
        NestedOutput { name, window }
    }

    /// The id of its window, as in [`ParentEvent`](super::ParentEvent).
    pub fn window(&self) -> WindowId {
        self.window.borrow().id()
    }

    /// Physical pixels per logical pixel, as the parent shows the window.
    pub fn scale(&self) -> f64 {
        self.window.borrow().scale()
    }
}

impl Display for NestedOutput {
    fn name(&self) -> &str {
        &self.name
    }

    fn mode(&self) -> VideoMode {
        self.window.borrow().mode()
    }

    fn capabilities(&self) -> Capabilities {
        let window = self.window.borrow();
        let clock = if window.has_feedback() { ClockSource::Parent } else { ClockSource::Software };
        // Two frames may be unreported: the frame that the parent has latched, and the next. There is no cursor
        // plane, since the parent would move a cursor no sooner than a frame, and screenshots would lack it.
        Capabilities { unreported: DEPTH as u32, ..Capabilities::of_window(clock, window.submit_lead()) }
    }

    fn last_vblank(&mut self, _now: Instant) -> Option<(Instant, u64)> {
        None
    }

    fn acquire(&mut self) -> Option<Buffer> {
        self.window.borrow_mut().acquire()
    }

    fn release(&mut self, buffer: Buffer) {
        self.window.borrow_mut().release(buffer);
    }

    fn submit(&mut self, plan: FramePlan) -> Result<(), (SubmitError, FramePlan)> {
        let mut window = self.window.borrow_mut();
        if let Err(error) = window.test(&plan) {
            return Err((error, plan));
        }
        window.submit(plan, MonotonicClock.now());
        Ok(())
    }

    fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        self.window.borrow_mut().supersede(from)
    }

    fn set_power(&mut self, on: bool) {
        self.window.borrow_mut().set_power(on);
    }

    fn screenshot(&self, with_cursor: bool) -> Option<PixelBuffer> {
        let VideoMode { width, height, .. } = self.mode();
        let (snapshot, mut pixels) = (self.snapshot(with_cursor)?, Vec::new());
        let is_read = snapshot.read(PixelRect { x: 0, y: 0, width, height }, &mut pixels);
        is_read.then_some(PixelBuffer { width, height, pixels })
    }

    fn snapshot(&self, _with_cursor: bool) -> Option<ScreenSnapshot> {
        self.window.borrow().snapshot()
    }

    fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.window.borrow_mut().poll_event()
    }
}
