//! Submission of frames to the virtual display: acceptance, refusal, withdrawal.

use super::{DisplayPower, PendingVirtualFrame, VirtualDisplay};
use crate::backend::headless::event_queue::LitRectangle;
use crate::backend::headless::fault::{FaultKind, FaultPoint};
use crate::backend::headless::overlay_planes;
use crate::backend::headless::panel::{BeamPosition, FrontWrite};
use crate::backend::overlay::intersection;
use crate::backend::{CursorPlane, FrameId, FramePlan, LossReason, PixelRect, PlanChange, SubmitError};
use upbeat_timing::time::{Instant, Span};

/// How long after a write into the buffer on screen, or its refusal, the pixels are needed at hand: longer than a user
/// pauses between two strokes, since the first write is refused while the renderer keeps the pixels.
const PIXELS_NEEDED: Span = Span::from_millis(10_000);

impl VirtualDisplay {
    /// Whether `plan` would be accepted.
    pub fn test(&self, plan: &FramePlan) -> Result<(), SubmitError> {
        if self.power != DisplayPower::On {
            return Err(SubmitError::Off);
        }
        if let (Some(cursor), Some(largest)) = (&plan.cursor, self.options.cursor_plane) {
            test_cursor(cursor, largest)?;
        }
        overlay_planes::test(&plan.planes, self.mode, self.options.overlays)?;
        match &plan.change {
            PlanChange::Compose { buffer, .. } if !self.pool.recognises(buffer) => {
                Err(SubmitError::Unsupported("the buffer is not one of this output in this mode"))
            }
            PlanChange::FrontRectangle { rect, pixels } => self.test_front(plan, *rect, pixels.len()),
            PlanChange::Compose { .. } | PlanChange::Planes if self.is_full(plan) => Err(SubmitError::Busy),
            PlanChange::Compose { .. } | PlanChange::Planes => Ok(()),
        }
    }

    /// Queued frames must be finished, because the fence is watched only for the next flip.
    fn is_full(&self, plan: &FramePlan) -> bool {
        self.pending.is_some() && (self.queued.len() >= self.options.queue || plan.in_fence.is_some())
    }

    fn test_front(&self, plan: &FramePlan, rect: PixelRect, pixels: usize) -> Result<(), SubmitError> {
        let whole = PixelRect { x: 0, y: 0, width: self.mode.width, height: self.mode.height };
        let fits = rect.width > 0 && rect.height > 0 && intersection(rect, whole) == rect;
        let problem = if !self.options.front_buffer {
            "this output has no front buffer to draw into"
        } else if self.panel.slot().is_none() {
            "there is no buffer on screen to draw into"
        } else if self.panel.kept().is_some() {
            "the renderer keeps the pixels on screen"
        } else if !fits {
            "the rectangle is empty or not inside the output"
        } else if pixels as i64 != i64::from(rect.width) * i64::from(rect.height) {
            "the number of pixels does not match the rectangle"
        } else if plan.in_fence.is_some() {
            "a rectangle of the front buffer cannot wait for a fence"
        } else {
            return Ok(());
        };
        Err(SubmitError::Unsupported(problem))
    }

    /// Like [`test`](Self::test), after all steps until `now`, and unless the fault script refuses the frame.
    pub fn admit(&mut self, plan: &FramePlan, now: Instant) -> Result<(), SubmitError> {
        self.advance(now);
        if matches!(plan.change, PlanChange::FrontRectangle { .. }) {
            self.written_until = now + PIXELS_NEEDED;
        }
        self.test(plan)?;
        let refresh = self.grid.next_repeat(now).sequence;
        let point = FaultPoint { time: now, refresh, frame: plan.frame };
        match self.faults.take(point, |kind| (kind == FaultKind::RefuseSubmit).then_some(())) {
            Some(()) => Err(SubmitError::Device("refused by the fault script".to_owned())),
            None => Ok(()),
        }
    }

    /// Takes an [admitted](Self::admit) frame. `rendered` is when its fence signalled; `None`: still pending. It
    /// counts as submitted from the call of [`submit_returned`](Self::submit_returned) on.
    pub fn accept(&mut self, plan: FramePlan, rendered: Option<Instant>, now: Instant) {
        let frame = plan.frame;
        let buffer = match plan.change {
            PlanChange::Compose { buffer, .. } => {
                self.pool.composed(buffer.slot);
                Some(buffer)
            }
            PlanChange::Planes => None,
            PlanChange::FrontRectangle { rect, pixels } => {
                self.front_write = Some(FrontWrite { frame, rect, pixels });
                return;
            }
        };
        let cursor = plan.cursor.filter(|_| self.options.cursor_plane.is_some());
        // Where frames may queue, each is for its own refresh, not for the next refresh.
        let held_until = if self.options.queue > 0 { plan.present - self.mode.interval() / 2 } else { now };
        let (planes, submitted, waited) = (plan.planes, now, false);
        let accepted = PendingVirtualFrame { frame, buffer, cursor, planes, submitted, rendered, held_until, waited };
        match self.pending {
            None => self.pending = Some(accepted),
            Some(_) => self.queued.push_back(accepted),
        }
    }

    /// The submission of `frame` returns at `now`, which is the earliest time at which the display could see the frame.
    pub fn submit_returned(&mut self, frame: FrameId, now: Instant) {
        let waiting = self.pending.iter_mut().chain(&mut self.queued);
        if let Some(pending) = waiting.into_iter().find(|pending| pending.frame == frame) {
            pending.submitted = pending.submitted.max(now);
        }
        self.now = self.now.max(now);
        if let Some(write) = self.front_write.take() {
            self.advance(now);
            self.write_front(write, now);
        }
        if let Some(incident) = self.faults.take_incident_after(frame) {
            self.perform_incident(incident, now);
        }
    }

    /// Calls [`admit`](Self::admit), [`accept`](Self::accept) and [`submit_returned`](Self::submit_returned) at one
    /// time.
    #[expect(clippy::result_large_err, reason = "the plan owns a buffer that must come back, without an allocation")]
    pub fn submit(
        &mut self,
        plan: FramePlan,
        rendered: Option<Instant>,
        now: Instant,
    ) -> Result<(), (SubmitError, FramePlan)> {
        if let Err(error) = self.admit(&plan, now) {
            return Err((error, plan));
        }
        let frame = plan.frame;
        self.accept(plan, rendered, now);
        self.submit_returned(frame, now);
        Ok(())
    }

    fn write_front(&mut self, write: FrontWrite, now: Instant) {
        let (frame, row) = (write.frame, write.rect.y);
        // A scripted incident may have made the screen dark since the admission.
        let (Some(slot), Some(current)) = (self.panel.slot(), self.grid.last_at(now)) else {
            return self.report_lost(frame, LossReason::Gone, now);
        };
        self.pool.written(slot);
        match self.panel.write(write, current, now) {
            Some(BeamPosition::Ahead) => self.report_lit(LitRectangle { frame, row, torn: false }, current),
            Some(written) => self.settling.push(LitRectangle { frame, row, torn: written == BeamPosition::Torn }),
            None => self.report_lost(frame, LossReason::Gone, now),
        }
    }

    /// The fence of the waiting frame signalled at `at`.
    pub fn fence_signalled(&mut self, at: Instant) {
        if let Some(pending) = &mut self.pending {
            pending.rendered.get_or_insert(at);
        }
    }

    /// Whether a frame waits for its fence.
    pub fn waits_for_fence(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.rendered.is_none())
    }

    /// Moves the cursor on waiting frames that are not on their way yet.
    pub fn set_cursor(&mut self, cursor: Option<&CursorPlane>, now: Instant) {
        self.advance(now);
        let Some(largest) = self.options.cursor_plane else { return };
        if cursor.is_some_and(|cursor| test_cursor(cursor, largest).is_err()) {
            return;
        }
        let lead = self.lead;
        let on_its_way = self.next_flip().is_some_and(|refresh| refresh.time - lead < now);
        let pending = self.pending.iter_mut().filter(|_| !on_its_way);
        for waiting in pending.chain(&mut self.queued) {
            waiting.cursor = cursor.cloned();
        }
    }

    /// Withdraws the queued frames from `from` on. The next flip is withdrawn, too, if its number is `from` or
    /// later, its deadline has not passed, and either it had waited in the queue or the display can withdraw
    /// frames. Returns the frame that stays, if any.
    pub fn supersede(&mut self, from: FrameId, now: Instant) -> Option<FrameId> {
        self.advance(now);
        while self.queued.back().is_some_and(|last| last.frame >= from)
            && let Some(last) = self.queued.pop_back()
        {
            self.lose(last, LossReason::Superseded, now);
        }
        if let Some(last) = self.queued.back() {
            return Some(last.frame);
        }
        let &PendingVirtualFrame { frame, waited, .. } = self.pending.as_ref()?;
        let lead = self.lead;
        let on_its_way = self.next_flip().is_some_and(|refresh| refresh.time - lead < now);
        if frame < from || on_its_way || !(waited || self.options.can_withdraw) {
            return Some(frame);
        }
        self.lose_pending(LossReason::Superseded, now);
        None
    }
}

fn test_cursor(cursor: &CursorPlane, (width, height): (u32, u32)) -> Result<(), SubmitError> {
    let image = &cursor.image;
    let size = u32::try_from(image.width).ok().zip(u32::try_from(image.height).ok());
    let Some((w, h)) = size.filter(|&(w, h)| w <= width && h <= height) else {
        return Err(SubmitError::Unsupported("the cursor image is larger than the cursor plane"));
    };
    if image.pixels.len() as u64 != u64::from(w) * u64::from(h) {
        return Err(SubmitError::Unsupported("the number of pixels does not match the cursor image's size"));
    }
    Ok(())
}
