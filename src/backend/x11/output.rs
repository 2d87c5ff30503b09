//! One window on the X server as a display.

use std::cell::RefCell;
use std::rc::Rc;

use super::tick_timer::TickTimer;
use super::window::X11Window;
use crate::backend::nested::WindowId;
use crate::backend::{
    Buffer, Capabilities, ClockSource, Display, DisplayEvent, FrameId, FramePlan, PixelBuffer, SubmitError, VideoMode,
};
use upbeat_timing::time::{Clock, Instant, MonotonicClock, Span};

/// The time to send a frame and draw it, on a server of this machine.
const SUBMIT_LEAD: Span = Span::from_millis(2);

/// An output that is a window on an X server.
pub struct X11Output {
    name: String,
    window: Rc<RefCell<X11Window>>,
    tick_timer: Rc<TickTimer>,
}

impl X11Output {
    pub(super) fn new(name: String, window: Rc<RefCell<X11Window>>, tick_timer: Rc<TickTimer>) -> Self {
        X11Output { name, window, tick_timer }
    }

    /// The id of its window, as in events.
    pub fn window(&self) -> WindowId {
        self.window.borrow().id
    }
}

impl Display for X11Output {
    fn name(&self) -> &str {
        &self.name
    }

    fn mode(&self) -> VideoMode {
        self.window.borrow().mode()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of_window(ClockSource::Software, SUBMIT_LEAD)
    }

    fn last_vblank(&mut self, now: Instant) -> Option<(Instant, u64)> {
        Some(self.window.borrow().last_tick(now))
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
        if let Some(light) = window.due() {
            self.tick_timer.arm_by(light);
        }
        Ok(())
    }

    fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        self.window.borrow_mut().supersede(from)
    }

    fn set_power(&mut self, on: bool) {
        self.window.borrow_mut().set_power(on);
    }

    fn screenshot(&self, _with_cursor: bool) -> Option<PixelBuffer> {
        self.window.borrow().picture()
    }

    fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.window.borrow_mut().poll_event()
    }
}
