//! Advances the virtual display in time: vblanks, the rows that follow a torn refresh, and scripted incidents.

use super::{DisplayPower, VirtualDisplay};
use crate::backend::LossReason;
use crate::backend::headless::event_queue::LitRectangle;
use crate::backend::headless::fault::{FaultKind, FaultPoint};
use crate::backend::headless::grid::RecordedRefresh;
use crate::backend::headless::panel::PanelPlanes;
use upbeat_timing::time::{Instant, Span};

/// An event that time alone causes.
#[derive(Clone, Copy, Debug)]
enum DisplayStep {
    /// A scripted incident, such as an unplugged output.
    Incident(Instant),
    /// The waiting frame is shown.
    Flip(RecordedRefresh),
    /// The refresh after a torn one begins.
    Settle(RecordedRefresh),
    /// The refresh in which the image was rewritten is over.
    Stay(Instant),
    /// A band of shared memory is to be read.
    Read(Instant),
    /// The beam has left the shared rectangle.
    Scanned(Instant),
}

impl DisplayStep {
    fn time(self) -> Instant {
        match self {
            DisplayStep::Incident(time)
            | DisplayStep::Stay(time)
            | DisplayStep::Read(time)
            | DisplayStep::Scanned(time) => time,
            DisplayStep::Flip(refresh) | DisplayStep::Settle(refresh) => refresh.time,
        }
    }
}

impl VirtualDisplay {
    /// When the next event happens without a call; `None` while nothing waits, so that an idle display causes no
    /// wake-up.
    ///
    /// A frame whose fence is pending has no time yet. The refresh after a torn one counts only if a watch or a
    /// report needs it; otherwise the rows are updated at the next call.
    pub fn next_event(&self) -> Option<Instant> {
        let settle_matters = self.panel.is_watched() || !self.settling.is_empty();
        let settle = self.next_settle().filter(|_| settle_matters).map(|refresh| refresh.time);
        let flip = self.next_flip().map(|refresh| refresh.time);
        let front = self.next_front().map(DisplayStep::time);
        let stays = self.next_stay().map(DisplayStep::time);
        [flip, settle, front, stays, self.next_incident(), self.reports.next_after(self.now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Performs all steps that were due at or before `now`.
    pub fn advance(&mut self, now: Instant) {
        while let Some(step) = self.next_step().filter(|step| step.time() <= now) {
            match step {
                DisplayStep::Incident(time) => self.handle_incident(time),
                DisplayStep::Flip(refresh) => self.flip(refresh),
                DisplayStep::Settle(refresh) => self.settle(refresh),
                DisplayStep::Stay(_) => self.panel.notify_image_stays(),
                DisplayStep::Read(_) => self.read_front(now),
                DisplayStep::Scanned(time) => self.scanned(time),
            }
        }
        self.now = self.now.max(now);
    }

    /// The earliest step; of two steps at the same time the first in the list.
    fn next_step(&self) -> Option<DisplayStep> {
        let incident = self.next_incident().map(DisplayStep::Incident);
        let flip = self.next_flip().map(DisplayStep::Flip);
        let settle = self.next_settle().map(DisplayStep::Settle);
        [incident, self.next_front(), flip, settle, self.next_stay()]
            .into_iter()
            .flatten()
            .min_by_key(|step| step.time())
    }

    fn next_stay(&self) -> Option<DisplayStep> {
        Some(DisplayStep::Stay(self.grid.next_repeat(self.panel.unsettled()?.time).time))
    }

    fn next_front(&self) -> Option<DisplayStep> {
        let front = self.front.as_ref()?;
        let scanned = DisplayStep::Scanned(front.over());
        let read = front.sampler.next().map(DisplayStep::Read).filter(|read| read.time() <= scanned.time());
        Some(read.unwrap_or(scanned))
    }

    fn next_incident(&self) -> Option<Instant> {
        if self.power == DisplayPower::Gone {
            return None;
        }
        let due = self.faults.next_incident(|sequence| self.grid.time_of(sequence));
        due.map(|due| due.max(self.now))
    }

    /// The refresh at which the waiting frame will be shown, if that is decided.
    pub(super) fn next_flip(&self) -> Option<RecordedRefresh> {
        let pending = self.pending.as_ref()?;
        let complete = pending.submitted.max(pending.rendered?);
        let due = complete + self.lead;
        Some(self.grid.first_from(due.max(pending.held_until)))
    }

    fn next_settle(&self) -> Option<RecordedRefresh> {
        let torn = self.panel.image().filter(|_| self.panel.is_torn())?;
        Some(self.grid.next_repeat(torn.refresh.time))
    }

    fn flip(&mut self, refresh: RecordedRefresh) {
        let Some(mut pending) = self.pending.take() else { return };
        self.grid.rebase(refresh);
        let point = FaultPoint { time: refresh.time, refresh: refresh.sequence, frame: pending.frame };
        if self.faults.take(point, |kind| (kind == FaultKind::HoldFlip).then_some(())).is_some() {
            pending.held_until = refresh.time + Span::from_nanos(1);
            self.pending = Some(pending);
            return;
        }
        if self.faults.take(point, |kind| (kind == FaultKind::LoseFrame).then_some(())).is_some() {
            self.lose(pending, LossReason::Device, refresh.time);
            return self.promote(refresh.time);
        }
        if pending.buffer.is_some() {
            self.lose_settling(LossReason::Superseded, refresh.time);
        } else {
            self.present_settling(refresh);
        }
        let is_new = pending.buffer.is_some();
        let planes = PanelPlanes { cursor: pending.cursor, clients: pending.planes };
        if let Some(old) = self.panel.flip(pending.frame, pending.buffer, planes, refresh) {
            self.pool.retire_scanned(old);
        }
        if let Some(front) = self.front.as_ref().filter(|front| is_new && !front.seen.is_empty()) {
            self.panel.scanned(front.bands.rect, &front.seen, refresh);
        }
        self.reports.presented(pending.frame, refresh, &mut self.faults);
        self.promote(refresh.time);
    }

    fn settle(&mut self, refresh: RecordedRefresh) {
        self.panel.settle(refresh);
        self.present_settling(refresh);
    }

    fn present_settling(&mut self, refresh: RecordedRefresh) {
        for lit in std::mem::take(&mut self.settling) {
            self.report_lit(lit, refresh);
        }
    }

    /// Reports a rectangle that `refresh` lights.
    pub(super) fn report_lit(&mut self, lit: LitRectangle, refresh: RecordedRefresh) {
        let light = self.panel.beam().line_start(refresh.time, lit.row);
        self.reports.written(lit, light, refresh, &mut self.faults);
    }

    fn handle_incident(&mut self, at: Instant) {
        let grid = self.grid;
        if let Some(incident) = self.faults.take_incident(at, |sequence| grid.time_of(sequence)) {
            self.perform_incident(incident, at);
        }
    }

    /// Performs a scripted incident at `at`.
    pub(super) fn perform_incident(&mut self, incident: FaultKind, at: Instant) {
        match incident {
            FaultKind::Power(on) => self.switch_power(on, at),
            FaultKind::Mode(mode) => self.switch_mode(mode, at),
            FaultKind::Unplug => self.disconnect(at),
            FaultKind::Stamp(_)
            | FaultKind::NoSequence
            | FaultKind::HoldFlip
            | FaultKind::LoseFrame
            | FaultKind::RefuseSubmit
            | FaultKind::DelayEvents(_) => {}
        }
    }
}
