//! One window in the parent: its objects, its size, its frames.

mod in_flight;
mod shape;

use std::collections::VecDeque;
use std::rc::Rc;

use wayland_client::QueueHandle;
use wayland_client::protocol::{wl_shm::WlShm, wl_surface::WlSurface};
use wayland_protocols::wp::fractional_scale::v1::client::wp_fractional_scale_v1::WpFractionalScaleV1;
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::wp::viewporter::client::wp_viewport::WpViewport;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_toplevel_decoration_v1::ZxdgToplevelDecorationV1;
use wayland_protocols::xdg::shell::client::{xdg_surface::XdgSurface, xdg_toplevel::XdgToplevel};

use super::device_allocator::SharedAllocator;
use super::event::{ParentEvent, WindowId};
use super::frame_states::{CommitDecision, DEPTH, NestedFrames};
use super::parent::ParentState;
use super::parent_socket::ParentSocket;
use super::pool::BufferTag;
use super::submit_lead::{LearnedLead, PresentedSample};
use super::window_buffers::WindowBuffers;
use crate::backend::{
    Buffer, DisplayEvent, FrameId, FramePlan, LossReason, PixelRect, PlanChange, ScreenSnapshot, SubmitError, VideoMode,
};
use in_flight::NestedFrameBuffer;
pub(super) use shape::SCALE_STEPS;
use shape::physical;
use upbeat_timing::time::{Instant, Span};

/// The window's objects in the parent. Objects of optional protocols may be missing.
#[derive(Debug)]
pub(super) struct ToplevelObjects {
    pub surface: WlSurface,
    pub xdg_surface: XdgSurface,
    pub toplevel: XdgToplevel,
    pub decoration: Option<ZxdgToplevelDecorationV1>,
    pub viewport: Option<WpViewport>,
    pub fractional: Option<WpFractionalScaleV1>,
    pub presentation: Option<WpPresentation>,
    pub shm: WlShm,
}

pub(super) struct ParentToplevel {
    id: WindowId,
    objects: ToplevelObjects,
    socket: Rc<ParentSocket>,
    handle: QueueHandle<ParentState>,
    /// Size in the parent's logical pixels.
    logical: (i32, i32),
    /// Physical pixels per 120 logical pixels.
    scale: u32,
    /// Refresh rate in millihertz.
    refresh: u32,
    buffers: WindowBuffers,
    pools: u32,
    frames: NestedFrames,
    lead: LearnedLead,
    /// Frames in flight, the oldest first.
    in_flight: VecDeque<NestedFrameBuffer>,
    /// Damage of frames that were withdrawn before they were committed: the next commit includes it.
    unsent: Vec<PixelRect>,
    /// The slot of the buffer on screen.
    shown: Option<usize>,
    is_on: bool,
    is_closed: bool,
    /// The size of a configure sequence that is not complete yet.
    proposed: (i32, i32),
    /// The configure serial to be acknowledged with the next commit.
    serial: Option<u32>,
    is_configured: bool,
    events: VecDeque<ParentEvent>,
}

impl ParentToplevel {
    /// A window of `size` logical pixels, with buffers in the memory of `device` if given. It shows no frame until the
    /// parent has [configured](Self::configured) it. The error is a sentence.
    pub(super) fn new(
        id: WindowId,
        objects: ToplevelObjects,
        socket: Rc<ParentSocket>,
        handle: QueueHandle<ParentState>,
        (size, refresh): ((i32, i32), u32),
        device: Option<SharedAllocator>,
    ) -> Result<Self, String> {
        let buffers = WindowBuffers::new(id, size, device, &objects.shm, &handle)?;
        let frames = NestedFrames::new(objects.presentation.is_some());
        Ok(ParentToplevel {
            id,
            objects,
            socket,
            handle,
            logical: size,
            scale: SCALE_STEPS,
            refresh,
            buffers,
            pools: 0,
            frames,
            lead: LearnedLead::default(),
            in_flight: VecDeque::with_capacity(DEPTH),
            unsent: Vec::new(),
            shown: None,
            is_on: true,
            is_closed: false,
            proposed: (0, 0),
            serial: None,
            is_configured: false,
            events: VecDeque::new(),
        })
    }

    pub(super) const fn id(&self) -> WindowId {
        self.id
    }

    pub(super) const fn surface(&self) -> &WlSurface {
        &self.objects.surface
    }

    pub(super) const fn is_configured(&self) -> bool {
        self.is_configured
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(super) const fn has_feedback(&self) -> bool {
        self.frames.has_feedback()
    }

    pub(super) const fn submit_lead(&self) -> Span {
        self.lead.get()
    }

    pub(super) fn scale(&self) -> f64 {
        f64::from(self.scale) / f64::from(SCALE_STEPS)
    }

    pub(super) fn mode(&self) -> VideoMode {
        let (width, height) = physical(self.logical, self.scale);
        VideoMode { width, height, refresh: self.refresh }
    }

    /// Converts a position on the surface to physical pixels of the output.
    pub(super) fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (x * self.scale(), y * self.scale())
    }
}

impl ParentToplevel {
    pub(super) fn acquire(&mut self) -> Option<Buffer> {
        self.buffers.acquire()
    }

    pub(super) fn release(&mut self, buffer: Buffer) {
        self.buffers.release(buffer);
    }

    /// Whether `plan` would be accepted.
    pub(super) fn test(&self, plan: &FramePlan) -> Result<(), SubmitError> {
        if !self.is_on || self.is_closed {
            return Err(SubmitError::Off);
        }
        match &plan.change {
            PlanChange::Compose { buffer, .. } if !self.buffers.recognises(buffer) => {
                Err(SubmitError::Unsupported("the buffer is not one of this output in this mode"))
            }
            PlanChange::Compose { .. } if plan.in_fence.is_some() && !self.buffers.takes_fences() => {
                Err(SubmitError::Unsupported("shared memory cannot wait for a fence"))
            }
            PlanChange::Compose { .. } => self.frames.test(),
            PlanChange::Planes => Err(SubmitError::Unsupported("a window has no planes")),
            PlanChange::FrontRectangle { .. } => Err(SubmitError::Unsupported("a window has no front buffer")),
        }
    }

    /// Takes a plan that was [tested](Self::test).
    pub(super) fn submit(&mut self, plan: FramePlan, now: Instant) {
        let PlanChange::Compose { buffer, damage } = plan.change else { return };
        let Some(slot) = self.buffers.compose(buffer, &damage) else {
            // `acquire` found a free buffer, and only this function uses buffers up.
            tracing::error!(window = self.id.0, "no buffer is free: the parent has not released any");
            self.frames.report(DisplayEvent::Lost { frame: plan.frame, reason: LossReason::Device });
            return;
        };
        self.in_flight.push_back(NestedFrameBuffer {
            frame: plan.frame,
            slot,
            fence: plan.in_fence,
            damage,
            target: plan.present,
            is_committed: false,
        });
        if self.frames.submit(plan.frame, now) == CommitDecision::Commit {
            self.commit(plan.frame);
        }
        self.buffers.prepare_next();
        self.arm_timeout();
    }

    /// Commits the held frame, if it is time.
    fn release_held(&mut self, now: Instant) {
        if let Some(frame) = self.frames.release(now) {
            self.commit(frame);
        }
        self.arm_timeout();
    }

    /// Arms the timer for the time at which an answer of the parent is overdue.
    fn arm_timeout(&self) {
        if let Some(deadline) = self.frames.deadline() {
            self.socket.wake_by(deadline);
        }
    }

    /// The parent has sent the frame callback of `frame`.
    pub(super) fn called_back(&mut self, frame: FrameId, now: Instant) {
        if !self.has_feedback() {
            self.note_shown(frame);
        }
        self.frames.called_back(frame, now);
        self.forget_lost();
        self.release_held(now);
        self.report_visibility();
    }

    /// The parent has shown `frame` at `time`, in its refresh `sequence`; `refresh` is its interval.
    pub(super) fn presented(
        &mut self,
        frame: FrameId,
        time: Instant,
        sequence: Option<u64>,
        refresh: Span,
        now: Instant,
    ) {
        let had_feedback = self.has_feedback();
        let committed = self.frames.presented(frame, time, sequence);
        self.log_feedback_change(had_feedback);
        let Some(committed) = committed else { return };
        if refresh > Span::ZERO {
            self.set_refresh(refresh.to_millihertz());
        }
        let interval = self.mode().interval();
        let target = self.in_flight.iter().find(|taken| taken.frame == frame).map_or(time, |taken| taken.target);
        tracing::debug!(frame = frame.0, distance = %(target - committed), late = %(time - target), said = %(now - time), lead = %self.lead.get(), "shown");
        if self.lead.observe(PresentedSample { target, committed, shown: time }, interval) {
            tracing::info!(window = self.id.0, lead = %self.lead.get(), "the parent needs its frames this long before the refresh");
            self.frames.report(DisplayEvent::Changed);
        }
        self.note_shown(frame);
        self.forget_lost();
        self.release_held(now);
        self.report_visibility();
    }

    fn note_shown(&mut self, frame: FrameId) {
        if let Some(taken) = self.in_flight.iter().find(|taken| taken.frame == frame) {
            self.shown = Some(taken.slot);
            self.buffers.note_shown(taken.slot);
        }
    }

    pub(super) fn discarded(&mut self, frame: FrameId, now: Instant) {
        let had_feedback = self.has_feedback();
        self.frames.discarded(frame);
        self.log_feedback_change(had_feedback);
        self.forget_lost();
        self.release_held(now);
    }

    pub(super) fn released(&mut self, tag: BufferTag) {
        self.buffers.released(tag);
    }

    /// Handles answers that are overdue at `now`. Returns the next deadline.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Instant> {
        let had_feedback = self.has_feedback();
        self.frames.expire(now);
        self.log_feedback_change(had_feedback);
        self.forget_lost();
        self.report_visibility();
        self.frames.deadline()
    }

    fn log_feedback_change(&self, before: bool) {
        match (before, self.has_feedback()) {
            (true, false) => tracing::warn!(
                "the parent does not report when frames are shown: refreshes are guessed from its callbacks until it does"
            ),
            (false, true) => tracing::info!("the parent reports when frames are shown"),
            _ => {}
        }
    }

    /// A snapshot of the frame on screen.
    pub(super) fn snapshot(&self) -> Option<ScreenSnapshot> {
        self.buffers.snapshot(self.shown.filter(|_| self.is_on)?)
    }

    /// Off paints the window black, unless it is hidden anyway.
    pub(super) fn set_power(&mut self, on: bool) {
        if std::mem::replace(&mut self.is_on, on) == on || on {
            return;
        }
        self.frames.lose(LossReason::Gone);
        self.forget_lost();
        let VideoMode { width, height, .. } = self.mode();
        if !self.frames.is_hidden()
            && !self.is_closed
            && let Some(black) = self.buffers.black(self.id, (width, height), &self.objects.shm, &self.handle)
        {
            self.objects.surface.attach(Some(black), 0, 0);
            self.objects.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
            self.objects.surface.commit();
            self.socket.flush();
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.frames.poll()
    }

    pub(super) fn poll_parent_event(&mut self) -> Option<ParentEvent> {
        self.events.pop_front()
    }

    fn report_visibility(&mut self) {
        let window = self.id;
        match self.frames.take_visibility() {
            Some(true) => self.events.push_back(ParentEvent::Visible { window }),
            Some(false) => self.events.push_back(ParentEvent::Hidden { window }),
            None => {}
        }
    }
}

impl Drop for ToplevelObjects {
    fn drop(&mut self) {
        if let Some(viewport) = self.viewport.take() {
            viewport.destroy();
        }
        if let Some(fractional) = self.fractional.take() {
            fractional.destroy();
        }
        if let Some(decoration) = self.decoration.take() {
            decoration.destroy();
        }
        self.toplevel.destroy();
        self.xdg_surface.destroy();
        self.surface.destroy();
    }
}
