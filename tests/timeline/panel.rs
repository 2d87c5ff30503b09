//! A panel with a variable refresh rate in virtual time, with clients that draw ahead, clients that draw on frame
//! callbacks, and other changes.
//!
//! The panel shows a frame as soon as it has it, but not before its shortest interval is over. After its longest
//! interval it repeats its picture by itself, and is busy with that for the shortest interval.

use std::collections::VecDeque;
use std::fmt::Write;

use upbeat_timing::conductor::{Conductor, ConductorAction, PacerId};
use upbeat_timing::id::{FrameId, SurfaceId};
use upbeat_timing::output::{ComposeCostKind, OutputMachine};
use upbeat_timing::pacer::PacerMissBudgets;
use upbeat_timing::pacing::{Pacing, PacingWish};
use upbeat_timing::record::RepaintReason;
use upbeat_timing::surface_targets::{FramePacingRequest, IssuedTarget, PacingContext, SurfaceTargets};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::virtualizer::VsyncGrid;
use upbeat_timing::vsync::VsyncModel;

use super::{COMPOSE, FrameCostSource, LEAD, START};

pub const SHORTEST: Span = Span::from_millihertz(144_000);
pub const LONGEST: Span = Span::from_millihertz(48_000);
/// From a commit to light, if nothing delays it.
pub const OUT: Span = Span::from_micros(900);
/// A bound update may be taken this much before its time.
const TOLERANCE: Span = Span::from_micros(500);

/// A presented frame of a client that draws ahead.
#[derive(Clone, Copy, Debug)]
pub struct PresentedBoundFrame {
    pub target: IssuedTarget,
    pub committed: Instant,
    pub light: Instant,
}

/// A presented frame of a client that draws on frame callbacks.
#[derive(Clone, Copy, Debug)]
pub struct PresentedCallbackFrame {
    pub called_back: Instant,
    pub cost: Span,
    pub light: Instant,
}

impl PresentedCallbackFrame {
    /// Delay of its light against the earliest possible time.
    pub fn waited(&self) -> Span {
        self.light - self.called_back - self.cost - OUT
    }

    pub fn committed(&self) -> Instant {
        self.called_back + self.cost
    }
}

/// A client that draws ahead.
struct AheadClient {
    ahead: SurfaceTargets,
    costs: FrameCostSource,
    targets: VecDeque<IssuedTarget>,
    drawing: Option<(IssuedTarget, Instant)>,
    waiting: VecDeque<(IssuedTarget, Instant)>,
    shown: Vec<PresentedBoundFrame>,
}

/// A client that draws on frame callbacks.
struct CallbackClient {
    costs: FrameCostSource,
    id: PacerId,
    /// Time of the next commit, time of its callback, and the frame's cost.
    draws: Option<(Instant, Instant, Span)>,
    applied: Option<(Instant, Span)>,
    /// Each answer is an empty commit that requests the next callback.
    is_empty: bool,
    called: Vec<Instant>,
    shown: Vec<PresentedCallbackFrame>,
}

/// A surface of a client that commits on its own clock, without callbacks.
struct ClockedSurface {
    id: SurfaceId,
    client: PacerId,
    period: Span,
    next: Instant,
    /// The commit that no latch took yet.
    applied: Option<Instant>,
    shown: Vec<PresentedCommit>,
}

/// A presented commit of a surface that commits on its own clock.
#[derive(Clone, Copy, Debug)]
pub struct PresentedCommit {
    pub committed: Instant,
    pub light: Instant,
}

#[derive(Default)]
struct PanelFrame {
    clocked: Vec<(usize, Instant)>,
    bound: Vec<(usize, IssuedTarget, Instant)>,
    called: Vec<(usize, Instant, Span)>,
    repeats: bool,
}

pub struct SimulatedPanel {
    conductor: Conductor,
    now: Instant,
    /// Time of the last refresh, and the times of all refreshes with a new frame.
    last: Instant,
    lights: Vec<Instant>,
    flight: Option<(Instant, FrameId, PanelFrame)>,
    drawers: Vec<AheadClient>,
    callers: Vec<CallbackClient>,
    clocked: Vec<ClockedSurface>,
    changes: VecDeque<(Instant, RepaintReason)>,
    story: String,
}

impl SimulatedPanel {
    pub fn new() -> Self {
        let mut output = OutputMachine::new(VsyncModel::new(SHORTEST, START), LEAD, START);
        output.vsync_mut().set_variable(Some((SHORTEST, LONGEST)));
        SimulatedPanel {
            conductor: Conductor::new(output, 2),
            now: START + Span::from_micros(1_234),
            last: START,
            lights: Vec::new(),
            flight: None,
            drawers: Vec::new(),
            callers: Vec::new(),
            clocked: Vec::new(),
            changes: VecDeque::new(),
            story: String::new(),
        }
    }

    /// Adds a client that draws `limit` frames ahead; returns its index.
    pub fn add_ahead_client(&mut self, limit: u32, costs: FrameCostSource) -> usize {
        let mut ahead = SurfaceTargets::default();
        ahead.set_wishes(FramePacingRequest { pacing: Some(Pacing::Ahead), limit, ..FramePacingRequest::default() });
        ahead.decide(PacingContext::default());
        (0..limit).for_each(|_| ahead.request());
        let (targets, waiting) = (VecDeque::new(), VecDeque::new());
        self.drawers.push(AheadClient { ahead, costs, targets, drawing: None, waiting, shown: Vec::new() });
        self.drawers.len() - 1
    }

    /// Adds a client that draws on frame callbacks; returns its index.
    pub fn add_callback_client(&mut self, costs: FrameCostSource, pacing: PacingWish) -> usize {
        let id = self.conductor.add_pacer(pacing, PacerMissBudgets::default());
        self.conductor.pacer_mut(id).unwrap().note_buffers(4);
        let draws = Some((self.now, self.now, Span::ZERO));
        self.callers.push(CallbackClient {
            costs,
            id,
            draws,
            applied: None,
            is_empty: false,
            called: Vec::new(),
            shown: Vec::new(),
        });
        self.callers.len() - 1
    }

    /// The user holds a button down on a callback client.
    pub fn hold(&mut self, caller: usize) {
        let id = self.callers[caller].id;
        self.conductor.pacer_mut(id).unwrap().set_held(true, self.now);
    }

    /// Adds a client with a surface that commits every `period`; and another, if any, as much later as `behind` says.
    /// Returns the index of the first.
    pub fn add_clocked_client(&mut self, period: Span, behind: Option<Span>) -> usize {
        let client = self.conductor.add_pacer(PacingWish::Auto, PacerMissBudgets::default());
        let first = self.clocked.len();
        for late in std::iter::once(Span::ZERO).chain(behind) {
            let id = SurfaceId(100 + self.clocked.len() as u32);
            let next = self.now + period + late;
            self.clocked.push(ClockedSurface { id, client, period, next, applied: None, shown: Vec::new() });
        }
        first
    }

    /// A surface on its own clock commits nothing from now on.
    pub fn stop_clocked(&mut self, surface: usize) {
        self.clocked[surface].next = Instant::MAX;
    }

    /// The presented commits of a surface that commits on its own clock.
    pub fn clocked(&self, surface: usize) -> &[PresentedCommit] {
        &self.clocked[surface].shown
    }

    /// From now on, a callback client answers each callback with an empty commit that requests the next.
    pub fn commit_nothing(&mut self, caller: usize) {
        self.callers[caller].is_empty = true;
    }

    /// Adds a content change every `apart`, for `until` from now.
    pub fn changes(&mut self, apart: Span, until: Span) {
        self.needs(RepaintReason::Content, apart, until);
    }

    /// Adds a change that needs a frame for the reason `need`, every `apart`, for `until` from now.
    pub fn needs(&mut self, need: RepaintReason, apart: Span, until: Span) {
        let mut at = self.now;
        while at < self.now + until {
            at += apart;
            self.changes.push_back((at, need));
        }
    }

    pub fn bound(&self, drawer: usize) -> &[PresentedBoundFrame] {
        &self.drawers[drawer].shown
    }

    pub fn called(&self, caller: usize) -> &[PresentedCallbackFrame] {
        &self.callers[caller].shown
    }

    /// Times at which a callback client was called back.
    pub fn callbacks(&self, caller: usize) -> &[Instant] {
        &self.callers[caller].called
    }

    /// Times at which the panel showed a new frame.
    pub fn lights(&self) -> &[Instant] {
        &self.lights
    }

    /// The events since the last call.
    pub fn story(&mut self) -> String {
        std::mem::take(&mut self.story)
    }

    fn tell(&mut self, what: &str) {
        writeln!(self.story, "{:.3}  {what}", (self.now - START).as_millis_f64()).unwrap();
    }

    pub fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.handle_light();
            self.commit();
            while let Some((_, need)) = self.changes.front().copied().filter(|(at, _)| *at <= self.now) {
                self.changes.pop_front();
                self.conductor.output_mut().schedule_repaint(need);
            }
            while let Some(action) = self.conductor.poll_action(self.now) {
                match action {
                    ConductorAction::Latch { target, scheduled } => self.latch((target.id, target.present), scheduled),
                    ConductorAction::Callback { pacer, .. } => self.call_back(pacer),
                }
            }
            (0..self.drawers.len()).for_each(|drawer| self.pace_ahead(drawer));
            let wake = self.conductor.next_wake(self.now);
            let drawn = self.drawers.iter().filter_map(|drawer| drawer.drawing.map(|(_, done)| done));
            let committed = self.callers.iter().filter_map(|caller| caller.draws.map(|(at, ..)| at));
            let clocked = self.clocked.iter().map(|surface| surface.next);
            let light = self.flight.as_ref().map(|(light, ..)| *light);
            let others =
                drawn.chain(committed).chain(clocked).chain(light).chain(self.changes.front().map(|(at, _)| *at));
            self.now = others.chain(wake).fold(end, Instant::min).max(self.now);
        }
    }

    /// Does the work of `output/clients/frame_targets`.
    fn pace_ahead(&mut self, drawer: usize) {
        let machine = self.conductor.output();
        let next = machine.next_index(self.now);
        let present = machine.vsync().present(next);
        let coming = VsyncGrid { refresh: next, present, interval: machine.vsync().interval() };
        let out = machine.compose_typical() + machine.submit_lead();
        let drawer = &mut self.drawers[drawer];
        drawer.ahead.set_range(machine.vsync().range());
        let chain = |ahead: &mut SurfaceTargets| {
            let soonest = (self.now + ahead.cost() + out).max(present);
            ahead.variable_grid(coming, soonest)
        };
        let (_, first) = chain(&mut drawer.ahead);
        if let Some(revoked) = drawer.ahead.revoke_passed(first) {
            drawer.targets.retain(|target| target.id < revoked);
        }
        while drawer.ahead.requests() > 0 {
            let (grid, next) = chain(&mut drawer.ahead);
            let Some(issued) = drawer.ahead.poll(grid, next, self.now) else { break };
            drawer.targets.push_back(issued);
        }
        if drawer.drawing.is_none()
            && let Some(target) = drawer.targets.pop_front()
        {
            drawer.drawing = Some((target, self.now + (drawer.costs.0)()));
            drawer.ahead.request();
        }
    }

    fn commit(&mut self) {
        let now = self.now;
        for index in 0..self.drawers.len() {
            let drawer = &mut self.drawers[index];
            if let Some((target, _)) = drawer.drawing.take_if(|(_, done)| *done <= now) {
                drawer.ahead.bind(target.id, now);
                drawer.waiting.push_back((target, now));
                self.rearm(self.conductor.output().latched());
            }
        }
        for index in 0..self.callers.len() {
            let caller = &mut self.callers[index];
            let Some((_, called_back, cost)) = caller.draws.take_if(|(at, ..)| *at <= now) else { continue };
            let id = caller.id;
            if caller.is_empty {
                self.conductor.pacer_mut(id).unwrap().callback_due(now);
                continue;
            }
            caller.applied = Some((called_back, cost));
            self.conductor.committed(id, now, None, false);
            self.conductor.note_content(id, SurfaceId(index as u32), now);
            self.conductor.output_mut().schedule_repaint(RepaintReason::Content);
        }
        for surface in self.clocked.iter_mut().filter(|surface| surface.next <= now) {
            surface.next += surface.period;
            surface.applied = Some(now);
            self.conductor.committed(surface.client, now, None, false);
            self.conductor.note_content(surface.client, surface.id, now);
            self.conductor.output_mut().schedule_repaint(RepaintReason::Content);
        }
    }

    fn call_back(&mut self, pacer: PacerId) {
        self.conductor.called_back(pacer, self.now, None);
        let caller = self.callers.iter_mut().find(|caller| caller.id == pacer).unwrap();
        let cost = (caller.costs.0)();
        caller.called.push(self.now);
        caller.draws = Some((self.now + cost, self.now, cost));
    }

    /// Schedules latches after `index` for the frames that wait.
    fn rearm(&mut self, index: RefreshIndex) {
        let fronts: Vec<Instant> =
            self.drawers.iter().filter_map(|drawer| drawer.waiting.front().map(|(target, _)| target.present)).collect();
        for present in fronts {
            self.conductor.output_mut().schedule_repaint_from(index.next(), present);
        }
    }

    fn latch(&mut self, (index, present): (RefreshIndex, Instant), scheduled: Instant) {
        self.conductor.latched(index);
        let mut taken = PanelFrame::default();
        for (place, drawer) in self.drawers.iter_mut().enumerate() {
            if let Some((target, committed)) = take_due(&mut drawer.waiting, present) {
                drawer.ahead.latched(target.id);
                taken.bound.push((place, target, committed));
            }
        }
        for (place, caller) in self.callers.iter_mut().enumerate() {
            if let Some((called_back, cost)) = caller.applied.take() {
                taken.called.push((place, called_back, cost));
                self.conductor.pacer_mut(caller.id).unwrap().callback_due(self.now);
            }
        }
        let clocked = self.clocked.iter_mut().enumerate();
        taken.clocked = clocked.filter_map(|(place, surface)| Some((place, surface.applied.take()?))).collect();
        taken.repeats = taken.bound.is_empty() && taken.called.is_empty() && taken.clocked.is_empty();
        self.now += COMPOSE;
        self.rearm(index);
        let machine = self.conductor.output_mut();
        let frame = machine.choose(index, ());
        machine.submitted(frame, scheduled, self.now, ComposeCostKind::Usual);
        let light = self.shown_at(self.now + LEAD);
        self.flight = Some((light, frame, taken));
    }

    /// Time at which the panel shows a frame that is ready at `ready`.
    fn shown_at(&mut self, ready: Instant) -> Instant {
        while ready > self.last + LONGEST {
            self.last += LONGEST;
        }
        ready.max(self.last + SHORTEST)
    }

    fn handle_light(&mut self) {
        let Some((light, frame, taken)) = self.flight.take_if(|(light, ..)| *light <= self.now) else { return };
        self.conductor.output_mut().presented(frame, light, None, self.now);
        let gap = light - self.lights.last().copied().unwrap_or(light);
        (self.last, self.now) = (light, self.now.max(light));
        self.lights.push(light);
        let mut what = format!("light, {gap} after the last:");
        for (place, target, committed) in taken.bound {
            write!(what, " ahead {} ({} of it)", target.id.0, target.interval).unwrap();
            let drawer = &mut self.drawers[place];
            drawer.ahead.ended(target.id);
            drawer.shown.push(PresentedBoundFrame { target, committed, light });
        }
        for (place, called_back, cost) in taken.called {
            what.push_str(" called back");
            self.callers[place].shown.push(PresentedCallbackFrame { called_back, cost, light });
        }
        for (place, committed) in taken.clocked {
            write!(what, " surface {place}").unwrap();
            self.clocked[place].shown.push(PresentedCommit { committed, light });
        }
        if taken.repeats {
            what.push_str(" the same again, or what else changed");
        }
        self.tell(&what);
    }
}

fn take_due(waiting: &mut VecDeque<(IssuedTarget, Instant)>, present: Instant) -> Option<(IssuedTarget, Instant)> {
    let is_due = waiting.front().is_some_and(|(target, _)| target.present <= present + TOLERANCE);
    is_due.then(|| waiting.pop_front()).flatten()
}
