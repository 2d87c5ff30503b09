//! Advances the virtual display in time: vblanks, the rows that follow a torn refresh, and scripted incidents.

use super::{Power, VirtualDisplay};
use crate::backend::LossReason;
use crate::backend::headless::fault::{Moment, What};
use crate::backend::headless::grid::Refresh;
use crate::backend::headless::report::Lit;
use upbeat_timing::time::{Instant, Span};

/// An event that time alone causes.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A scripted incident, such as an unplugged output.
    Incident(Instant),
    /// The waiting frame is shown.
    Flip(Refresh),
    /// The refresh after a torn one begins.
    Settle(Refresh),
    /// The refresh in which the image was rewritten is over.
    Stay(Instant),
    /// A band of shared memory is to be read.
    Read(Instant),
    /// The beam has left the shared rectangle.
    Scanned(Instant),
}

impl Step {
    fn time(self) -> Instant {
        match self {
            Step::Incident(time) | Step::Stay(time) | Step::Read(time) | Step::Scanned(time) => time,
            Step::Flip(refresh) | Step::Settle(refresh) => refresh.time,
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
        let front = self.next_front().map(Step::time);
        let stays = self.next_stay().map(Step::time);
        [flip, settle, front, stays, self.next_incident(), self.reports.next_after(self.now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Performs all steps that were due at or before `now`.
    pub fn advance(&mut self, now: Instant) {
        while let Some(step) = self.next_step().filter(|step| step.time() <= now) {
            match step {
                Step::Incident(time) => self.meet_incident(time),
                Step::Flip(refresh) => self.flip(refresh),
                Step::Settle(refresh) => self.settle(refresh),
                Step::Stay(_) => self.panel.stay(),
                Step::Read(_) => self.read_front(now),
                Step::Scanned(time) => self.scanned(time),
            }
        }
        self.now = self.now.max(now);
    }

    /// The earliest step; of two steps at the same time the first in the list.
    fn next_step(&self) -> Option<Step> {
        let incident = self.next_incident().map(Step::Incident);
        let flip = self.next_flip().map(Step::Flip);
        let settle = self.next_settle().map(Step::Settle);
        [incident, self.next_front(), flip, settle, self.next_stay()]
            .into_iter()
            .flatten()
            .min_by_key(|step| step.time())
    }

    fn next_stay(&self) -> Option<Step> {
        Some(Step::Stay(self.grid.next_repeat(self.panel.unsettled()?.time).time))
    }

    fn next_front(&self) -> Option<Step> {
        let front = self.front.as_ref()?;
        let scanned = Step::Scanned(front.over());
        let read = front.sampler.next().map(Step::Read).filter(|read| read.time() <= scanned.time());
        Some(read.unwrap_or(scanned))
    }

    fn next_incident(&self) -> Option<Instant> {
        if self.power == Power::Gone {
            return None;
        }
        let due = self.faults.next_incident(|sequence| self.grid.time_of(sequence));
        due.map(|due| due.max(self.now))
    }

    /// The refresh at which the waiting frame will be shown, if that is decided.
    pub(super) fn next_flip(&self) -> Option<Refresh> {
        let pending = self.pending.as_ref()?;
        let complete = pending.submitted.max(pending.rendered?);
        let due = complete + self.options.lead(self.mode);
        Some(self.grid.first_from(due.max(pending.held_until)))
    }

    fn next_settle(&self) -> Option<Refresh> {
        let torn = self.panel.image().filter(|_| self.panel.is_torn())?;
        Some(self.grid.next_repeat(torn.refresh.time))
    }

    fn flip(&mut self, refresh: Refresh) {
        let Some(mut pending) = self.pending.take() else { return };
        self.grid.rebase(refresh);
        let moment = Moment { time: refresh.time, refresh: refresh.sequence, frame: pending.frame };
        if self.faults.take(moment, |what| (what == What::HoldFlip).then_some(())).is_some() {
            pending.held_until = refresh.time + Span::from_nanos(1);
            self.pending = Some(pending);
            return;
        }
        if self.faults.take(moment, |what| (what == What::LoseFrame).then_some(())).is_some() {
            self.lose(pending, LossReason::Device, refresh.time);
            return self.promote(refresh.time);
        }
        if pending.buffer.is_some() {
            self.lose_settling(LossReason::Superseded, refresh.time);
        } else {
            self.present_settling(refresh);
        }
        let is_new = pending.buffer.is_some();
        if let Some(old) = self.panel.flip(pending.frame, pending.buffer, pending.cursor, refresh) {
            self.pool.unscanned(old);
        }
        if let Some(front) = self.front.as_ref().filter(|front| is_new && !front.seen.is_empty()) {
            self.panel.scanned(front.bands.rect, &front.seen, refresh);
        }
        self.reports.presented(pending.frame, refresh, &mut self.faults);
        self.promote(refresh.time);
    }

    fn settle(&mut self, refresh: Refresh) {
        self.panel.settle(refresh);
        self.present_settling(refresh);
    }

    fn present_settling(&mut self, refresh: Refresh) {
        for lit in std::mem::take(&mut self.settling) {
            self.report_lit(lit, refresh);
        }
    }

    /// Reports a rectangle that `refresh` lights.
    pub(super) fn report_lit(&mut self, lit: Lit, refresh: Refresh) {
        let light = self.panel.beam().line_start(refresh.time, lit.row);
        self.reports.written(lit, light, refresh, &mut self.faults);
    }

    fn meet_incident(&mut self, at: Instant) {
        let grid = self.grid;
        if let Some(incident) = self.faults.take_incident(at, |sequence| grid.time_of(sequence)) {
            self.suffer(incident, at);
        }
    }

    /// Performs a scripted incident at `at`.
    pub(super) fn suffer(&mut self, incident: What, at: Instant) {
        match incident {
            What::Power(on) => self.switch_power(on, at),
            What::Mode(mode) => self.switch_mode(mode, at),
            What::Unplug => self.pull_plug(at),
            What::Stamp(_)
            | What::NoSequence
            | What::HoldFlip
            | What::LoseFrame
            | What::RefuseSubmit
            | What::DelayEvents(_) => {}
        }
    }
}
