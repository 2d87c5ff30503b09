//! One virtual output as the compositor holds it: the state machine with its clock, its timer and the fence that it
//! waits for.

use std::cell::RefCell;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::event::epoll;

use super::display::VirtualDisplay;
use super::limits::OptionsError;
use super::panel_watch::{PanelWatch, WatchId};
use crate::backend::fence::{Fence, FenceState};
use crate::backend::front::{ReadAhead, SharedFront};
use crate::backend::plane::PlaneContents;
use crate::backend::timer::Timer;
use crate::backend::{
    Buffer, Capabilities, CursorPlane, Display, DisplayEvent, EdidIdentity, FrameId, FramePlan, GammaRamp, ModeId,
    PixelBuffer, RateLimit, ScreenSnapshot, SubmitError, VideoMode,
};
use upbeat_timing::time::{Clock, Instant, Span};

/// A handle to one output of a [`HeadlessBackend`](super::HeadlessBackend). Clones refer to the same output.
#[derive(Clone)]
pub struct HeadlessOutput {
    shared: Rc<SharedOutput>,
}

struct SharedOutput {
    name: String,
    clock: Rc<dyn Clock>,
    /// The epoll set that watches the timer and the fences.
    epoll: Rc<OwnedFd>,
    state: RefCell<HeadlessOutputState>,
}

struct HeadlessOutputState {
    display: VirtualDisplay,
    timer: Timer,
    fence: Option<Fence>,
    gamma: Option<GammaRamp>,
}

impl HeadlessOutput {
    pub(super) fn new(
        name: String,
        display: VirtualDisplay,
        clock: Rc<dyn Clock>,
        epoll: Rc<OwnedFd>,
    ) -> rustix::io::Result<Self> {
        let timer = Timer::new()?;
        epoll::add(&*epoll, &timer, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let state = RefCell::new(HeadlessOutputState { display, timer, fence: None, gamma: None });
        let output = HeadlessOutput { shared: Rc::new(SharedOutput { name, clock, epoll, state }) };
        // A fault script may contain an event for an idle output, so arm the timer.
        output.dispatch();
        Ok(output)
    }

    /// Advances the output to now. Event loops call the backend's `dispatch` instead.
    pub fn dispatch(&self) {
        let mut state = self.shared.state.borrow_mut();
        let now = self.shared.clock.now();
        state.advance(now);
        // The caller polls the events afterwards, so they need no wake-up.
        let wake = state.display.next_event();
        self.settle(&mut state, wake, now);
    }

    /// When the next dispatch is due, if no frame is submitted before.
    pub fn next_event(&self) -> Option<Instant> {
        self.shared.state.borrow().display.next_event()
    }

    /// Whether it was unplugged.
    pub fn is_gone(&self) -> bool {
        self.shared.state.borrow().display.is_gone()
    }

    /// Changes the mode; see [`VirtualDisplay::set_mode`].
    pub fn set_mode(&self, mode: VideoMode) -> Result<(), OptionsError> {
        self.with(|state, now| state.display.set_mode(mode, now))
    }

    /// Changes the mode and the range of variable refresh; see [`VirtualDisplay::reconfigure`].
    pub fn reconfigure(&self, mode: VideoMode, variable_refresh: Option<(Span, Span)>) -> Result<(), OptionsError> {
        self.with(|state, now| state.display.reconfigure(mode, variable_refresh, now))
    }

    /// The gamma ramp in force.
    pub fn gamma(&self) -> Option<GammaRamp> {
        self.shared.state.borrow().gamma.clone()
    }

    /// Adds a watch of the panel. The output calls the watch, which must not call the output.
    pub fn add_watch(&self, watch: Box<dyn PanelWatch>) -> WatchId {
        self.with(|state, _| state.display.add_watch(watch))
    }

    /// Ends a watch. Returns false if there is no such watch.
    pub fn remove_watch(&self, id: WatchId) -> bool {
        self.with(|state, now| state.display.remove_watch(id, now))
    }

    pub(super) fn unplug(&self) {
        self.with(|state, now| state.display.unplug(now));
    }

    /// Advances the state machine to now, does `work`, and arms the timer for the next event: at once if an event
    /// is to be polled.
    fn with<T>(&self, work: impl FnOnce(&mut HeadlessOutputState, Instant) -> T) -> T {
        let mut state = self.shared.state.borrow_mut();
        let now = self.shared.clock.now();
        state.advance(now);
        let result = work(&mut state, now);
        let wake = state.wake(now);
        self.settle(&mut state, wake, now);
        result
    }

    fn settle(&self, state: &mut HeadlessOutputState, wake: Option<Instant>, now: Instant) {
        if !state.display.waits_for_fence()
            && let Some(fence) = state.fence.take()
            && let Err(error) = epoll::delete(&*self.shared.epoll, fence.as_fd())
        {
            tracing::warn!(output = self.shared.name, %error, "a fence could not be taken off the event loop");
        }
        if let Err(error) = state.timer.arm(wake, now) {
            tracing::error!(output = self.shared.name, %error, "the vblank timer could not be set");
        }
    }
}

impl HeadlessOutputState {
    /// When the timer has to fire.
    fn wake(&self, now: Instant) -> Option<Instant> {
        if self.display.has_event() { Some(now) } else { self.display.next_event() }
    }

    /// Advances the state machine to `now`.
    fn advance(&mut self, now: Instant) {
        self.observe_fence(now);
        self.display.advance(now);
    }

    /// Tells the state machine if the fence of the waiting frame has signalled.
    fn observe_fence(&mut self, now: Instant) {
        if let Some(fence) = &self.fence
            && let FenceState::Signalled(at) = fence.state(now)
        {
            self.display.fence_signalled(at);
        }
    }
}

impl Display for HeadlessOutput {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn mode(&self) -> VideoMode {
        self.shared.state.borrow().display.mode()
    }

    fn check_mode(&self, mode: VideoMode) -> Result<(), String> {
        self.shared.state.borrow().display.check_mode(mode).map_err(|error| error.to_string())
    }

    fn check_variable_rate(&self, mode: VideoMode, slowest: u32) -> Result<(), String> {
        let is_range = slowest > 0 && slowest < mode.refresh;
        is_range.then_some(()).ok_or_else(|| "the lowest rate is not below the mode's rate".to_owned())
    }

    fn slowest_rate(&self) -> Option<u32> {
        let range = self.shared.state.borrow().display.capabilities().variable_refresh;
        range.map(|(_, longest)| longest.to_millihertz())
    }

    fn set_mode(&mut self, mode: VideoMode, slowest: RateLimit) -> Result<Option<ModeId>, String> {
        let slowest = match slowest {
            RateLimit::Keep => self.slowest_rate(),
            RateLimit::Set(slowest) => slowest,
        };
        // The fastest rate is the mode's, as on a monitor.
        let range = slowest.filter(|slowest| self.check_variable_rate(mode, *slowest).is_ok());
        let range = range.map(|slowest| (mode.interval(), Span::from_millihertz(slowest)));
        self.reconfigure(mode, range).map(|()| None).map_err(|error| error.to_string())
    }

    fn identity(&self) -> Option<EdidIdentity> {
        self.shared.state.borrow().display.identity()
    }

    fn millimetres(&self) -> Option<(u32, u32)> {
        self.shared.state.borrow().display.millimetres()
    }

    fn capabilities(&self) -> Capabilities {
        self.shared.state.borrow().display.capabilities()
    }

    fn last_vblank(&mut self, now: Instant) -> Option<(Instant, u64)> {
        self.with(|state, _| state.display.last_refresh(now)).map(|refresh| (refresh.time, refresh.sequence))
    }

    fn acquire(&mut self) -> Option<Buffer> {
        self.with(|state, _| state.display.acquire())
    }

    fn release(&mut self, buffer: Buffer) {
        self.shared.state.borrow_mut().display.release(buffer);
    }

    fn can_show(&mut self, planes: &PlaneContents) -> bool {
        self.shared.state.borrow().display.can_show(planes)
    }

    fn submit(&mut self, mut plan: FramePlan) -> Result<(), (SubmitError, FramePlan)> {
        let mut state = self.shared.state.borrow_mut();
        let state = &mut *state;
        let now = self.shared.clock.now();
        state.observe_fence(now);
        if let Err(error) = state.display.admit(&plan, now) {
            self.settle(state, state.wake(now), now);
            return Err((error, plan));
        }
        let fence = plan.in_fence.take().map(Fence::new);
        let rendered = match fence.as_ref().map(|fence| fence.state(now)) {
            None => Some(now),
            Some(FenceState::Signalled(at)) => Some(at),
            Some(FenceState::Pending) => None,
        };
        let frame = plan.frame;
        state.display.accept(plan, rendered, now);
        if let Some(fence) = fence.filter(|_| rendered.is_none()) {
            self.watch_fence(&fence);
            state.fence = Some(fence);
        }
        // Take the time after all the work: if the thread is preempted in here, the frame is late, and must
        // count as late.
        state.display.submit_returned(frame, self.shared.clock.now());
        self.settle(state, state.wake(now), now);
        Ok(())
    }

    fn share_front(&mut self, front: Option<SharedFront>) -> Option<ReadAhead> {
        self.with(|state, now| state.display.share(front, now))
    }

    fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        self.with(|state, now| state.display.supersede(from, now))
    }

    fn set_cursor(&mut self, cursor: Option<&CursorPlane>) {
        self.with(|state, now| state.display.set_cursor(cursor, now));
    }

    fn set_power(&mut self, on: bool) {
        self.with(|state, now| state.display.set_power(on, now));
    }

    fn gamma_size(&self) -> Option<u32> {
        self.shared.state.borrow().display.gamma_size()
    }

    fn set_gamma(&mut self, ramp: Option<GammaRamp>) -> Result<(), SubmitError> {
        self.gamma_size().ok_or(SubmitError::Unsupported("a gamma ramp"))?;
        self.shared.state.borrow_mut().gamma = ramp;
        Ok(())
    }

    fn needs_pixels(&self) -> bool {
        self.shared.state.borrow().display.needs_pixels()
    }

    fn screenshot(&self, with_cursor: bool) -> Option<PixelBuffer> {
        self.with(|state, _| state.display.screenshot(with_cursor))
    }

    fn snapshot(&self, with_cursor: bool) -> Option<ScreenSnapshot> {
        self.with(|state, _| state.display.snapshot(with_cursor))
    }

    fn poll_event(&mut self) -> Option<DisplayEvent> {
        let mut state = self.shared.state.borrow_mut();
        let event = state.display.poll_event();
        if event.is_none() {
            let wake = state.display.next_event();
            self.settle(&mut state, wake, self.shared.clock.now());
        }
        event
    }
}

impl HeadlessOutput {
    fn watch_fence(&self, fence: &Fence) {
        let data = epoll::EventData::new_u64(0);
        if let Err(error) = epoll::add(&*self.shared.epoll, fence.as_fd(), data, epoll::EventFlags::IN) {
            // The fence is still checked at each dispatch; it only causes no wake-up of its own.
            tracing::warn!(output = self.shared.name, %error, "a fence cannot be polled");
        }
    }
}

impl Drop for SharedOutput {
    fn drop(&mut self) {
        // Closing the descriptors removes them from the epoll set, unless a fence was duplicated.
        if let Some(fence) = &self.state.get_mut().fence {
            let _ = epoll::delete(&*self.epoll, fence.as_fd());
        }
    }
}
