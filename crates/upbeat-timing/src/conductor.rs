//! The Conductor: one output's machine and the pacers of the clients on it, behind one timer.
//!
//! It works in poll style, like sans-IO network stacks: report events, take the actions that are due, sleep until
//! [`next_wake`](Conductor::next_wake). A plan is made after an event and kept until its moment comes, so that waking
//! late shows in the figures instead of moving the plan.

use super::frames::FrameOperation;
use super::id::{SurfaceId, UpdateId};
use super::output::{AheadLimits, OutputMachine};
use super::pacer::{CallbackAnswer, CommittedContent, Pacer, PacerMissBudgets, PlannedCallback};
pub use super::pacers::PacerId;
use super::pacers::Pacers;
use super::pacing::PacingWish;
use super::packing::{BatchStarts, BatchStretch, PackingUnit, held_up, pack};
use super::record::RepaintReason;
use super::target::{RefreshIndex, Target};
use crate::time::{Instant, Span};

/// Latches in a row that may miss their moment before the next latch happens at once.
const SLIPS_ALLOWED: u32 = 2;

/// An action that is due now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConductorAction {
    /// Choose content for `target`, compose and submit it. Answer with [`Conductor::latched`] and
    /// [`Conductor::poll_frame`].
    Latch {
        /// The refresh to latch for.
        target: Target,
        /// When the latch was planned.
        scheduled: Instant,
    },
    /// Send the client's frame callbacks. Answer with [`Conductor::called_back`].
    Callback {
        /// The pacer of the client.
        pacer: PacerId,
        /// The refresh that the client is to draw for.
        target: Target,
        /// The callback's time argument: the refresh before the target, on the grid.
        time: Instant,
        /// When the callback was planned.
        scheduled: Instant,
    },
}

/// The timing of one output and of the clients on it.
#[derive(Clone, Debug)]
pub struct Conductor<T = ()> {
    output: OutputMachine<T>,
    pacers: Pacers,
    latch: Option<(RefreshIndex, Instant)>,
    /// Latches in a row whose moment passed unused, because the caller woke later than composing allows.
    missed_latches: u32,
    /// An event happened since the plan was made.
    plan_outdated: bool,
    /// The last refresh that a client has drawn and committed for.
    last_committed_target: Option<RefreshIndex>,
    /// Whether complete content may be latched before its latch moment.
    early_latch: bool,
    /// An impossible plan that was replaced, for the caller's log.
    fault: Option<PlanFault>,
    /// When the last impossible plan was replaced.
    fault_replaced_at: Option<Instant>,
    cores: usize,
    stretch: BatchStretch,
}

/// A plan for a refresh too far ahead to be intended ([`OutputMachine::is_plan_impossible`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanFault {
    /// The refresh of the plan.
    pub index: RefreshIndex,
    /// How far ahead of now the refresh lies.
    pub ahead: Span,
}

impl<T> Conductor<T> {
    /// A conductor for an output whose clients share `cores` processor cores.
    pub fn new(output: OutputMachine<T>, cores: usize) -> Self {
        Conductor {
            output,
            pacers: Pacers::new(),
            latch: None,
            missed_latches: 0,
            plan_outdated: true,
            last_committed_target: None,
            early_latch: true,
            fault: None,
            fault_replaced_at: None,
            cores,
            stretch: BatchStretch::new(),
        }
    }

    /// The output's machine, read only.
    pub const fn output(&self) -> &OutputMachine<T> {
        &self.output
    }

    /// The output's machine, to report events to. The plan is made anew afterwards.
    pub fn output_mut(&mut self) -> &mut OutputMachine<T> {
        self.plan_outdated = true;
        &mut self.output
    }

    /// Forwards to [`OutputMachine::set_promised`] if the refresh changed.
    pub fn set_promised(&mut self, index: Option<RefreshIndex>) {
        if self.output.promised() != index {
            self.output_mut().set_promised(index);
        }
    }

    /// A client appeared on this output.
    pub fn add_pacer(&mut self, wish: PacingWish, budgets: PacerMissBudgets) -> PacerId {
        self.pacers.add(Pacer::new(wish, budgets))
    }

    /// The client left this output.
    pub fn remove_pacer(&mut self, id: PacerId) {
        self.pacers.remove(id);
        self.plan_outdated = true;
    }

    /// A client's pacer, read only.
    pub fn pacer(&self, id: PacerId) -> Option<&Pacer> {
        self.pacers.get(id)
    }

    /// A client's pacer, to report events to. The plan is made anew afterwards.
    pub fn pacer_mut(&mut self, id: PacerId) -> Option<&mut Pacer> {
        self.plan_outdated = true;
        self.pacers.get_mut(id)
    }

    /// Whether complete content may be latched before its latch moment.
    pub fn set_early_latch(&mut self, allowed: bool) {
        self.plan_outdated |= self.early_latch != allowed;
        self.early_latch = allowed;
    }

    /// An input event was delivered to the client.
    pub fn input(&mut self, id: PacerId, now: Instant, interrupts: bool) {
        self.output.idle_predictor_mut().note_activity(now);
        let Some(pacer) = self.pacer_mut(id) else { return };
        if interrupts {
            pacer.interrupt(now);
        } else {
            pacer.input(now);
        }
        self.replan(now);
        let interval = self.output.vsync().interval();
        if let Some(pacer) = self.pacers.get_mut(id) {
            pacer.snap_to_input(now, interval);
        }
    }

    /// The client asks for a second frame for the refresh that it has committed for; see
    /// [`Pacer::request_second_shot`].
    pub fn request_second_shot(&mut self, id: PacerId, now: Instant) {
        self.plan_outdated = true;
        if let Some(pacer) = self.pacers.get_mut(id) {
            pacer.request_second_shot(now, &self.output);
        }
    }

    /// New content of the client arrived; see [`Pacer::committed`].
    pub fn committed(&mut self, id: PacerId, now: Instant, cpu: Option<Span>, queued: bool) -> Option<CallbackAnswer> {
        let reaches = self.output.next_index(now);
        self.note_commit(id, now, reaches, (cpu, queued, None))
    }

    /// Like [`committed`](Self::committed), but a GPU still draws the content. Call [`Conductor::finished`] when it
    /// is done.
    pub fn committed_unfinished(
        &mut self,
        id: PacerId,
        now: Instant,
        update: UpdateId,
        (cpu, queued): (Option<Span>, bool),
    ) -> Option<CallbackAnswer> {
        let reaches = self.output.next_index(now);
        self.note_commit(id, now, reaches, (cpu, queued, Some(update)))
    }

    /// A part of the client's answer was committed while the client still draws its other surfaces, and a GPU draws
    /// `update`: see [`Pacer::committed_part`].
    pub fn committed_part(&mut self, id: PacerId, update: UpdateId) {
        if let Some(pacer) = self.pacers.get_mut(id) {
            pacer.committed_part(update);
        }
    }

    /// A GPU has finished drawing `update`. Returns the cost of the frame if it answered a callback and this was
    /// its last unfinished part.
    pub fn finished(&mut self, id: PacerId, update: UpdateId, at: Instant) -> Option<Span> {
        self.plan_outdated = true;
        let (target, cost) = self.pacers.get_mut(id)?.finished(update, at, &self.output)?;
        self.last_committed_target = Some(target);
        Some(cost)
    }

    /// Like [`committed`](Self::committed), for content that arrived at `then`, when it could reach the refresh
    /// `reaches`. Only now is it known that the client's answer was complete.
    pub fn committed_earlier(&mut self, id: PacerId, then: Instant, reaches: RefreshIndex) -> Option<CallbackAnswer> {
        self.note_commit(id, then, reaches, (None, false, None))
    }

    /// New content of `surface` was applied, and needs a frame. On a panel with variable refresh its rhythm is learned.
    pub fn note_content(&mut self, client: PacerId, surface: SurfaceId, now: Instant) {
        // At a fixed rate nothing is learned, so the plan stays.
        if self.output.vsync().range().is_some() {
            self.output_mut().note_content(client, surface, now);
        }
    }

    fn note_commit(
        &mut self,
        id: PacerId,
        now: Instant,
        reaches: RefreshIndex,
        (cpu, queued, unfinished): (Option<Span>, bool, Option<UpdateId>),
    ) -> Option<CallbackAnswer> {
        self.plan_outdated = true;
        let since = self.pacer(id)?.drawing().map(|drawing| drawing.scheduled);
        let drew = |other: &Pacer, since| other.is_drawing(now) || other.answered_since(since);
        let others = since.into_iter().flat_map(|since| {
            let others = self.pacers.awake().filter(move |(other, pacer)| *other != id && drew(pacer, since));
            others.map(|(_, pacer)| pacer.typical_cpu())
        });
        let held_up = held_up(others, self.cores);
        let pacer = self.pacers.get_mut(id)?;
        let answer =
            pacer.committed(CommittedContent { at: now, reaches, cpu, queued, held_up, unfinished }, &self.output);
        let background = !pacer.is_focused();
        if let (true, Some(answer)) = (background, answer) {
            let last = !self.pacers().any(|other| !other.is_focused() && other.is_drawing(now));
            self.stretch.answered(answer.cpu, last, now);
        }
        if let Some(refresh) = answer.and_then(|answer| answer.hold) {
            self.output.schedule_repaint_at(refresh);
        }
        let all_there = answer.filter(|answer| answer.is_done);
        self.last_committed_target = all_there.map(|answer| answer.drawing.target).or(self.last_committed_target);
        answer
    }

    /// The next action that is due, if any. Call it until it returns `None`.
    pub fn poll_action(&mut self, now: Instant) -> Option<ConductorAction> {
        self.replan(now);
        if let Some((index, scheduled)) = self.latch.filter(|(_, when)| *when <= now) {
            self.output.expect_latch(now);
            let target = self.output.publish(index);
            return Some(ConductorAction::Latch { target, scheduled });
        }
        let due = self.pacers.awake().find_map(|(id, pacer)| {
            let planned = pacer.planned()?;
            (planned.start <= now).then_some((id, planned))
        });
        let (pacer, planned) = due?;
        let target = self.output.publish(planned.target);
        let time = target.present - target.interval;
        Some(ConductorAction::Callback { pacer, target, time, scheduled: planned.start })
    }

    /// When to wake up next; `None` to sleep until the next event.
    pub fn next_wake(&mut self, now: Instant) -> Option<Instant> {
        self.replan(now);
        let latch = self.latch.map(|(_, when)| when);
        self.pacers().filter_map(|pacer| pacer.planned()).map(|planned| planned.start).chain(latch).min()
    }

    /// Content is being chosen for `index`; see [`OutputMachine::latch`].
    pub fn latched(&mut self, index: RefreshIndex) -> RepaintReason {
        self.missed_latches = 0;
        // The plan was used, so it did not slip.
        self.latch = None;
        self.output_mut().latch(index)
    }

    /// The next frame operation; see [`OutputMachine::poll_frame`].
    pub fn poll_frame(&mut self, work: AheadLimits, now: Instant) -> Option<FrameOperation<T>> {
        let step = self.output.poll_frame(work, now);
        self.plan_outdated |= step.is_some();
        step
    }

    /// The impossible plan that was replaced since the last call, if any. The caller must send clients new targets.
    pub fn take_fault(&mut self) -> Option<PlanFault> {
        self.fault.take()
    }

    /// The client's callbacks were sent.
    pub fn called_back(&mut self, id: PacerId, now: Instant, cpu: Option<Span>) -> Option<PlannedCallback> {
        self.plan_outdated = true;
        let planned = self.pacer(id)?.planned()?;
        if planned.packed && self.pacer(id).is_some_and(|pacer| !pacer.is_focused()) {
            self.stretch.called(planned.start);
        }
        let vsync = self.output.vsync();
        let (refresh, interval) = (vsync.present(RefreshIndex(planned.target.0.saturating_sub(1))), vsync.interval());
        self.pacer_mut(id)?.called_back(now, cpu, (refresh, interval))
    }

    /// Whether the refresh of the planned latch is over because the caller did not wake. Content latched for it
    /// would be shown later.
    fn is_over(&self, now: Instant) -> bool {
        self.latch.is_some_and(|(index, _)| self.output.vsync().present(index) <= now)
    }

    /// Makes the plan anew if an event happened since the last plan. An impossible plan is made once more, by the
    /// clock.
    fn replan(&mut self, now: Instant) {
        let is_over = self.is_over(now);
        if !std::mem::take(&mut self.plan_outdated) && !is_over {
            return;
        }
        self.plan(now);
        let Some(index) = self.furthest_plan().filter(|index| self.output.is_plan_impossible(*index, now)) else {
            return;
        };
        // A second attempt would give the same fault, so one report an interval is enough.
        if self.fault_replaced_at.is_some_and(|mended| now - mended < self.output.vsync().interval()) {
            return;
        }
        self.fault_replaced_at = Some(now);
        self.fault = Some(PlanFault { index, ahead: self.output.vsync().present(index) - now });
        self.output.renumber(now);
        self.pacers.for_each(Pacer::forget_targets);
        (self.latch, self.last_committed_target) = (None, None);
        self.plan(now);
    }

    /// The last refresh of all planned latches and callbacks. A callback may be for the refresh after the next latch.
    fn furthest_plan(&self) -> Option<RefreshIndex> {
        let callbacks = self.pacers().filter_map(|pacer| pacer.planned());
        let callbacks = callbacks.map(|planned| RefreshIndex(planned.target.0.saturating_sub(1)));
        callbacks.chain(self.latch.map(|(index, _)| index)).max()
    }

    fn plan(&mut self, now: Instant) {
        self.output.expect(now);
        let output = &self.output;
        self.pacers.for_each_awake(|pacer| {
            // A callback that is due already keeps its plan.
            if pacer.planned().is_none_or(|planned| planned.start > now) {
                pacer.plan(now, output);
            }
        });
        self.pacers.put_idle_to_sleep(now);
        self.pack(now);
        if let Some((line, ready)) = self.pacers.row_to_refresh(now, &self.output) {
            self.output.begin_refresh_for_row(line, ready);
        }
        // A client whose frame the GPU still draws counts too: the frame may be finished at any moment.
        let unfinished = |pacer: &Pacer| pacer.is_drawing(now) || pacer.unfinished(now).next().is_some();
        let draws = |pacer: &Pacer| unfinished(pacer) || pacer.planned().is_some();
        let drawn_for = self.pacers.awake().filter(|(_, pacer)| draws(pacer));
        let (is_drawn_for, without_rhythm) = drawn_for.fold((false, false), |(_, without_rhythm), (id, _)| {
            (true, without_rhythm || !self.output.has_rhythm(id, now))
        });
        self.output.set_client_draws(is_drawn_for, without_rhythm);
        self.plan_latch(now);
    }

    fn plan_latch(&mut self, now: Instant) {
        let due = self.latch.filter(|(index, when)| *when <= now && self.output.last_useful_latch(*index) >= now);
        let slipped = due.is_none() && self.latch.is_some_and(|(_, when)| when <= now);
        self.missed_latches += u32::from(slipped);
        if let Some((index, when)) = self.latch.filter(|_| slipped) {
            self.output.note_unused_latch(index, now - when);
        }
        // Late twice in a row: the next moment would be missed as well, so latch now.
        let at_once = self.missed_latches >= SLIPS_ALLOWED;
        let calm = self.is_idle(now);
        let next = self.output.next_latch(now).map(|(index, when)| {
            let early = match calm {
                true => self.output.early_latch(index, now),
                false => {
                    let answered = self.last_committed_target == Some(index) && !self.is_interactive(now);
                    self.output.relaxed_latch(index, now, answered).filter(|_| !self.is_drawn_for(index, now))
                }
            };
            let early = early.filter(|_| self.early_latch);
            (index, if at_once { now } else { early.map_or(when, |early| early.max(now).min(when)) })
        });
        self.latch = next.map(|next| due.filter(|(index, _)| *index == next.0).unwrap_or(next));
    }

    /// The pacers that may have a plan.
    fn pacers(&self) -> impl Iterator<Item = &Pacer> {
        self.pacers.awake().map(|(_, pacer)| pacer)
    }

    /// Whether the user holds a button or finger down on a client.
    pub fn has_held_input(&self) -> bool {
        self.pacers().any(Pacer::is_held)
    }

    /// The user holds no button and no finger down any more.
    pub fn release_held_input(&mut self, now: Instant) {
        if self.has_held_input() {
            self.plan_outdated = true;
            self.pacers.for_each_awake(|pacer| {
                if pacer.is_held() {
                    pacer.set_held(false, now);
                }
            });
        }
    }

    /// Whether a client is believed to draw for this output.
    pub fn is_client_drawing(&self, now: Instant) -> bool {
        self.pacers().any(|pacer| pacer.is_drawing(now))
    }

    /// Whether a client draws and may still commit within an interval of its callback.
    pub fn is_commit_expected_soon(&self, now: Instant) -> bool {
        let interval = self.output.vsync().interval();
        let drawing = self.pacers().filter(|pacer| pacer.is_drawing(now));
        drawing.filter_map(Pacer::drawing).any(|drawing| now - drawing.sent < interval)
    }

    /// Whether no unforeseen event happened for a while: no input, and no client that draws just in time.
    fn is_idle(&mut self, now: Instant) -> bool {
        let anybody = self.pacers().any(|pacer| pacer.is_drawing(now) || pacer.unfinished(now).count() > 0);
        if self.output.is_repaint_urgent() || anybody {
            self.output.idle_predictor_mut().note_activity(now);
        }
        self.output.idle_predictor_mut().allows_early_latch(now)
    }

    /// Whether the user interacts with a client, so that its response must not be latched too early.
    fn is_interactive(&self, now: Instant) -> bool {
        self.pacers().any(|pacer| pacer.is_interactive(now))
    }

    /// Whether a client draws for the refresh `index` or an earlier one, or is planned to.
    fn is_drawn_for(&self, index: RefreshIndex, now: Instant) -> bool {
        self.pacers().any(|pacer| {
            let drawing = pacer.drawing().filter(|_| pacer.is_drawing(now)).map(|drawing| drawing.target);
            let targets = drawing.into_iter().chain(pacer.planned().map(|planned| planned.target));
            targets.chain(pacer.unfinished(now)).any(|target| target <= index)
        })
    }

    /// Moves the just-in-time starts so that clients do not wait for each other.
    fn pack(&mut self, now: Instant) {
        let Some(target) = self.packed(now).map(|(planned, _)| planned.target).min() else { return };
        let ready_by = self.output.latch_at(target);
        let units = self.packed(now).filter(|(planned, _)| planned.target == target);
        let units = units.filter_map(|(_, pacer)| self.unit(pacer, now));
        let BatchStarts { background, focused } = pack(units, self.cores, ready_by);
        self.pacers.for_each_awake(|pacer| {
            let movable = pacer.planned().filter(|p| p.packed && p.target == target && p.start > now);
            if let Some(planned) = movable {
                let batch = if pacer.is_focused() { focused } else { background };
                pacer.set_start(planned.start.min(batch).max(now));
            }
        });
    }

    /// The packing input for a client. Background clients include the overhead of their batch.
    fn unit(&self, pacer: &Pacer, now: Instant) -> Option<PackingUnit> {
        let unit = pacer.unit(now, self.output.vsync())?;
        let cpu = if unit.focused { unit.cpu } else { self.stretch.apply(unit.cpu) };
        Some(PackingUnit { wall: unit.wall.max(cpu), cpu, ..unit })
    }

    fn packed(&self, now: Instant) -> impl Iterator<Item = (PlannedCallback, &Pacer)> {
        self.pacers().filter_map(move |pacer| {
            let planned = pacer.planned().filter(|planned| planned.packed && planned.start > now)?;
            Some((planned, pacer))
        })
    }
}

#[cfg(test)]
mod tests;
